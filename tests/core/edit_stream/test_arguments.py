"""Function-call arguments: JSON unescaped while it streams."""

from __future__ import annotations

import json

import pytest

from tests.support.edit_streams import failure, pieces, read, run
from tests.support.tables import each
from tui.core.edit_stream.arguments import ArgumentPatches, ArgumentText
from tui.core.edit_stream.events import Cut, End, Failure

PATCH = '*** Begin Patch\n*** Update File: f.py\n@@\n-a\n+\tb "é" \\ \U0001f600\n*** End Patch\n'


def unescaped(deltas: list[str]) -> tuple[str, str]:
    reader = ArgumentText()
    text = "".join(reader.feed(delta) for delta in deltas)
    return text + reader.finish(False), reader.failure


@pytest.mark.case("A05")
@each("ascii_only", [True, False])
@each("member", ["input", "patch", "diff"])
@each("size", [1, 2, 3, 5, 1000])
def test_a05_chunks_end_anywhere(ascii_only, member, size):
    """A05: a chunk ends inside an escape or between a surrogate pair -> no stray text."""
    text = json.dumps(
        {"note": "x\\", "n": [1, {"input": '"'}], member: PATCH}, ensure_ascii=ascii_only
    )
    assert unescaped(pieces(text, size)) == (PATCH, "")
    assert run(ArgumentPatches(), pieces(text, size)) == read(PATCH)


@pytest.mark.case("A05")
@each("held", ["\\", "\\u", "\\u00e", "\\ud83d", "\\ud83d\\", "\\ud83d\\ude0"])
def test_a05_nothing_is_said_until_it_is_decided(held):
    """A05: nothing is emitted until decided."""
    reader = ArgumentText()
    assert reader.feed('{"input":"a') == "a"
    assert "".join(reader.feed(char) for char in held) == ""


@pytest.mark.case("A06")
def test_a06_what_was_said_only_grows():
    """A06: already emitted text is never emitted again or torn."""
    text = json.dumps({"input": PATCH})
    for cut in range(len(text)):
        reader = ArgumentText()
        said = reader.feed(text[:cut])
        assert PATCH.startswith(said)
        assert said + reader.feed(text[cut:]) == PATCH


@pytest.mark.case("A08")
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
