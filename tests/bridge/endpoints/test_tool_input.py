"""The input of a freeform tool, read out of JSON arguments while they come."""

from __future__ import annotations

import json
from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each
from tui.bridge.endpoints.tool_input import InputReader

PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x = \"a\\b\"\n+x = 'ä🙂'\t\n*** End Patch\n"


def read(*pieces: str) -> tuple[str, bool]:
    reader = InputReader()
    text = "".join(reader.feed(piece) for piece in pieces) + reader.end()
    return text, reader.sound


def cut(text: str, places: list[int]) -> list[str]:
    at = sorted({place % (len(text) + 1) for place in places})
    return [text[start:end] for start, end in zip([0, *at], [*at, len(text)], strict=True)]


@given(
    text=st.text(alphabet=st.characters(codec="utf-8")),
    places=st.lists(st.integers(0, 10_000)),
    plain=st.booleans(),
    indent=st.sampled_from([None, 2]),
)
def test_any_text_cut_anywhere(text: str, places: list[int], plain: bool, indent: int) -> None:
    arguments = json.dumps({"input": text}, ensure_ascii=plain, indent=indent)
    assert read(*cut(arguments, places)) == (text, True)


@each("size", [1, 7, 1000])
@each(
    "arguments, text",
    [
        (PATCH, PATCH),
        ("{ not json", "{ not json"),
        ("const a = {b: 1}", "const a = {b: 1}"),
        ('{"patch": "abc"}', "abc"),
        ('{"note": 1, "patch": "a\\nb"}', "a\nb"),
        ('{"why": "so", "input": "abc"}', "abc"),
        ('{"input": "abc", "why": "so"}', "abc"),
        ('"abc\\n"', "abc\n"),
        ('{"input": ["a", "b"]}', '["a", "b"]'),
        ('{"input": {"a": 1}}', '{"a": 1}'),
        ('{"input": null}', ""),
        ("{}", ""),
        ("", ""),
        ('{"inputs": "abc"}', "abc"),
        ('{"in": "a", "out": "b"}', '{"in": "a", "out": "b"}'),
        ('{"input": "a\nb"}', "a\nb"),
        ('{"input": "\\d\\q"}', "\\d\\q"),
        ('{"input": "\\ud83d\\ude42"}', "🙂"),
        ('{"input": "\\ud83d x"}', "� x"),
        ('{"input": "\\ude42"}', "�"),
        ('{"input": "\\u00zz"}', "\\u00zz"),
    ],
)
def test_what_models_write(arguments: str, text: str, size: int) -> None:
    pieces = [arguments[at : at + size] for at in range(0, len(arguments), size)]
    assert read(*pieces) == (text, True)


@each("arguments", ['{"input": "abc', '{"input": "a\\', '{"patch": "ab'])
def test_what_breaks_off_is_not_sound(arguments: str) -> None:
    text, sound = read(arguments)
    assert not sound
    assert "\\" not in text or arguments.startswith('{"patch')


def test_the_cost_is_linear() -> None:
    """Ten megabytes in pieces of a token, and the same as a first key that never ends."""

    def seconds(arguments: str) -> float:
        began = process_time()
        read(*(arguments[at : at + 8] for at in range(0, len(arguments), 8)))
        return process_time() - began

    small = seconds(json.dumps({"input": PATCH * 100}))
    assert seconds(json.dumps({"input": PATCH * 1000})) < 30 * small + 0.2
    assert seconds('{"' + "i" * 50_000) < 30 * small + 0.5
    assert seconds(" " * 50_000) < 30 * small + 0.5
