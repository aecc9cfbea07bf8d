"""Whole files in fences: names, nested fences, what is only a snippet."""

from __future__ import annotations

import pytest

from tests.support.edit_streams import run
from tests.support.tables import each
from tui.core.document.hunk import Kind
from tui.core.edit_stream import Format, parser_for
from tui.core.edit_stream.events import Cut, End, Ev, Failure, FileEnd, FileOp, Line, Partial, Prose


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


def prose(text: str, fmt: Format = "whole_file") -> str:
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
    assert prose(f"{above}x\n{closer}Done.\n", "marked") == f"{above}x\n{closer}Done.\n"


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
    assert prose(f"r.md\n{outer}\n{body}{closer}\nDone.\n") == "r.md\nDone.\n"


@pytest.mark.case("A11", "E02")
def test_a_file_in_a_list_item():
    text = "1. a.py\n   ```python\n   def f():\n       x\n\n   y\n   ```\n2. Done\n"
    assert files(text, "auto") == {"a.py": "def f():\n    x\n\ny\n"}
    assert prose(text, "auto") == "1. a.py\n2. Done\n"


@pytest.mark.case("E04", "A02")
@each("keep", range(12))
def test_cut_anywhere_the_file_is_not_closed(keep):
    text = "a.py\n```\n" + "one\ntwo\nthre"[:keep]
    got = events(text, cut=True)
    assert FileEnd(True) not in got
    assert (Cut() in got) is ("\n" in "one\ntwo\nthre"[:keep])


@pytest.mark.case("B18", "E04")
def test_a_complete_stream_without_a_closing_fence():
    got = events("a.py\n```\none\ntwo")
    assert got[-2:] == [FileEnd(True), End(False)]
    assert Line("+", "two", "") in got
    broken = events("r.md\n```md\n```sh\nls\n")
    assert "the fence around 'r.md' is not closed" in str(broken)
    assert broken[-1] == FileEnd(False)


@pytest.mark.case("A16")
@each(
    "pending, shown",
    [
        ("x = ", "x = "),
        ("`", None),
        ("``` ", None),
        ("  `", None),
        ("~", None),
        ("", None),
        ("a`", "a`"),
    ],
)
def test_an_unfinished_line_is_painted_unless_it_may_be_a_fence(pending, shown):
    parser = parser_for("whole_file", "text")
    parser.feed("a.py\n```\none\n")
    parser.feed(pending)
    assert parser.tail() == ([] if shown is None else [Partial(shown)])


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
