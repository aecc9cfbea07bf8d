"""What prose detection must not take for an edit, and several edits in one message."""

from __future__ import annotations

import pytest

from tests.support.edit_streams import joined, pieces, read, run
from tests.support.tables import each
from tui.core.document.hunk import Kind
from tui.core.edit_stream import Format, parser_for
from tui.core.edit_stream.events import (
    Divider,
    End,
    Ev,
    Failure,
    FileEnd,
    FileOp,
    Line,
    Prose,
    SectionEnd,
    SectionStart,
)
from tui.core.edit_stream.naming import NAME_LIMIT, is_path, lone_path, name_of, names_in, no_file

GUESSED: list[Format] = ["auto", "marked"]
ANSWERS = {
    "shell": (
        "Run it:\n\n```bash\ncat > a.py <<'EOF'\nprint(1)\nEOF\npython a.py\n```\n\nThat is it.\n"
    ),
    "session": (
        "```console\n$ git diff\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n$ git add x.py\n```\n"
    ),
    "rules": (
        "# Title\n\n---\n\nText\n---\n\n- - -\n***\n* * *\n___\n\nMore\n=======\n\nTail\n-------\n"
    ),
    "conflict": (
        "Your file has conflict markers:\n\n```python\n<<<<<<< HEAD\nx = 1\n=======\n"
        "x = 2\n>>>>>>> feature\n```\n\n"
        "Keep one side and delete `<<<<<<<`, `=======` and `>>>>>>>`.\n"
    ),
    "bare conflict": "<<<<<<< HEAD\nmine\n||||||| base\nold\n=======\ntheirs\n>>>>>>> other\n",
    "quoted diff": (
        "> --- a/x.py\n> +++ b/x.py\n> @@ -1 +1 @@\n> -a\n> +b\n\n"
        "This part of your diff is wrong.\n"
    ),
    "diff in markdown": (
        "Write it so:\n\n````markdown\nUse this:\n\n```diff\n--- a/x\n+++ b/x\n"
        "@@ -1 +1 @@\n-a\n+b\n```\n````\n\nDone.\n"
    ),
    "block in markdown": (
        "The format is:\n\n````markdown\npath/to/file.py\n```python\n<<<<<<< SEARCH\nold\n"
        "=======\nnew\n>>>>>>> REPLACE\n```\n````\n"
    ),
    "inline": "Use `<<<<<<< SEARCH`, `--- a/x` and `*** Begin Patch` as markers. ``` alone.\n",
    "diff without headers": "```diff\n-    return a\n+    return b\n```\n\nThat is all.\n",
    "hunk without headers": "```diff\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n```\n",
    "snippets": (
        "Look at `src/app.py`:\n\n```python\ndef f():\n    return 1\n```\n\n"
        "It calls `g` in `b.py`, see:\n\n```python\nf()\n```\n1. Start it:\n   ```sh\n"
        "   make\n   ```\n2. Stop it.\n"
    ),
    "headings": (
        "### Node.js\n\n```js\nconsole.log(1)\n```\n\n### `asyncio.gather`\n\n```python\n"
        "await x\n```\n**Note:**\n```\nnothing\n```\n"
    ),
    "table": (
        "| a | b |\n|---|---|\n| --- | +++ |\n\n--- and +++ stand for old and new.\n--- x\n+++ y\n"
    ),
    "front matter": "---\ntitle: x\n---\n\n+++\ntitle = 'x'\n+++\n",
    "commit": "commit 1a2b3c\nAuthor: A <a@b.c>\n\n    Fix it\n\n a.py | 2 +-\n 1 file changed\n",
    "email": "On Monday A wrote:\n> diff --git a/x b/x\n> index 1..2\n\n-- \nRegards\n",
    "list": "- item\n- `a.py`: new\n+ plus\n* star\n  - nested\n\n-- dash\n--- dashes\n",
    "tilde": "~5 minutes, ~~struck~~, ~~~not a fence\nx\n~~~\n",
    "unclosed fence": "Here:\n\n```python\nx = 1\n",
    "latex": (
        "$$\n\\begin{aligned}\na &= b\n\\end{aligned}\n$$\n@@ not a hunk\n*** bold *** text\n"
    ),
    "index": "Index: how to find it\n=====================\n\nIt is here.\n",
    "diff command": "diff -u a b shows it.\ndiff --git is git's header.\nAnd: diff -r old new\n",
    "search": (
        "SEARCH\n=======\nREPLACE\n<<< SEARCH\n>>> REPLACE\n<<<<<<< SEARCH is how it begins.\n"
    ),
    "no newline": "Done",
    "crlf": "One\r\n\r\n```python\r\nx = 1\r\n```\r\nTwo\r\n",
    "unicode": "Grüße \U0001f600\u2028next\x0bpage\x0c\n```\n\u00a0\n```\n",
    "json": (
        "```json\n"
        '{"patch": "*** Begin Patch\\n*** Update File: a.py\\n@@\\n-a\\n+b\\n*** End Patch"}\n'
        "```\n"
    ),
    "indented code": (
        "So:\n\n    --- a/x.py\n    +++ b/x.py\n    @@ -1 +1 @@\n    -a\n    +b\n\nIs a diff.\n"
    ),
    "stars": "*** Begin\n*** Begin Patches\n *** Update File: a.py\n*** End Patch\n",
    "heredoc": "apply_patch <<'EOF'\nnothing\nEOF\n<<EOF\n",
    "html": "<details>\n<summary>a.py</summary>\n\n```python\nx\n```\n</details>\n<<<<<<<\n",
    "long line": "word " * 300 + "\n" + "--- " + "x" * 700 + "\n+++ y\n",
}


def prose(events: list[Ev]) -> str:
    return "".join(event.text for event in events if isinstance(event, Prose))


@pytest.mark.case("A07", "C10", "C17")
@each("fmt", GUESSED)
@each("name", ANSWERS)
def test_an_answer_without_an_edit_is_shown_as_it_came(name, fmt):
    text = ANSWERS[name]
    for cut in (False, True):
        for size in (1, 4, 33, len(text)):
            assert run(parser_for(fmt, "text"), pieces(text, size), cut=cut) == [Prose(text)]


@pytest.mark.case("A07")
@each("fmt", GUESSED)
def test_all_answers_in_one_message(fmt):
    """Nothing of one answer changes how the next is read."""
    left_open = ("unclosed fence", "no newline", "tilde", "long line")
    text = "\n".join(text for name, text in ANSWERS.items() if name not in left_open)
    assert prose(run(parser_for(fmt, "text"), pieces(text, 5))) == text


PATCH = "*** Begin Patch\n*** Update File: p.py\n@@\n-a\n+b\n*** End Patch\n"
BLOCK = "s.py\n```python\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n"
DIFF = "```diff\n--- a/u.py\n+++ b/u.py\n@@ -1 +1 @@\n-a\n+b\n```\n"
FILE = "**w.py**\n\n```python\nb\n```\n"
EDITS = {"apply_patch": PATCH, "search_replace": BLOCK, "unified_diff": DIFF, "whole_file": FILE}


@pytest.mark.case("A01", "A09")
@each("first", EDITS)
@each("second", EDITS)
@each("between", ["", "\n", "And then:\n\n", "---\n\n```sh\nls\n```\n"])
def test_several_formats_in_one_message(first, second, between):
    """Each is read where it begins; the prose between them is shown."""
    text = f"Sure.\n\n{EDITS[first]}{between}{EDITS[second]}\nDone.\n"
    whole = run(parser_for("auto", "text"), [text])
    assert run(parser_for("auto", "text"), list(text)) == whole
    notations = [event.notation for event in whole if isinstance(event, FileOp)]
    together = first == second == "search_replace" and not between.strip()
    assert notations == ([first] if together else [first, second])
    added = [event.text for event in whole if isinstance(event, Line) and event.op == "+"]
    assert added == ["b", "b"]
    assert not [event for event in whole if isinstance(event, Failure)]
    want = text
    for edit in (PATCH, DIFF):
        want = want.replace(edit, "")
    want = want.replace(BLOCK, "s.py\n").replace(FILE, "**w.py**\n\n")
    assert prose(whole) == (want.replace(f"s.py\n{between}s.py\n", "s.py\n") if together else want)


@pytest.mark.case("A07")
@each("fmt", [fmt for fmt in EDITS if fmt != "apply_patch"])
def test_a_fixed_format_reads_no_other(fmt):
    """In prose too: only what the model was asked for is an edit."""
    for other, text in EDITS.items():
        ops = [event for event in run(parser_for(fmt, "text"), [text]) if isinstance(event, FileOp)]
        if other == fmt:
            assert [op.notation for op in ops] == [fmt]
        elif fmt != "whole_file":
            assert not ops
            assert prose(run(parser_for(fmt, "text"), [text])) == text


@pytest.mark.case("A09", "A11")
@each("edit", [PATCH, BLOCK, DIFF, FILE])
def test_an_edit_in_a_list_item(edit):
    inner = "".join("   " + line if line.strip() else line for line in edit.splitlines(True))
    whole = run(parser_for("auto", "text"), [f"1. First:\n\n{inner}2. Then\n"])
    assert FileEnd(True) in whole
    added = [event.text for event in whole if isinstance(event, Line) and event.op == "+"]
    assert added == ["b"]
    assert prose(whole).endswith("2. Then\n")


@pytest.mark.case("A09")
def test_behind_an_edit_in_a_fence_the_fence_goes_on():
    """Text behind an edit is prose, up to the fence that was dropped with its beginning."""
    note = "```diff\n--- a/u.py\n+++ b/u.py\n@@ -1 +1 @@\n-a\n+b\nand more\n```\nDone.\n"
    assert prose(run(parser_for("auto", "text"), [note])) == "and more\nDone.\n"


def test_a_name_is_as_long_as_it_may_be_and_no_longer() -> None:
    for spare, named in ((0, True), (1, False)):
        size = NAME_LIMIT + spare
        file, folder = "a" * (size - 3) + ".py", "a/" + "b" * (size - 2)
        assert is_path(file) is named
        assert bool(name_of(file)) is named
        assert bool(lone_path(folder, no_file)) is named
        assert bool(lone_path("a" * size, lambda _: True)) is named
        assert bool(names_in(f"In `{folder}`", no_file)) is named
        line = "In `a.py`".ljust(4 * NAME_LIMIT + spare, ".")
        assert bool(names_in(line, no_file)) is named


FENCELESS = "*** Begin Patch\n*** Update File: f.py\n@@\n-a\n+b\n*** End Patch\n"


def prose_of(text: str) -> str:
    return "".join(event.text for event in read(text, "text") if isinstance(event, Prose))


def edits(text: str) -> list:
    return [event for event in read(text, "text") if not isinstance(event, Prose)]


@each(
    "text",
    [
        "",
        "Hello",
        "Hello,\nworld.\n",
        "```python\nprint(1)\n```\n\nand `*** Begin Patch` in a line\n",
        "apply_patch is a tool\n<< that\n*** Begin Patches\n",
        "* item\n** item\n*** Begin\n",
        "text\n*** End Patch\n",
        "~~~\nx\n~~~\n   \n\n",
        "```",
        "> *** Begin Patch\n",
    ],
)
def test_a07_prose_only(text):
    assert read(text, "text") == ([Prose(text)] if text else [])
    assert joined(read(text, "text", cut=True)) == ([Prose(text)] if text else [])


@each(
    "before, after",
    [
        ("", ""),
        ("```\n", "```\n"),
        ("```diff\n", "```\n"),
        ("~~~~ patch\n", "~~~~\n"),
        ("````\n", "````\n"),
        ("```\n\n", "\n```\n"),
        ("<<'EOF'\n", "EOF\n"),
        ("apply_patch <<'EOF'\n", "EOF\n"),
        ("$ apply_patch << PATCH\n", "PATCH\n"),
        ("bash -lc \"apply_patch <<'EOF'\n", 'EOF"\n'),
        ("```bash\napply_patch <<'EOF'\n", "EOF\n```\n"),
    ],
)
def test_a09_wrappers_are_dropped(before, after):
    assert read(f"Sure:\n{before}{FENCELESS}{after}", "text") == [
        Prose("Sure:\n"),
        *edits(FENCELESS),
    ]
    assert read(before + FENCELESS + after.rstrip("\n"), "text") == edits(FENCELESS)
    assert prose_of(f"{before}{FENCELESS}{after}\nDone.\n") == "\nDone.\n"


def test_missing_end_inside_a_fence():
    text = "```\n" + FENCELESS.replace("*** End Patch\n", "```\n\nDone.\n")
    assert edits(text)[-1] == End(False)
    assert prose_of(text) == "Done.\n"


def test_a_fence_line_without_prefix_is_an_error():
    text = "```\n" + FENCELESS.replace("+b\n", "```\n+b\n") + "```\n"
    assert Failure(6, "'```' has no ' ', '+' or '-' prefix") in edits(text)
    context = "```\n" + FENCELESS.replace("+b\n", " ```\n+b\n") + "```\n"
    assert Line("=", "```") in edits(context)
    assert edits(context)[-1] == End(True)


def events(text: str, fmt: Format = "whole_file", *, cut: bool = False) -> list[Ev]:
    whole = run(parser_for(fmt, "text"), [text], cut=cut)
    assert run(parser_for(fmt, "text"), list(text), cut=cut) == whole
    return whole


def files(text: str, fmt: Format = "whole_file") -> dict[str, str]:
    found: dict[str, str] = {}
    path = ""
    for event in events(text, fmt):
        if isinstance(event, FileOp):
            assert (event.kind, event.notation) == (Kind.ADD, "whole_file")
            path = event.path
            found[path] = ""
        elif isinstance(event, Line):
            found[path] += event.text + event.ending
    return found


def file_prose(text: str, fmt: Format = "whole_file") -> str:
    return "".join(event.text for event in events(text, fmt) if isinstance(event, Prose))


@pytest.mark.case("E01")
@each(
    "above",
    [
        "a/b.py\n```python\n",
        "### a/b.py\n```\n",
        "**a/b.py**\n\n```python\n",
        "`a/b.py`:\n```python\n",
        "File: a/b.py\n~~~~\n",
        "Here is the new `a/b.py`:\n\n```python\n",
        "I changed **a/b.py** to be shorter. The whole file:\n\n```python\n",
        '```python title="a/b.py"\n',
        "```python:a/b.py\n",
        "```a/b.py\n",
    ],
)
def test_names(above):
    closer = "~~~~\n" if "~" in above else "```\n"
    for fmt in ("whole_file", "auto"):
        if fmt == "auto" and "I changed" in above:
            continue
        assert files(f"Text.\n\n{above}x = 1\n\ny\n{closer}Done.\n", fmt) == {
            "a/b.py": "x = 1\n\ny\n"
        }
    assert file_prose(f"{above}x\n{closer}Done.\n", "marked") == f"{above}x\n{closer}Done.\n"


@pytest.mark.case("E01", "C17")
@each(
    "text",
    [
        "Run `a.py`:\n```bash\npython a.py\n```\n",
        "The new `a.py` prints:\n\n```console\n$ python a.py\n```\n",
        "a.py\n```bash\npython a.py\n```\n",
        "a.py\n```diff\n-a\n+b\n```\n",
        "a.py\n```output\nx\n```\n",
        "Here is the full `config.toml`:\n```json\n{}\n```\n",
    ],
)
def test_what_runs_or_shows_a_file_is_not_the_file(text):
    for fmt in ("whole_file", "auto", "marked"):
        assert events(text, fmt) == [Prose(text)]


@pytest.mark.case("E01")
@each(
    "text",
    [
        "The bug is in `a.py`:\n\n```python\nx = 1\n```\n",
        "`a.py` has this line:\n```python\nx = 1\n```\n",
        "In `a.py` and the new `b.py`:\n```python\nx\n```\n",
        "### Node.js\n```js\nx\n```\n",
        "### `asyncio.run`\n```python\nx\n```\n",
        "e.g.\n```\nx\n```\n",
        "Version 1.5\n```\nx\n```\n",
        "1.5\n```\nx\n```\n",
        "certifi.py\n~~~~~~~~~~\n\nThis module finds certificates.\n",
        "and/or\n```\nx\n```\n",
        "```python\na.py\n```\n",
        "a.py\n\nSome text.\n\n```python\nx\n```\n",
        "https://a.b/c.py\n```\nx\n```\n",
    ],
)
def test_a_quotation_is_no_file_when_the_format_is_guessed(text):
    assert events(text, "auto") == [Prose(text)]


@pytest.mark.case("E02")
@each(
    "outer, body",
    [
        ("````markdown", "# T\n```\nls\n```\n"),
        ("```markdown", "# T\n```sh\nls\n```\nend\n"),
        ("```markdown", "1.\n   ```sh\n   ls\n   ```\n2.\n"),
        ("~~~markdown", "```sh\nls\n```\n```\n"),
        ("```python", '"""\n~~~\n"""\n``x``\n'),
        ("```md", "````\n```sh\nls\n```\n````\n".replace("````\n", "````md\n", 1)),
    ],
)
def test_nested_fences(outer, body):
    closer = outer[: len(outer) - len(outer.lstrip("`~"))]
    assert files(f"r.md\n{outer}\n{body}{closer}\nDone.\n") == {"r.md": body}
    assert file_prose(f"r.md\n{outer}\n{body}{closer}\nDone.\n") == "r.md\nDone.\n"


@pytest.mark.case("A11", "E02")
def test_a_file_in_a_list_item():
    text = "1. a.py\n   ```python\n   def f():\n       x\n\n   y\n   ```\n2. Done\n"
    assert files(text, "auto") == {"a.py": "def f():\n    x\n\ny\n"}
    assert file_prose(text, "auto") == "1. a.py\n2. Done\n"


@pytest.mark.case("B18", "E04")
def test_a_complete_stream_without_a_closing_fence():
    got = events("a.py\n```\none\ntwo")
    assert got[-2:] == [FileEnd(True), End(False)]
    assert Line("+", "two", "") in got
    broken = events("r.md\n```md\n```sh\nls\n")
    assert "the fence around 'r.md' is not closed" in str(broken)
    assert broken[-1] == FileEnd(False)


@each("fence", ["```", "````", "~~~"])
def test_a_format_of_its_own_in_the_fence_is_that_format(fence):
    """Below a name: SEARCH/REPLACE, a diff and a patch are no text of the file."""
    block = "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n"
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n"
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch\n"
    for body in (block, f"a.py\n{block}", diff, f"diff --git a/a.py b/a.py\n{diff}", patch):
        got = events(f"a.py\n{fence}\n{body}{fence}\n", "auto")
        [op] = [event for event in got if isinstance(event, FileOp)]
        assert (op.kind, op.path) == (Kind.EDIT, "a.py"), body
        assert Prose("a.py\n") in got
        assert len([event for event in got if isinstance(event, Prose)]) == 1


def test_a_search_marker_in_the_middle_of_a_file_is_an_error_when_the_format_is_guessed():
    text = "a.py\n```\nx = 1\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```\nDone.\n"
    got = events(text, "auto")
    assert [event.line for event in got if isinstance(event, Failure)] == [4]
    assert FileEnd(True) not in got[:5]


BARE_BLOCK = "<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n"


def block_events(text: str, fmt: Format = "search_replace", *, cut: bool = False) -> list[Ev]:
    return run(parser_for(fmt, "text"), [text], cut=cut)


def names(text: str, fmt: Format = "search_replace") -> list[tuple[str, tuple[str, ...]]]:
    found = [event for event in block_events(text, fmt) if isinstance(event, FileOp)]
    assert all(event.notation == "search_replace" for event in found)
    return [(event.path, event.others) for event in found]


def name(text: str, fmt: Format = "auto") -> str:
    [(path, _)] = names(text, fmt)
    return path


def block_prose(text: str, fmt: Format = "auto") -> str:
    return "".join(event.text for event in block_events(text, fmt) if isinstance(event, Prose))


def lines(text: str) -> list[tuple[str, str]]:
    return [(event.op, event.text) for event in block_events(text) if isinstance(event, Line)]


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
    text = above + BARE_BLOCK
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
    assert names(above + BARE_BLOCK, "auto") == [("", others)]


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
    assert End(True) in block_events(text)
    crlf = text.replace("\n", "\r\n")
    assert lines(crlf) == [("-", "old"), ("+", "new")]
    assert Line("+", "new", "\r\n") in block_events(crlf)


@pytest.mark.case("C11")
@each("marks", ["<<<<", "<<<<<<<<<<", "<", "---", "----------"])
def test_markers_of_another_length_are_prose(marks):
    text = f"{marks} SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n"
    for fmt in ("search_replace", "marked", "auto"):
        assert block_events(text, fmt) == [Prose(text)]


def test_lines_that_lack_the_markers_indent_are_taken_as_they_are():
    text = "a.py\n  <<<<<<< SEARCH\nold\n  x\n  =======\nnew\n  >>>>>>> REPLACE\n"
    assert lines(text)[:2] == [("-", "old"), ("-", "  x")]


@pytest.mark.case("C16")
def test_fences_inside_a_block_are_content():
    block = BARE_BLOCK.replace("new", "```sh\nls\n```")
    text = f"r.md\n````markdown\n{block}````\n"
    assert lines(text) == [("-", "old"), ("+", "```sh"), ("+", "ls"), ("+", "```")]
    assert block_prose(text) == "r.md\n"


@pytest.mark.case("C17")
def test_a_shell_fence_is_an_edit_only_with_a_block_in_it():
    assert name(f"```sh\nrun_me.sh\n{BARE_BLOCK}```\n") == "run_me.sh"
    for text in (
        "```bash\npip install x\n```\n",
        "run.sh:\n\nRun `a.py`:\n```bash\npython a.py\n```\n",
    ):
        assert block_events(text, "auto") == [Prose(text)]


@each(
    "text, line, words",
    [
        ("a.py\n<<<<<<< SEARCH\nold\n", 3, "expected '======='"),
        ("a.py\n<<<<<<< SEARCH\nold\n=======\nnew\n", 5, "expected '>>>>>>> REPLACE'"),
        ("a.py\n<<<<<<< SEARCH\nold\n>>>>>>> REPLACE\n", 4, "expected '=======' before"),
        (f"a.py\n<<<<<<< SEARCH\nold\n{BARE_BLOCK}", 4, "before another SEARCH"),
    ],
)
def test_a_block_that_is_not_whole_is_an_error(text, line, words):
    found = [event for event in block_events(text) if isinstance(event, Failure)]
    assert [(event.line, words in event.message) for event in found] == [(line, True)]
    assert FileEnd(False) in block_events(text)


def test_behind_a_broken_block_another_one_is_read():
    got = block_events(f"a.py\n<<<<<<< SEARCH\nlost\n{BARE_BLOCK}")
    assert got[-3:] == [SectionEnd(True), FileEnd(True), End(True)]
    assert [event.path for event in got if isinstance(event, FileOp)] == ["a.py", "a.py"]


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
