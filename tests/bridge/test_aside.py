"""Long conversations hold up nobody else."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable
from typing import Any

import pytest

from tests.support.endpoint_kinds import standing, text_of
from tests.support.endpoint_servers import Say, Script
from tests.support.rehearsed import user
from tui.bridge.aside import MOST_ITEMS, aside
from tui.bridge.endpoints.anthropic.language import AnthropicLanguage
from tui.bridge.endpoints.base import Asked
from tui.bridge.endpoints.openai_chat.language import ChatLanguage
from tui.bridge.endpoints.openai_responses.language import ResponsesLanguage
from tui.bridge.providers.windows import prepared

LANGUAGES: dict[str, Any] = {
    "openai-chat": ChatLanguage,
    "anthropic": AnthropicLanguage,
    "openai-responses": ResponsesLanguage,
}


def long(items: int) -> Asked:
    return Asked("m", {}, [user("x")] * items)


async def turns_beside(work: Awaitable[object]) -> int:
    """How many turns of the event loop others had meanwhile."""
    task, turns = asyncio.ensure_future(work), 0
    while not task.done():
        await asyncio.sleep(0)
        turns += 1
    await task
    return turns


async def test_others_have_their_turns_while_a_request_is_measured() -> None:
    assert await turns_beside(prepared(long(50_000), None)) > 20


async def test_short_ones_are_worked_on_at_once() -> None:
    here = threading.get_ident()
    assert await aside(long(MOST_ITEMS), threading.get_ident) == here
    assert await aside(long(MOST_ITEMS + 1), threading.get_ident) != here


@pytest.mark.parametrize("kind", LANGUAGES)
async def test_requests_are_put_into_words_beside(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    language, where = LANGUAGES[kind], []
    request = language.request

    def noted(self: Any, *args: Any) -> Any:
        where.append(threading.get_ident())
        return request(self, *args)

    monkeypatch.setattr(language, "request", noted)
    async with standing(kind) as stand:
        stand.answers(Script([Say("well")]))
        await stand.ask([user("x")] * (MOST_ITEMS + 1))
        assert text_of(await stand.until()) == "well"
    assert where
    assert threading.get_ident() not in where
