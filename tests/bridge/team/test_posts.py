"""A team's users over plain HTTP: the tokens, limits, figures and ends of the socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.bridge.team.test_access_control import Stand
from tests.support.http_client import asking, posted, server_sent, whole
from tests.support.team import Authority, listening, team

LONG = asking("rehearse 9000 tokens", model="rehearsal-fast@20", stream=True)


@pytest.fixture
async def stand(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Stand]:
    made = Stand(tmp_path, "anna", "bob", **getattr(request, "param", {}))
    await made.bridge.start()
    yield made
    await made.bridge.close()
    made.access_log.close()


def key(stand: Stand, user: int = 0) -> dict[str, str]:
    return {"Authorization": f"Bearer {stand.tokens[user]}"}


async def ask(stand: Stand, user: int = 0, **fields: Any) -> Any:
    return await whole(stand.bridge.port, asking(**fields), **key(stand, user))


async def alone(stand: Stand) -> None:
    async with asyncio.timeout(60):
        await stand.access.emptied()


@pytest.mark.parametrize("stand", [{"connections": 1}, {"in_flight": 1}], indirect=True)
async def test_who_asks_too_much_at_a_time_is_told_when_to_ask_again(stand: Stand) -> None:
    for _ in range(5):  # one after the other is not too much
        assert (await ask(stand))[0] == 200
    async with posted(stand.bridge.port, LONG, **key(stand)) as answer:
        await anext(server_sent(answer))
        async with posted(stand.bridge.port, asking(), **key(stand)) as refused:
            assert refused.status == 429
            assert refused.headers["Retry-After"] == "1"
            assert (await refused.json())["error"]["code"] == "rate_limit_exceeded"
        assert (await ask(stand, 1))[0] == 200
    await alone(stand)
    assert (await ask(stand))[0] == 200


@pytest.mark.slow
async def test_the_real_process_answers_over_tls(tmp_path: Path) -> None:
    authority = Authority.at(tmp_path)
    cert, private = authority.issue()
    file, (anna,) = team(tmp_path, "anna")
    flags = ("--tls-cert", cert, "--tls-key", private, "--tokens", file)
    async with listening(tmp_path, *flags) as served:
        told = {"tls": authority.client(), "Authorization": f"Bearer {anna}"}
        async with posted(served.port, asking(stream=True), **told) as answer:
            assert [event async for event in server_sent(answer)][-1]["response"]["output"]
        picture = {"type": "input_image", "image_url": "data:image/png;base64," + "x" * 9_000_000}
        shown = [{"role": "user", "content": [picture]}]
        async with posted(served.port, asking(input=shown), **told) as answer:
            assert (await answer.json())["status"] == "completed"
        async with posted(served.port, LONG, **told) as answer:
            await anext(server_sent(answer))
        assert (await served.until_noted("response", 3))[-1]["status"] == "abandoned"
        served.signal()
        assert await served.ended() == 0
    assert not served.noted("fault")
