"""Patches inside assistant text: what is prose, what is wrapped around a patch."""

from __future__ import annotations

import pytest

from tests.support.edit_streams import joined, read
from tests.support.tables import each
from tui.core.edit_stream.events import End, Failure, Line, Prose

PATCH = "*** Begin Patch\n*** Update File: f.py\n@@\n-a\n+b\n*** End Patch\n"


def prose(text: str) -> str:
    return "".join(event.text for event in read(text, "text") if isinstance(event, Prose))


def edits(text: str) -> list:
    return [event for event in read(text, "text") if not isinstance(event, Prose)]


@pytest.mark.case("A07")
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
    """A07: on the text channel no edit, no error, and every character is shown."""
    assert read(text, "text") == ([Prose(text)] if text else [])
    assert joined(read(text, "text", cut=True)) == ([Prose(text)] if text else [])


@pytest.mark.case("A09")
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
    """A09: heredoc and fence around a patch."""
    assert read(f"Sure:\n{before}{PATCH}{after}", "text") == [
        Prose("Sure:\n"),
        *edits(PATCH),
    ]
    assert read(before + PATCH + after.rstrip("\n"), "text") == edits(PATCH)
    assert prose(f"{before}{PATCH}{after}\nDone.\n") == "\nDone.\n"


def test_two_patches_in_one_fence():
    assert prose(f"```\n{PATCH}\n{PATCH}```\nend\n") == "end\n"


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
