"""Function-call arguments: JSON unescaped while it streams."""

from __future__ import annotations

import json

import pytest

from tests.support.edit_streams import failure, pieces, read, run
from tests.support.patches import disk
from tests.support.tables import each
from tui.core.edit_stream import parser_for
from tui.core.edit_stream.arguments import ArgumentPatches, ArgumentText
from tui.core.edit_stream.events import Cut, End, Failure, FileOp, Line
from tui.core.patches.landing import Landing

PATCH = '*** Begin Patch\n*** Update File: f.py\n@@\n-a\n+\tb "é" \\ \U0001f600\n*** End Patch\n'


def unescaped(deltas: list[str]) -> tuple[str, str]:
    reader = ArgumentText()
    text = "".join(reader.feed(delta) for delta in deltas)
    return text + reader.finish(False), reader.failure


@each("ascii_only", [True, False])
@each("member", ["input", "patch", "diff"])
@each("size", [1, 2, 3, 5, 1000])
def test_a05_chunks_end_anywhere(ascii_only, member, size):
    text = json.dumps(
        {"note": "x\\", "n": [1, {"input": '"'}], member: PATCH}, ensure_ascii=ascii_only
    )
    assert unescaped(pieces(text, size)) == (PATCH, "")
    assert run(ArgumentPatches(), pieces(text, size)) == read(PATCH)


@each("held", ["\\", "\\u", "\\u00e", "\\ud83d", "\\ud83d\\", "\\ud83d\\ude0"])
def test_a05_nothing_is_said_until_it_is_decided(held):
    reader = ArgumentText()
    assert reader.feed('{"input":"a') == "a"
    assert "".join(reader.feed(char) for char in held) == ""


def test_a08_the_argument_has_another_form():
    """A08: `{"command":[...]}` around a patch -> the error says that the form is wrong."""
    text = json.dumps({"command": ["apply_patch", PATCH]})
    said = failure(text, "function")
    assert "the argument's form is wrong" in said
    assert "first line" not in said
    assert '{"input": "*** Begin Patch..."}' in said


@each("text", ["[1]", PATCH, "{}", '{"n": 1}', '{"a": "x", "b": "y"}', "12", '{"input": 3}'])
def test_wrong_forms(text):
    said = read(text, "function")
    assert [type(event) for event in said] == [Failure]
    assert "form is wrong" in said[0].message


def test_the_only_string_and_a_bare_string():
    assert unescaped([json.dumps({"text": PATCH, "n": 1})]) == (PATCH, "")
    assert unescaped([json.dumps(PATCH)]) == (PATCH, "")
    assert read(json.dumps({"text": PATCH}), "function") == read(PATCH)


@each("text", ['{"input": "a\\q"}', '{"input": "a\\u12x4"}', '{"input" 3}'])
def test_broken_json_names_itself(text):
    assert unescaped(list(text))[1]


def test_lone_halves_become_replacement_characters():
    assert unescaped(list('{"input":"\\ud83dx\\ude00\\ud83d"}')) == ("\ufffdx\ufffd\ufffd", "")


def test_incomplete_arguments():
    text = json.dumps({"input": PATCH})[:-20]
    assert "incomplete JSON" in failure(text, "function")
    events = read(text, "function", cut=True)
    assert Cut() in events
    assert not any(isinstance(event, End | Failure) for event in events)
    whole = json.dumps({"input": PATCH})
    assert read(whole[: whole.index('\\n"}')], "function", cut=True)[-1] == End(True)


def test_broken_in_the_middle_closes_what_is_open():
    text = json.dumps({"input": PATCH}).replace("-a", "-a\\q")
    events = run(ArgumentPatches(), [text])
    kinds = [type(event).__name__ for event in events]
    assert kinds == ["FileOp", "Failure", "FileEnd"]
    assert "invalid JSON escape" in failure(text, "function")


SCRIPT = '*** Begin Patch\n*** Update File: a.txt\n@@\n a\n-b\n+"B"\\n é 🎈\n c\n*** End Patch\n'
QUOTE = "'\\''"
HEREDOC = f"apply_patch <<'EOF'\n{SCRIPT}EOF\n"
FORMS = [
    {"command": ["bash", "-lc", HEREDOC]},
    {"command": ["apply_patch", SCRIPT]},
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


DIRECT = SCRIPT.replace("é", "e'e")


@pytest.mark.case("A09")
@each(
    "arguments, path",
    [
        ({"command": ["apply_patch", SCRIPT], "workdir": "sub"}, "sub/a.txt"),
        ({"workdir": "/w/sub/", "cmd": HEREDOC}, "/w/sub/a.txt"),
        ({"command": ["bash", "-lc", f"cd sub && {HEREDOC}"], "workdir": "top"}, "top/sub/a.txt"),
        ({"command": ["/bin/sh", "-c", f"cd /w && {HEREDOC}"], "workdir": "top"}, "/w/a.txt"),
        ({"command": ["apply_patch", SCRIPT], "workdir": "."}, "a.txt"),
        ({"cmd": f"apply_patch '{DIRECT.replace(chr(39), QUOTE)}'"}, "a.txt"),
        (
            {"cmd": 'apply_patch "' + DIRECT.replace("\\", "\\\\").replace('"', '\\"') + '"'},
            "a.txt",
        ),
        ([["not", "a", "command"], SCRIPT], ""),
    ],
)
def test_the_folder_that_the_command_starts_in_counts(arguments: object, path: str) -> None:
    """A patch is never landed in another folder than the one that the shell would start in."""
    parser = parser_for("apply_patch", "shell")
    assert parser.feed(json.dumps(arguments)) == []
    events = parser.finish(cut=False)
    assert [event.path for event in events if isinstance(event, FileOp)] == ([path] if path else [])
    assert any(isinstance(event, Failure) for event in events) is not bool(path)
    if path and SCRIPT not in json.loads(json.dumps(str(arguments))):
        assert Line("+", '"B"\\n e\'e 🎈') in events or Line("+", '"B"\\n é 🎈') in events


@pytest.mark.case("A08")
@each(
    "arguments",
    [
        {"command": ["bash", "-lc", HEREDOC + "pytest -q\n"]},
        {"command": ["bash", "-lc", "rm -rf build && ls\n" + HEREDOC]},
        {"command": ["env", "X=1", "apply_patch", SCRIPT]},
        {"note": SCRIPT},
    ],
)
def test_a_command_that_does_more_is_refused(arguments: object) -> None:
    """What else the command does would not be done: the form is said to be wrong."""
    parser = parser_for("apply_patch", "shell")
    parser.feed(json.dumps(arguments))
    [event] = parser.finish(cut=False)
    assert isinstance(event, Failure)
    assert "the argument's form is wrong" in event.message
