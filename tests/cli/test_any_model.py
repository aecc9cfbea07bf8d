"""The app with models of other providers: turns through the bridge, with the same powers."""

from __future__ import annotations

import asyncio
import os
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.composed import composed
from tests.support.endpoint_servers import KEY, HttpServer, Say, Script, Status
from tests.support.endpoint_servers_anthropic import Anthropic
from tests.support.endpoint_servers_chat import Chat
from tests.support.pictures import png
from tests.support.seat import Seat
from tui.cli.composition import Composition
from tui.cli.options import ModelFlags
from tui.core.conversation import BlockKind
from tui.engine import intents
from tui.settings import parse

pytestmark = pytest.mark.slow

CHAT = """\
[endpoints.one]
kind = "openai-chat"
url = "{one}"
key_env = "ONE_KEY"
[models.fast]
name = "m"
endpoint = "one"
tier = "priority"
"""
STAND_IN = """\
fallbacks = ["two/n"]
[endpoints.two]
kind = "anthropic"
url = "{two}"
key_env = "TWO_KEY"
key_header = "x-api-key"
"""


@asynccontextmanager
async def seated(
    home: Path, config: str, monkeypatch: pytest.MonkeyPatch, **flags: str
) -> AsyncIterator[tuple[Seat, Composition]]:
    """A session that is set up so."""
    monkeypatch.setenv("ONE_KEY", KEY)
    monkeypatch.setenv("TWO_KEY", f"{KEY}-two")
    (home / "work").mkdir()
    settings = parse(config, "config.toml")
    async with composed(home / "work", settings, ModelFlags(**flags), os.environ) as found:
        yield found


def exposed(composition: Composition) -> str:
    """What other processes of this user can see of the bridge."""
    process = Path(f"/proc/{composition._network._bridge.pid}")
    return "".join((process / name).read_bytes().decode() for name in ("cmdline", "environ"))


async def test_a_turn_by_chat_completions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with HttpServer(Chat()).serving() as server:
        server.scripts = [Script([Say("Hello from afar.")])]
        config = CHAT.format(one=server.url)
        async with seated(tmp_path, config, monkeypatch) as (seat, composition):
            assert await seat.ask("hi") == "Hello from afar."
            assert seat.session.status.outcome == "completed"
            assert seat.session.status.served_model == "served-model-2026"
            assert seat.session.status.served_endpoint == ""
            usage = seat.session.meter.total()
            assert usage is not None
            assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (11, 7, 4)
            (view,) = seat.session.network()
            assert (view.transport, view.address) == ("bridge", server.url)
            assert "tui.bridge" in exposed(composition)
            assert KEY not in exposed(composition)
            await seat.ask("and again")
        assert [request.headers["authorization"] for request in server.requests] == [
            f"Bearer {KEY}"
        ] * 2
        assert server.requests[0].body["service_tier"] == "priority"
        said = server.heard[1].of("user", "assistant")
        assert [words for _, words in said][-3:] == ["hi", "Hello from afar.", "and again"]


async def test_esc_ends_that_request_and_the_next_turn_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with HttpServer(Chat()).serving() as server:
        server.scripts = [Script([Say("One two three four.", held=True)]), Script([Say("Five.")])]
        config = CHAT.format(one=server.url)
        async with seated(tmp_path, config, monkeypatch) as (seat, _):
            seat.session.submit(intents.Prompt("count"))
            await seat.until(lambda: seat.said())
            seat.session.submit(intents.Interrupt())
            await seat.idle()
            assert seat.session.status.outcome == "interrupted"
            async with asyncio.timeout(60):
                await server.requests[0].gone.wait()
            assert seat.session.abilities().interrupt
            assert (await seat.ask("go on")).endswith("Five.")


async def test_who_stands_in_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with HttpServer(Chat()).serving() as one, HttpServer(Anthropic()).serving() as two:
        one.scripts = [Script(instead=Status(503, message="We are full."))]
        two.scripts = [Script([Say("I am here.")])]
        config = CHAT.format(one=one.url) + STAND_IN.format(two=two.url)
        async with seated(tmp_path, config, monkeypatch) as (seat, composition):
            assert await seat.ask("hi") == "I am here."
            status = seat.session.status
            assert status.served_endpoint == "two"
            assert "We are full." in status.fallback_reason
            told = [trouble for trouble in seat.troubles if "instead" in trouble.what]
            assert [trouble.severity for trouble in told] == ["information"]
            assert KEY not in exposed(composition)
        assert two.requests[0].headers["x-api-key"] == f"{KEY}-two"
        assert KEY not in str(two.requests[0].headers).replace(f"{KEY}-two", "")
        assert f"{KEY}-two" not in str(one.requests[0].headers)


async def test_of_an_address_alone_it_is_found_out_what_it_speaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with HttpServer(Chat()).serving() as server:
        server.scripts = [Script([Say("Hello.")])]
        flags = {"endpoint": server.url, "fast": "m"}
        async with seated(tmp_path, "", monkeypatch, **flags) as (seat, _):
            assert await seat.ask("hi") == "Hello."
            assert await seat.ask("again") == "Hello.\nHello."
        assert len(server.requests) == 2


async def test_an_image_reaches_a_provider_and_one_that_refuses_it_is_not_sent_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with HttpServer(Chat()).serving() as server:
        blind = Status(400, "invalid_request_error", "this model does not support image input")
        server.scripts = [
            Script([Say("A grey square.")]),
            Script(instead=blind),
            Script([Say("ok")]),
        ]
        config = CHAT.format(one=server.url)
        async with seated(tmp_path, config, monkeypatch) as (seat, _):
            (tmp_path / "work" / "shot.png").write_bytes(png(64, 48))
            assert await seat.ask("what is @shot.png?") == "A grey square."
            url = f"data:image/png;base64,{b64encode(png(64, 48)).decode()}"
            assert str(server.requests[0].body).count(url) == 1
            (tmp_path / "work" / "shot.png").write_bytes(png(32, 32))
            await seat.ask("and now @shot.png?")
            assert seat.session.status.unsent == "and now @shot.png?"
            said = "This model takes no images: this model does not support image input"
            assert seat.texts(BlockKind.NOTE)[-1].startswith(said)
            await seat.ask("and now @shot.png?")
            assert len(server.requests) == 2
            assert seat.session.status.unsent == "and now @shot.png?"
            assert "m takes text only" in seat.texts(BlockKind.NOTE)[-1]
            await seat.ask("never mind")
            assert "data:image" not in str(server.requests[2].body)
            assert "The image itself is left out." in str(server.requests[2].body)


async def test_a_server_that_lists_its_model_as_blind_is_sent_no_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with HttpServer(Chat()).serving() as server:
        server.scripts = [Script([Say("ok")])]
        server.models = b'{"data": [{"id": "m", "architecture": {"input_modalities": ["text"]}}]}'
        config = CHAT.format(one=server.url)
        async with seated(tmp_path, config, monkeypatch) as (seat, _):
            (tmp_path / "work" / "shot.png").write_bytes(png(64, 48))
            await seat.ask("what is @shot.png?")
            assert "m takes text only" in seat.texts(BlockKind.NOTE)[-1]
            assert server.requests == []
            assert seat.session.abilities().images is False
