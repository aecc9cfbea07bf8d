"""``duetto bridge`` on loopback with the user's own endpoints, as another program uses it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from tests.support.bridge_client import create, prose, until
from tests.support.commands import DUETTO, clean_environment
from tests.support.endpoint_servers import HttpServer, Say, Script
from tests.support.endpoint_servers_chat import Chat

pytestmark = pytest.mark.slow

KEY = "near-key-0123456789"


async def test_another_program_asks_the_users_endpoint_through_it(tmp_path: Path) -> None:
    async with HttpServer(Chat()).serving() as near:
        near.scripts = [Script([Say("Good morning.")])]
        (tmp_path / "config.toml").write_text(
            'schema = 1\n[endpoints.near]\nkind = "openai-chat"\n'
            f'url = "{near.url}"\nkey_env = "NEAR_KEY"\n'
        )
        process = await asyncio.create_subprocess_exec(
            *DUETTO,
            "bridge",
            cwd=tmp_path,
            env=clean_environment(tmp_path) | {"NEAR_KEY": KEY},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stdin is not None
        said = json.loads(await process.stdout.readline())
        headers = {"Authorization": f"Bearer {said['token']}"}
        async with connect(said["url"], additional_headers=headers, proxy=None) as socket:
            await create(socket, "hello", model="near/anything")
            assert prose(await until(socket)) == "Good morning."
            await create(socket, "hello", model="rehearsal-fast")
            assert "rehearsal model" in prose(await until(socket))
        assert near.requests[0].headers["authorization"] == f"Bearer {KEY}"
        assert said["token"] not in str(near.requests)
        process.stdin.close()
        async with asyncio.timeout(10):
            assert await process.wait() == 0
