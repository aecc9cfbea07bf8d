"""The command with endpoints of the team's config: who is asked, with which key, and what is told
of it in figures and log."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.bridge_client import create, prose, until
from tests.support.endpoint_servers import HttpServer, Say, Script, Status
from tests.support.endpoint_servers_anthropic import Anthropic
from tests.support.endpoint_servers_chat import Chat
from tests.support.team import Served, asked, listening, team

pytestmark = pytest.mark.slow

KEYS = {"NEAR_KEY": "near-key-0123456789", "FAR_KEY": "far-key-9876543210"}
CONFIG = """
schema = 1

[endpoints.near]
kind = "openai-chat"
url = "NEAR"
key_env = "NEAR_KEY"

[endpoints.near.models."coder"]
fallbacks = ["far/spare"]

[endpoints.far]
kind = "anthropic"
url = "FAR"
key_env = "FAR_KEY"
key_header = "x-api-key"
"""
SECRET_WORDS = "the harbour at night"


class Farm:
    """Two providers' servers, and the bridge before them."""

    def __init__(self, near: HttpServer, far: HttpServer, served: Served, token: str) -> None:
        self.near, self.far, self.served, self.token = near, far, served, token

    async def answered(self, model: str, **fields: Any) -> dict[str, Any]:
        async with self.served.dial(self.token) as socket:
            await create(socket, SECRET_WORDS, model=model, **fields)
            return (await until(socket))[-1]

    async def metrics(self) -> str:
        return (await asked(self.served.port, "/metrics", self.token))[1].decode()


@asynccontextmanager
async def farm(folder: Path) -> AsyncIterator[Farm]:
    async with AsyncExitStack() as stack:
        near = await stack.enter_async_context(HttpServer(Chat()).serving())
        far = await stack.enter_async_context(HttpServer(Anthropic()).serving())
        near.scripts = far.scripts = [Script([Say("Good morning.")])]
        config = folder / "bridge.toml"
        config.write_text(CONFIG.replace('NEAR"', near.url + '"').replace('FAR"', far.url + '"'))
        file, (anna,) = team(folder, "anna")
        flags = ("--tokens", file, "--config", config)
        keys = [f"{name}={key}" for name, key in KEYS.items()]
        served = await stack.enter_async_context(listening(folder, *flags, extra=keys))
        yield Farm(near, far, served, anna)


async def test_endpoints_of_the_config_are_served_by_name_with_their_own_keys(
    tmp_path: Path,
) -> None:
    async with farm(tmp_path) as at:
        async with at.served.dial(at.token) as socket:
            await create(socket, SECRET_WORDS, model="near/coder")
            assert prose(await until(socket)) == "Good morning."
            await create(socket, SECRET_WORDS, model="far/spare")
            assert prose(await until(socket)) == "Good morning."
            await create(socket, SECRET_WORDS, model="coder")
            assert prose(await until(socket)) == "Good morning."
        assert [request.headers["authorization"] for request in at.near.requests] == [
            f"Bearer {KEYS['NEAR_KEY']}"
        ] * 2
        assert at.far.requests[0].headers["x-api-key"] == KEYS["FAR_KEY"]
        heard = str([*at.near.requests, *at.far.requests, *at.near.others, *at.far.others])
        assert at.token not in heard
        assert KEYS["FAR_KEY"] not in str([*at.near.requests, *at.near.others])


async def test_who_answered_is_in_figures_and_log(tmp_path: Path) -> None:
    async with farm(tmp_path) as at:
        assert (await at.answered("near/coder"))["type"] == "response.completed"
        at.near.scripts = [Script(instead=Status(503, "overloaded", SECRET_WORDS))]
        fallen = (await at.answered("near/coder"))["response"]
        assert fallen["metadata"]["duetto_endpoint"] == "far"
        at.far.scripts = [Script(instead=Status(529, "overloaded_error", SECRET_WORDS))]
        refused = await at.answered("far/spare")
        assert refused["type"] == "error"
        page = await at.metrics()
        lines = await at.served.until_noted("response", 3)
    endpoints = [(line["endpoint"], line["status"]) for line in lines]
    assert endpoints == [("near", "completed"), ("far", "completed"), ("far", "refused")]
    assert all(line["output_tokens"] == 7 for line in lines[:2])
    assert lines[2]["code"] == refused["error"]["code"]
    assert 'duetto_responses_total{endpoint="near",' in page
    assert 'duetto_tokens_total{direction="reasoning",endpoint="near",' in page
    code = refused["error"]["code"]
    assert (
        f'duetto_errors_total{{code="{code}",endpoint="far",kind="anthropic",provider=""}} 1'
        in page
    )
    said = page + at.served.log.read_text()
    hidden = (SECRET_WORDS, "Good morning", at.token, *KEYS.values())
    assert [word for word in hidden if word in said] == []
