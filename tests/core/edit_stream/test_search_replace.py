"""SEARCH/REPLACE blocks: markers, names, what belongs together."""

from __future__ import annotations

import pytest

from tests.support.edit_streams import run
from tests.support.tables import each
from tui.core.document.hunk import Kind
from tui.core.edit_stream import Format, parser_for
from tui.core.edit_stream.events import (
    Cut,
    Divider,
    End,
    Ev,
    Failure,
    FileEnd,
    FileOp,
    Line,
    Partial,
    Prose,
    SectionEnd,
    SectionStart,
)

BLOCK = "<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n"


def events(text: str, fmt: Format = "search_replace", *, cut: bool = False) -> list[Ev]:
    return run(parser_for(fmt, "text"), [text], cut=cut)


def names(text: str, fmt: Format = "search_replace") -> list[tuple[str, tuple[str, ...]]]:
    found = [event for event in events(text, fmt) if isinstance(event, FileOp)]
    assert all(event.notation == "search_replace" for event in found)
    return [(event.path, event.others) for event in found]


def name(text: str, fmt: Format = "auto") -> str:
    [(path, _)] = names(text, fmt)
    return path


def prose(text: str, fmt: Format = "auto") -> str:
    return "".join(event.text for event in events(text, fmt) if isinstance(event, Prose))


def lines(text: str) -> list[tuple[str, str]]:
    return [(event.op, event.text) for event in events(text) if isinstance(event, Line)]


@pytest.mark.case("C01")
@each(
    "above, path",
    [
        ("a/b.py\n```python\n", "a/b.py"),
        ("```python\na/b.py\n", "a/b.py"),
        ("### a/b.py\n```\n", "a/b.py"),
        ("## `a/b.py`\n\n```\n", "a/b.py"),
        ("**a/b.py**\n```\n", "a/b.py"),
        ("**a/b.py:**\n```\n", "a/b.py"),
        ("**`a/b.py`**:\n\n```\n", "a/b.py"),
        ("`a/b.py`\n````python\n", "a/b.py"),
        ("a/b.py:\n~~~\n", "a/b.py"),
        ("File: a/b.py\n```\n", "a/b.py"),
        ("**File:** `a/b.py`\n```\n", "a/b.py"),
        ("1. a/b.py\n```\n", "a/b.py"),
        ("- `a/b.py` (new)\n```\n", "a/b.py"),
        ("# a/b.py\n", "a/b.py"),
        ("```python\n# a/b.py\n", "a/b.py"),
        ("<!-- a/b.html -->\n```html\n", "a/b.html"),
        ("Makefile\n```make\n", "Makefile"),
        (".gitignore\n```\n", ".gitignore"),
        ("my\\_file.py\n```\n", "my_file.py"),
        ("```a/b.py\n", "a/b.py"),
        ("```python:a/b.py\n", "a/b.py"),
        ('```python title="a/b.py"\n', "a/b.py"),
        ("```python path=a/b.py\n", "a/b.py"),
        ("```python {file='my dir/b.py'}\n", "my dir/b.py"),
        (" ```python\na/b.py\n```\n```python\n", "a/b.py"),
        ("a/b.py\nIt is this one:\n```\n", "a/b.py"),
        ("Now change `a/b.py`:\n\n```python\n", "a/b.py"),
        ("`dir name/b.py`\n```\n", "dir name/b.py"),
        ("été/ü.py\n```\n", "été/ü.py"),
        ("notes.md\n```markdown\n", "notes.md"),
        ("app/(group)/page.tsx\n```\n", "app/(group)/page.tsx"),
        ("app/[id]/(.)photo/page.tsx\n```\n", "app/[id]/(.)photo/page.tsx"),
        ("routes/posts.$id.tsx\n```\n", "routes/posts.$id.tsx"),
        ("+page.svelte\n```\n", "+page.svelte"),
        ("@types/x.d.ts\n```\n", "@types/x.d.ts"),
    ],
)
def test_the_name_stands_near(above, path):
    text = above + BLOCK
    assert names(text)[0][0] == path
    assert name(text) == path
    assert name(text, "marked") == path


@pytest.mark.case("C01", "C02")
@each(
    "above, others",
    [
        ("", ()),
        ("```text\n", ()),
        ("```python\n", ()),
        ("Change:\n\n```python\n", ("Change",)),
        ("Here it is.\n```js\n", ("Here it is.",)),
        ("See `a.py` and `b.py`:\n```\n", ("a.py", "b.py")),
        ("dir name/b.py\n```\n", ("dir name/b.py",)),
        ("### Node.js\n```js\n", ("Node.js",)),
    ],
)
def test_without_a_sure_name_the_candidates_are_told(above, others):
    assert names(above + BLOCK, "auto") == [("", others)]


@pytest.mark.case("C02")
@each(
    "between",
    ["", "\n", "```\n\n```python\n", "```\n\na.py\n```python\n", "```\n**a.py**\n\n```\n"],
)
def test_blocks_that_follow_are_sections_of_one_file(between):
    text = f"a.py\n```python\n{BLOCK}{between}{BLOCK}```\nDone.\n"
    for fmt in ("search_replace", "marked", "auto"):
        got = events(text, fmt)
        assert got == [
            Prose("a.py\n"),
            FileOp(Kind.EDIT, "a.py", "search_replace"),
            *block(1),
            *block(2),
            FileEnd(True),
            End(True),
            Prose("Done.\n"),
        ]
        assert run(parser_for(fmt, "text"), list(text)) == got


def block(number: int) -> list[Ev]:
    return [
        SectionStart(number, number == 1),
        Line("-", "old"),
        Divider("======="),
        Line("+", "new"),
        SectionEnd(True),
    ]


@pytest.mark.case("C11")
@each(
    "search, divider, replace",
    [
        ("<<<<< SEARCH", "=====", ">>>>> REPLACE"),
        ("<<<<<<<<< SEARCH", "=========", ">>>>>>>>> REPLACE"),
        ("<<<<<<< SEARCH>", "=======", ">>>>>>> REPLACE"),
        ("<<<<<<<SEARCH", "=======", ">>>>>>>REPLACE"),
        ("<<<<<<< SEARCH  ", "=======  ", ">>>>>>> REPLACE  "),
        ("------- SEARCH", "=======", "+++++++ REPLACE"),
        ("------- SEARCH", "=======", ">>>>>>> REPLACE"),
    ],
)
def test_markers(search, divider, replace):
    text = f"a.py\n{search}\nold\n{divider}\nnew\n{replace}\n"
    assert lines(text) == [("-", "old"), ("+", "new")]
    assert End(True) in events(text)
    crlf = text.replace("\n", "\r\n")
    assert lines(crlf) == [("-", "old"), ("+", "new")]
    assert Line("+", "new", "\r\n") in events(crlf)


@pytest.mark.case("C11")
@each("marks", ["<<<<", "<<<<<<<<<<", "<", "---", "----------"])
def test_markers_of_another_length_are_prose(marks):
    text = f"{marks} SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n"
    for fmt in ("search_replace", "marked", "auto"):
        assert events(text, fmt) == [Prose(text)]


def test_lines_that_lack_the_markers_indent_are_taken_as_they_are():
    text = "a.py\n  <<<<<<< SEARCH\nold\n  x\n  =======\nnew\n  >>>>>>> REPLACE\n"
    assert lines(text)[:2] == [("-", "old"), ("-", "  x")]


@pytest.mark.case("C16")
def test_fences_inside_a_block_are_content():
    block = BLOCK.replace("new", "```sh\nls\n```")
    text = f"r.md\n````markdown\n{block}````\n"
    assert lines(text) == [("-", "old"), ("+", "```sh"), ("+", "ls"), ("+", "```")]
    assert prose(text) == "r.md\n"


@pytest.mark.case("C17")
def test_a_shell_fence_is_an_edit_only_with_a_block_in_it():
    assert name(f"```sh\nrun_me.sh\n{BLOCK}```\n") == "run_me.sh"
    for text in (
        "```bash\npip install x\n```\n",
        "run.sh:\n\nRun `a.py`:\n```bash\npython a.py\n```\n",
    ):
        assert events(text, "auto") == [Prose(text)]


@each(
    "text, line, words",
    [
        ("a.py\n<<<<<<< SEARCH\nold\n", 3, "expected '======='"),
        ("a.py\n<<<<<<< SEARCH\nold\n=======\nnew\n", 5, "expected '>>>>>>> REPLACE'"),
        ("a.py\n<<<<<<< SEARCH\nold\n>>>>>>> REPLACE\n", 4, "expected '=======' before"),
        (f"a.py\n<<<<<<< SEARCH\nold\n{BLOCK}", 4, "before another SEARCH"),
    ],
)
def test_a_block_that_is_not_whole_is_an_error(text, line, words):
    found = [event for event in events(text) if isinstance(event, Failure)]
    assert [(event.line, words in event.message) for event in found] == [(line, True)]
    assert FileEnd(False) in events(text)


def test_behind_a_broken_block_another_one_is_read():
    got = events(f"a.py\n<<<<<<< SEARCH\nlost\n{BLOCK}")
    assert got[-3:] == [SectionEnd(True), FileEnd(True), End(True)]
    assert [event.path for event in got if isinstance(event, FileOp)] == ["a.py", "a.py"]


@pytest.mark.case("A02", "A13")
@each("keep", range(len(BLOCK)))
def test_cut_inside_a_block_nothing_of_it_is_closed(keep):
    text = "a.py\n" + BLOCK
    got = events(text[: 5 + keep], cut=True)
    begun = keep >= len("<<<<<<< SEARCH\n")
    whole = text[: 5 + keep].endswith("REPLACE")
    assert (Cut() in got) is (begun and not whole)
    assert (SectionEnd(True) in got) is whole
    assert (FileEnd(False) in got) is (begun and not whole)


@pytest.mark.case("A16")
@each(
    "pending, shown",
    [
        ("new te", "new te"),
        ("  >>> x", "  >>> x"),
        (">", None),
        (">>>", None),
        (">>>>>>> REP", None),
        ("===", None),
        ("+++++++ REP", None),
        ("+", None),
        ("+>>>>>>> REP", None),
        ("<<<<", None),
        ("- item", "- item"),
        ("", None),
    ],
)
def test_an_unfinished_line_is_painted_unless_it_may_be_a_marker(pending, shown):
    parser = parser_for("search_replace", "text")
    parser.feed("a.py\n<<<<<<< SEARCH\nold\n=======\n")
    parser.feed(pending)
    assert parser.tail() == ([] if shown is None else [Partial(shown)])
    assert parser.tail() == ([] if shown is None else [Partial(shown)])


@pytest.mark.case("A07", "A08")
@each(
    "text, words",
    [
        ("", "no SEARCH block: the input is empty"),
        ("Sure, here it is", "no SEARCH block: expected a file name and '<<<<<<< SEARCH', found"),
        ('{"a": 1}', "the argument's form is wrong"),
    ],
)
def test_on_a_tool_channel_a_block_must_be_there(text, words):
    [failure] = [
        e for e in run(parser_for("search_replace", "custom"), [text]) if not isinstance(e, Prose)
    ]
    assert isinstance(failure, Failure)
    assert words in failure.message
    assert run(parser_for("search_replace", "text"), [text]) == ([Prose(text)] if text else [])
