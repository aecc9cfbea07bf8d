"""A patch in the arguments of a shell call, whatever string holds it."""

from __future__ import annotations

import json

import pytest

from tests.support.patches import disk
from tests.support.tables import each
from tui.core.edit_stream import parser_for
from tui.core.edit_stream.events import Failure, FileOp, Line
from tui.core.patches.landing import Landing

PATCH = '*** Begin Patch\n*** Update File: a.txt\n@@\n a\n-b\n+"B"\\n é 🎈\n c\n*** End Patch\n'
QUOTE = "'\\''"
HEREDOC = f"apply_patch <<'EOF'\n{PATCH}EOF\n"
FORMS = [
    {"command": ["bash", "-lc", HEREDOC]},
    {"command": ["apply_patch", PATCH]},
    {"cmd": f"cd . && {HEREDOC}", "workdir": "."},
    {"timeout_ms": 1000, "command": HEREDOC},
]


def landed(text: str, size: int, *, cut: bool = False) -> tuple[str, Landing]:
    place = disk(a="a\nb\nc\n")
    landing = Landing(place.workspace, turn=1, call_id="c", channel="shell")
    for at in range(0, len(text), size):
        landing.feed(text[at : at + size])
        landing.tail()
    landing.finish(cut)
    buffer = place.workspace.buffers.get("a.txt")
    return ("a\nb\nc\n" if buffer is None else buffer.text()), landing


@pytest.mark.case("A01", "A05")
@each("form", FORMS)
@each("escape", [True, False])
@each("size", [1, 2, 5, 17, 10_000])
def test_it_lands_however_it_is_called_and_cut(
    form: dict[str, object], escape: bool, size: int
) -> None:
    text, landing = landed(json.dumps(form, ensure_ascii=escape), size)
    assert text == 'a\n"B"\\n é 🎈\nc\n', landing.report()
    assert landing.placed_all


@pytest.mark.case("A02")
@each("form", FORMS)
def test_cut_anywhere_nothing_is_half_done(form: dict[str, object]) -> None:
    whole = json.dumps(form)
    for end in range(len(whole)):
        text, landing = landed(whole[:end], 5, cut=True)
        place = landing.workspace
        assert text in ("a\nb\nc\n", 'a\n"B"\\n é 🎈\nc\n')
        place.reject([hunk.id for hunk in landing.hunks if hunk.decidable])
        buffer = place.buffers.get("a.txt")
        assert buffer is None or buffer.text() == "a\nb\nc\n"


@pytest.mark.case("A07")
def test_a_shell_without_a_patch_is_none() -> None:
    text, landing = landed(json.dumps({"command": ["ls", "-l"]}), 3)
    assert (text, landing.hunks) == ("a\nb\nc\n", [])
    assert landing.failure


DIRECT = PATCH.replace("é", "e'e")


@pytest.mark.case("A09")
@each(
    "arguments, path",
    [
        ({"command": ["apply_patch", PATCH], "workdir": "sub"}, "sub/a.txt"),
        ({"workdir": "/w/sub/", "cmd": HEREDOC}, "/w/sub/a.txt"),
        ({"command": ["bash", "-lc", f"cd sub && {HEREDOC}"], "workdir": "top"}, "top/sub/a.txt"),
        ({"command": ["/bin/sh", "-c", f"cd /w && {HEREDOC}"], "workdir": "top"}, "/w/a.txt"),
        ({"command": ["apply_patch", PATCH], "workdir": "."}, "a.txt"),
        ({"cmd": f"apply_patch '{DIRECT.replace(chr(39), QUOTE)}'"}, "a.txt"),
        (
            {"cmd": 'apply_patch "' + DIRECT.replace("\\", "\\\\").replace('"', '\\"') + '"'},
            "a.txt",
        ),
        ([["not", "a", "command"], PATCH], ""),
    ],
)
def test_the_folder_that_the_command_starts_in_counts(arguments: object, path: str) -> None:
    """A patch is never landed in another folder than the one that the shell would start in."""
    parser = parser_for("apply_patch", "shell")
    assert parser.feed(json.dumps(arguments)) == []
    events = parser.finish(cut=False)
    assert [event.path for event in events if isinstance(event, FileOp)] == ([path] if path else [])
    assert any(isinstance(event, Failure) for event in events) is not bool(path)
    if path and PATCH not in json.loads(json.dumps(str(arguments))):
        assert Line("+", '"B"\\n e\'e 🎈') in events or Line("+", '"B"\\n é 🎈') in events


@pytest.mark.case("A08")
@each(
    "arguments",
    [
        {"command": ["bash", "-lc", HEREDOC + "pytest -q\n"]},
        {"command": ["bash", "-lc", "rm -rf build && ls\n" + HEREDOC]},
        {"command": ["env", "X=1", "apply_patch", PATCH]},
        {"note": PATCH},
    ],
)
def test_a_command_that_does_more_is_refused(arguments: object) -> None:
    """What else the command does would not be done: the form is said to be wrong."""
    parser = parser_for("apply_patch", "shell")
    parser.feed(json.dumps(arguments))
    [event] = parser.finish(cut=False)
    assert isinstance(event, Failure)
    assert "the argument's form is wrong" in event.message
