"""Tokens, limits and pages of a team's bridge, over real sockets."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, cast
from unittest.mock import Mock

import pytest
from websockets.asyncio.client import connect
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.http11 import Request

from tests.support.bridge_client import QUICK, create, event, prose, until
from tests.support.endpoint_servers import HttpServer, Say, Script, Status
from tests.support.endpoint_servers_anthropic import Anthropic
from tests.support.endpoint_servers_chat import Chat
from tests.support.team import Served, asked, dial_at, listening, team
from tui.bridge import client_connection
from tui.bridge.client_transport import ClientTransport
from tui.bridge.server import Bridge
from tui.bridge.team import access_control
from tui.bridge.team.access_control import TeamAccess
from tui.bridge.team.access_log import AccessLog, FaultHandler
from tui.bridge.team.users_file import Limits, UsersFile, add_user, revoke_user

WORDS = "the moon over the harbour"


class Stand:
    """A bridge with a gate, and the lines that it has logged."""

    def __init__(self, folder: Path, *names: str, **limits: int) -> None:
        self.file, self.tokens = team(folder, *names)
        self.log = folder / "log"
        self.access_log = AccessLog(self.log)
        self.access = TeamAccess(UsersFile(self.file), self.access_log, Limits(**limits))
        self.bridge = Bridge(QUICK, access=self.access)
        self.access.endpoints = self.bridge.endpoints

    def dial(self, user: int = 0) -> connect:
        return dial_at(self.bridge.port, self.tokens[user])

    async def metrics(self) -> dict[str, float]:
        status, page = await asked(self.bridge.port, "/metrics", self.tokens[0])
        assert status == 200
        lines = [line for line in page.decode().splitlines() if not line.startswith("#")]
        return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}

    def lines(self, event: str) -> list[dict[str, Any]]:
        """What was logged; the log is closed."""
        self.access_log.close()
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [line for line in lines if line["event"] == event]


@pytest.fixture
async def stand(tmp_path: Path) -> AsyncIterator[Stand]:
    made = Stand(tmp_path, "anna", "bob")
    await made.bridge.start()
    yield made
    await made.bridge.close()
    made.access_log.close()


async def test_each_user_comes_in_with_a_token_and_nobody_else(stand: Stand) -> None:
    for user in (0, 1):
        async with stand.dial(user) as socket:
            await create(socket, "hello")
            assert (await until(socket))[-1]["type"] == "response.completed"
    for token in ("", "duetto_wrong", stand.tokens[0] + "x", "\udcff\udcfe"):
        status, page = await asked(stand.bridge.port, "/v1/responses", token)
        assert status == 401
        assert json.loads(page)["error"]["code"] == "invalid_api_key"
    assert (await asked(stand.bridge.port, "/v1/models"))[0] == 401
    assert (await asked(stand.bridge.port, "/v1/models", stand.tokens[1]))[0] == 200


async def test_who_is_revoked_is_out_and_nobody_else(stand: Stand) -> None:
    async with stand.dial(0) as anna, stand.dial(1) as bob:
        for socket in (anna, bob):
            await create(socket, "rehearse 9000 tokens", model="rehearsal-fast@200")
            await until(socket, "response.output_text.delta")
        revoke_user(stand.file, "bob")
        await stand.access.look()
        with pytest.raises(ConnectionClosed) as closed:
            await until(bob, "never")
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (
            1008,
            "This token was revoked",
        )
        await until(anna, "response.output_text.delta")
        with pytest.raises(InvalidStatus) as refused:
            await stand.dial(1)
        assert refused.value.response.status_code == 401


async def test_why_the_users_could_not_be_read_is_in_the_log(stand: Stand) -> None:
    stand.file.write_text("no list of users")
    await stand.access.look()
    (line,) = stand.lines("users_changed")
    assert "is not a file of users" in line["why"]


async def test_who_is_revoked_in_mid_upgrade_is_sent_off(stand: Stand) -> None:
    closed = asyncio.get_running_loop().create_future()

    class Upgraded:
        request = Request("/v1/responses", Headers(Authorization="Bearer duetto_revoked"))
        peer = "127.0.0.1"

        async def close(self, code: int, reason: str) -> None:
            closed.set_result((code, reason))

        def abort(self) -> None:
            pass

    with stand.access.admit(cast("ClientTransport", Upgraded())):
        async with asyncio.timeout(60):
            assert await closed == (1008, "This token was revoked")
    assert not stand.access.connections


async def test_who_comes_again_under_the_same_name_has_the_new_token_only(stand: Stand) -> None:
    async with stand.dial(1) as former:
        revoke_user(stand.file, "bob")
        stand.tokens[1] = add_user(stand.file, "bob", Limits())
        await stand.access.look()
        with pytest.raises(ConnectionClosed):
            await event(former)
        async with stand.dial(1) as socket:
            await create(socket, "hello")
            assert (await until(socket))[-1]["type"] == "response.completed"


async def test_connections_of_one_user_are_limited(tmp_path: Path) -> None:
    stand = Stand(tmp_path, "anna", "bob", connections=2)
    await stand.bridge.start()
    async with stand.dial(), stand.dial() as second:
        with pytest.raises(InvalidStatus) as refused:
            await stand.dial()
        assert refused.value.response.status_code == 429
        assert refused.value.response.headers["Retry-After"] == "1"
        assert json.loads(refused.value.response.body)["error"]["message"] == (
            "You have 2 connections open, as many as you may: close one."
        )
        # what is no connection is not counted as one
        assert (await asked(stand.bridge.port, "/v1/models", stand.tokens[0]))[0] == 200
        async with stand.dial(1):
            pass
        await second.close()
        while len(stand.access.connections) > 1:
            await asyncio.sleep(0.01)
        async with stand.dial():
            pass
    await stand.bridge.close()
    stand.access_log.close()


async def test_responses_in_flight_are_limited_over_all_connections(tmp_path: Path) -> None:
    stand = Stand(tmp_path, "anna", "bob", in_flight=2)
    await stand.bridge.start()
    async with stand.dial() as one, stand.dial() as two, stand.dial(1) as bob:
        for lane in ("a", "b"):
            await create(one, "rehearse 9000 tokens", model="rehearsal-fast@50", stream_id=lane)
        created = (await until(one, "response.created"))[-1]
        await until(one, "response.created")
        await create(two, "hello", stream_id="c")
        refused = (await until(two, "error"))[-1]
        assert refused["stream_id"] == "c"
        assert refused["status"] == 429
        assert refused["error"]["code"] == "rate_limit_exceeded"
        assert refused["headers"] == {"retry-after": "1"}
        assert "2 of your responses are in flight" in refused["error"]["message"]
        await create(bob, "hello")
        assert (await until(bob))[-1]["type"] == "response.completed"
        interrupt = {"type": "response.interrupt", "response_id": created["response"]["id"]}
        await one.send(json.dumps({**interrupt, "mode": "discard_partial_items"}))
        await until(one, "response.incomplete")
        await create(two, "hello", stream_id="c")
        assert (await until(two))[-1]["type"] == "response.completed"
    await stand.bridge.close()
    stand.access_log.close()


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"requests_minute": 2}, "You may ask for 2 responses a minute: wait "),
        ({"tokens_minute": 300}, "You may use 300 tokens a minute: wait "),
    ],
)
async def test_a_minute_is_limited_for_one_user_only(
    tmp_path: Path, limits: dict[str, int], words: str
) -> None:
    stand = Stand(tmp_path, "anna", "bob", **limits)
    await stand.bridge.start()
    async with stand.dial() as anna, stand.dial(1) as bob:
        for socket in (anna, anna, bob):
            await create(socket, "hello")
            assert (await until(socket))[-1]["type"] == "response.completed"
        await create(anna, "hello")
        refused = (await until(anna))[-1]
        assert refused["error"]["message"].startswith(words)
        assert 50 <= int(refused["error"]["headers"]["retry-after"]) <= 60
        await create(bob, "hello")
        assert (await until(bob))[-1]["type"] == "response.completed"
        # a prewarm is no response
        await create(anna, "hello", generate=False)
        assert (await until(anna))[-1]["type"] == "response.completed"
    await stand.bridge.close()
    stand.access_log.close()


async def test_health_needs_no_token_and_says_nothing(stand: Stand) -> None:
    assert await asked(stand.bridge.port, "/healthz") == (200, b'{"status": "ok"}\n')
    assert (await asked(stand.bridge.port, "/healthz?probe=1"))[0] == 200
    stand.access.drain()
    assert await asked(stand.bridge.port, "/healthz") == (503, b'{"status": "draining"}\n')


async def test_figures_are_for_users_and_for_this_machine(stand: Stand) -> None:
    port = stand.bridge.port
    assert (await asked(port, "/metrics"))[0] == 200
    assert (await asked(port, "/metrics", stand.tokens[0]))[0] == 200
    for lines in (
        ("Host: rebound.example",),
        ("Host: localhost", "X-Forwarded-For: 203.0.113.9"),
        ("Host: localhost", "Forwarded: for=203.0.113.9"),
        ("Host: ]["),
    ):
        shown = (lines,) if isinstance(lines, str) else lines
        assert (await asked(port, "/metrics", "", None, *shown))[0] == 401
        assert (await asked(port, "/metrics", stand.tokens[0], None, *shown))[0] == 200
    lines = ("Host: localhost", "Origin: https://evil.example")
    assert (await asked(port, "/metrics", "", None, *lines))[0] == 403


async def test_figures_count_and_say_nothing_of_anybody(stand: Stand) -> None:
    async with stand.dial() as socket:
        await create(socket, WORDS)
        tokens = (await until(socket))[-1]["response"]["usage"]
        await create(socket, WORDS, model=WORDS)
        assert (await until(socket))[-1]["type"] == "error"
        figures = await stand.metrics()
    at = 'endpoint="",model="rehearsal-fast"'
    assert figures["duetto_connections"] == 1
    assert figures["duetto_users"] == 2
    assert figures[f'duetto_responses_total{{{at},status="completed"}}'] == 1
    assert figures['duetto_responses_total{endpoint="",model="",status="refused"}'] == 1
    assert figures[f'duetto_tokens_total{{direction="input",{at}}}'] == tokens["input_tokens"]
    assert figures[f'duetto_tokens_total{{direction="output",{at}}}'] == tokens["output_tokens"]
    assert figures[f"duetto_ttft_seconds_count{{{at}}}"] == 1
    errors = {name: count for name, count in figures.items() if "duetto_errors_total" in name}
    assert list(errors.values()) == [1]
    assert 'code="model_not_found"' in next(iter(errors))
    text = "\n".join(figures)
    assert not any(secret in text for secret in (WORDS, "anna", "bob", *stand.tokens))


def test_what_nobody_counted_is_estimated() -> None:
    asked = Mock(chars=9, full_input=["say it"], request={"instructions": "in short"})
    assert access_control._estimated(asked) == {"input_tokens": 3, "output_tokens": 3}


async def test_the_log_says_who_when_and_how_much_and_not_what(stand: Stand) -> None:
    async with stand.dial() as socket:
        await create(socket, WORDS)
        completed = (await until(socket))[-1]["response"]
        await create(socket, WORDS, model=WORDS)
        await until(socket)
        await create(socket, "rehearse 9000 tokens", model="rehearsal-fast@50")
        await until(socket, "response.output_text.delta")
    await asked(stand.bridge.port, "/v1/responses", "duetto_wrong")
    while stand.access.connections:
        await asyncio.sleep(0.01)
    responses = stand.lines("response")
    assert [line["status"] for line in responses] == ["completed", "refused", "abandoned"]
    assert responses[2]["input_tokens"] >= 5  # nobody counted: it is estimated
    assert responses[2]["output_tokens"] >= 1
    first = responses[0]
    assert (first["user"], first["model"]) == ("anna", "rehearsal-fast")
    assert first["output_tokens"] == completed["usage"]["output_tokens"]
    assert 0 <= first["ttft_s"] <= first["seconds"]
    assert responses[1]["code"] == "model_not_found"
    assert stand.lines("disconnected")[0]["responses"] == 3
    assert stand.lines("turned_away")[0]["reason"] == "token"
    text = stand.log.read_text()
    assert not any(secret in text for secret in (WORDS, "rehearse", "wrong", *stand.tokens))


async def test_a_fault_is_logged_without_its_words(tmp_path: Path) -> None:
    log = AccessLog(tmp_path / "log")
    logger = logging.getLogger("tests.fault")
    logger.propagate = False
    logger.addHandler(FaultHandler(log))
    try:
        json.loads(WORDS)
    except ValueError as error:
        logger.error("broke over %s", WORDS, exc_info=error)
    logger.warning("only %s", WORDS)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(client_connection, "_log", logger)
        client_connection.log_without_words("a run broke", KeyError(WORDS))
    log.close()
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["fault"] * 3
    assert (lines[2]["what"], lines[2]["error"]) == ("a run broke", "KeyError")
    assert lines[0]["error"] == "JSONDecodeError"
    assert lines[0]["where"].startswith("decoder.py:")
    assert WORDS not in str(lines)


def test_a_log_that_was_moved_away_goes_on_under_its_name(tmp_path: Path) -> None:
    file = tmp_path / "log"
    log = AccessLog(file)
    log.note("first", text="x" * 500 + "\udcff\n")
    while not file.read_text():
        pass
    file.rename(tmp_path / "log.1")
    log.reopen()
    log.note("second")
    log.close()
    assert json.loads(file.read_text())["event"] == "second"
    first = json.loads((tmp_path / "log.1").read_text())
    assert len(first["text"]) == 128
    assert file.stat().st_mode & 0o777 == 0o600


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


@pytest.mark.slow
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


@pytest.mark.slow
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
