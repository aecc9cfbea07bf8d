"""What prose detection must not take for an edit, and several edits in one message."""

from __future__ import annotations

import pytest

from tests.support.edit_streams import joined, pieces, read, run
from tests.support.tables import each
from tui.core.edit_stream import Format, parser_for
from tui.core.edit_stream.events import End, Ev, Failure, FileEnd, FileOp, Line, Prose
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
