"""Patches inside assistant text: what is prose, what is wrapped around a patch."""

from __future__ import annotations

import pytest

from tests.support.edit_streams import joined, read
from tui.core.edit_stream.events import Cut, End, Failure, FileEnd, FileOp, Line, Prose
from tui.core.edit_stream.parser import ProsePatches

PATCH = "*** Begin Patch\n*** Update File: f.py\n@@\n-a\n+b\n*** End Patch\n"


def prose(text: str) -> str:
    return "".join(event.text for event in read(text, "text") if isinstance(event, Prose))


def edits(text: str) -> list:
    return [event for event in read(text, "text") if not isinstance(event, Prose)]


@pytest.mark.case("A07")
@pytest.mark.parametrize(
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
    """A07: on the text channel no edit, no error, and every character is shown."""
    assert read(text, "text") == ([Prose(text)] if text else [])
    assert joined(read(text, "text", cut=True)) == ([Prose(text)] if text else [])


@pytest.mark.case("A09")
@pytest.mark.parametrize(
    ("before", "after"),
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
    """A09: heredoc and fence around a patch."""
    assert read(f"Sure:\n{before}{PATCH}{after}", "text") == [
        Prose("Sure:\n"),
        *edits(PATCH),
    ]
    assert read(before + PATCH + after.rstrip("\n"), "text") == edits(PATCH)
    assert prose(f"{before}{PATCH}{after}\nDone.\n") == "\nDone.\n"


@pytest.mark.case("A09")
def test_a09_prose_around_and_two_patches():
    """A09: prose around, two patches in one message."""
    text = f"Sure:\n\n{PATCH}\nAnd then:\n```\n{PATCH}```\nDone."
    assert prose(text) == "Sure:\n\n\nAnd then:\nDone."
    assert edits(text).count(End(True)) == 2


def test_two_patches_in_one_fence():
    assert prose(f"```\n{PATCH}\n{PATCH}```\nend\n") == "end\n"


@pytest.mark.case("A11")
def test_a11_fenced_list_item():
    """A11: patch inside an indented list item."""
    inner = "".join("   " + line for line in PATCH.splitlines(True))
    text = f"1. Do this:\n   ```\n{inner}   ```\n2. Done\n"
    assert prose(text) == "1. Do this:\n2. Done\n"
    assert edits(text) == edits(PATCH)


def test_the_fence_of_other_code_stays_whole():
    text = f"```python\nx = 1\n```\n\n{PATCH}after\n"
    assert prose(text) == "```python\nx = 1\n```\n\nafter\n"
    inside = f"```\nnote\n{PATCH}```\nafter\n"
    assert prose(inside) == "```\nnote\n```\nafter\n"


def test_an_empty_fence_before_a_patch_is_prose():
    assert prose(f"```\n```\n{PATCH}x\n") == "```\n```\nx\n"


def test_missing_end_inside_a_fence():
    text = "```\n" + PATCH.replace("*** End Patch\n", "```\n\nDone.\n")
    assert edits(text)[-1] == End(False)
    assert prose(text) == "Done.\n"


def test_a_fence_line_without_prefix_is_an_error():
    text = "```\n" + PATCH.replace("+b\n", "```\n+b\n") + "```\n"
    assert Failure(6, "'```' has no ' ', '+' or '-' prefix") in edits(text)
    context = "```\n" + PATCH.replace("+b\n", " ```\n+b\n") + "```\n"
    assert Line("=", "```") in edits(context)
    assert edits(context)[-1] == End(True)


def test_behind_a_failure_text_is_prose_and_another_patch_is_read():
    broken = "*** Begin Patch\n*** Update File: f.py\n@@\n*** oops\n+x\n*** End Patch\n"
    events = read(f"A\n{broken}B\n{PATCH}C\n", "text")
    assert [event for event in events if isinstance(event, Prose)] == [
        Prose("A\n"),
        Prose("*** oops\n+x\n*** End Patch\nB\n"),
        Prose("C\n"),
    ]
    assert events[-2] == End(True)
    assert FileEnd(False) in events


def test_cut_in_a_patch_and_behind_it():
    assert Cut() in read(PATCH[:50], "text", cut=True)
    assert read(PATCH + "Do", "text", cut=True) == [*edits(PATCH), Prose("Do")]


def test_prose_flows_before_its_newline():
    parser = ProsePatches()
    assert parser.feed("Hel") == [Prose("Hel")]
    assert parser.feed("lo") == [Prose("lo")]
    assert parser.feed("\n*** Beg") == [Prose("\n")]
    assert parser.feed("onias") == [Prose("*** Begonias")]
    assert parser.finish(False) == []


def test_a_partial_path_is_not_opened():
    for length in range(len("*** Begin Patch\n*** Update File: f.py")):
        events = read(PATCH[:length], "text", cut=True)
        assert not any(isinstance(event, FileOp) for event in events)
