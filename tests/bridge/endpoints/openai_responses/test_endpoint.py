"""Thoughts that a server of the Responses API cannot open."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.endpoint_kinds import failure, standing, text_of
from tests.support.endpoint_servers import Say, Script, Status
from tests.support.rehearsed import user

OK = Script([Say("all is well")])


def thought(sealed: str) -> dict[str, Any]:
    return {"type": "reasoning", "id": f"rs_{sealed}", "summary": [], "encrypted_content": sealed}


def answer(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "role": "assistant", "content": [part]}


def refusing(words: str, code: str = "invalid_request_error") -> Script:
    return Script(instead=Status(400, code, words))


@pytest.mark.parametrize(
    "refusal",
    [
        refusing("The encrypted content gAAA...Rg== could not be verified."),
        refusing("Cannot be read.", "invalid_encrypted_content"),
        refusing("Item with id 'rs_12ab' not found. Items are not persisted."),
    ],
)
async def test_thoughts_that_it_cannot_open_are_left_out(refusal: Script) -> None:
    said = [user("a"), thought("others"), answer("A"), user("b")]
    async with standing("openai-responses") as stand:
        stand.answers(refusal, OK)
        await stand.ask(said)
        assert text_of(await stand.until()) == "all is well"
        await stand.ask([*said, thought("own"), answer("B"), user("c")])
        assert text_of(await stand.until()) == "all is well"
        first, second, third = (request.body["input"] for request in stand.server.requests)
    assert first == said
    assert second == [user("a"), answer("A"), user("b")]
    assert third == [*second, thought("own"), answer("B"), user("c")], "not refused again"


async def test_other_refusals_are_told_at_once() -> None:
    async with standing("openai-responses") as stand:
        stand.answers(refusing("The thought is too long."), OK)
        await stand.ask([user("a"), thought("x"), answer("A"), user("b")])
        assert failure(await stand.until())[1] == "The thought is too long."
        stand.answers(refusing("x", "invalid_encrypted_content"), OK)
        await stand.ask([user("a")])
        assert failure(await stand.until())[1] == "x"
        assert len(stand.server.requests) == 2
