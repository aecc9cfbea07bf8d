"""The real command that serves a team: signals, files that change, TLS, and how it ends."""

from __future__ import annotations

import asyncio
import json
import signal
import ssl
import subprocess
import time
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.support.bridge_client import create, event, until
from tests.support.commands import Duetto, clean_environment, sentence
from tests.support.tables import each
from tests.support.team import Authority, asked, listening, team
from tui.bridge.team.service import Certificate, ListenAddress, check_exposure, listen_address
from tui.bridge.team.users_file import revoke_user
from tui.cli.main import run as command
from tui.errors import DuettoError, FileRefused, UsageError

pytestmark = pytest.mark.slow

LONG = {"model": "rehearsal-fast@100"}
THROTTLE = '{"type": "duetto.throttle", "tokens_s": %s}'


def run(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    return Duetto(folder, clean_environment(folder)).run("bridge", *arguments)


async def test_over_tls_with_tokens_and_no_stdin(tmp_path: Path) -> None:
    authority = Authority.at(tmp_path)
    cert, key = authority.issue()
    file, (anna,) = team(tmp_path, "anna")
    flags = ("--tls-cert", cert, "--tls-key", key, "--tokens", file)
    async with listening(tmp_path, *flags, at="0.0.0.0:0") as served:
        assert served.url == f"wss://0.0.0.0:{served.port}/v1/responses"
        assert served.token == ""
        tls = authority.client()
        async with served.dial(anna, tls) as socket:
            await create(socket, "hello")
            assert (await until(socket))[-1]["type"] == "response.completed"
        assert await asked(served.port, "/healthz", "", tls) == (200, b'{"status": "ok"}\n')
        with pytest.raises(ssl.SSLCertVerificationError):
            await served.dial(anna, ssl.create_default_context())
        with pytest.raises(InvalidStatus) as refused:
            await served.dial("duetto_wrong", tls)
        assert refused.value.response.status_code == 401
        # a renewed certificate serves new connections, half of one does not
        former = key.read_bytes()
        key.write_text("half")
        refused_one = (await served.until_noted("certificate_refused"))[0]
        assert "BEGIN PRIVATE KEY" in refused_one["why"]
        key.write_bytes(former)
        await served.until_noted("certificate_changed")
        cert, key = authority.issue()
        served.signal(signal.SIGHUP)
        await served.until_noted("certificate_changed", 2)
        renewed = ssl.PEM_cert_to_DER_cert(
            cert.read_text().partition("-----END")[0] + "-----END CERTIFICATE-----\n"
        )
        async with served.dial(anna, tls) as socket:
            shown = socket.transport.get_extra_info("ssl_object").getpeercert(True)
            assert shown == renewed
        served.signal()
        assert await served.ended() == 0
    assert anna not in served.log.read_text()


async def test_a_revoked_user_is_out_within_a_second_by_the_command(tmp_path: Path) -> None:
    file, (anna, bob) = team(tmp_path, "anna", "bob")
    async with (
        listening(tmp_path, "--tokens", file) as served,
        served.dial(anna) as first,
        served.dial(bob) as second,
    ):
        await create(second, "rehearse 9000 tokens", **LONG)
        await until(second, "response.output_text.delta")
        revoke_user(file, "bob")
        async with asyncio.timeout(60):
            with pytest.raises(ConnectionClosed) as closed:
                await until(second, "never")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008
        await create(first, "hello")
        assert (await until(first))[-1]["type"] == "response.completed"
        ran = await asyncio.to_thread(run, tmp_path, "token", "add", "carl", "--tokens", file)
        served.signal(signal.SIGHUP)
        await served.until_noted("users_changed", 2)
        async with served.dial(ran.stdout.decode().strip()):
            pass


async def test_sigterm_lets_running_responses_end_and_nobody_in(tmp_path: Path) -> None:
    file, (anna,) = team(tmp_path, "anna")
    async with listening(tmp_path, "--tokens", file) as served:
        async with served.dial(anna) as busy, served.dial(anna) as idle:
            await create(busy, "rehearse 3000 tokens", model="rehearsal-fast@2000")
            await busy.send(THROTTLE % "5")  # however long the rest takes
            await until(busy, "response.output_text.delta")
            served.signal()
            with pytest.raises(ConnectionClosed) as closed:
                await event(idle)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1012
            assert await asked(served.port, "/healthz") == (503, b'{"status": "draining"}\n')
            with pytest.raises(InvalidStatus) as refused:
                await served.dial(anna)
            assert refused.value.response.status_code == 503
            assert refused.value.response.headers["Retry-After"] == "1"
            await create(busy, "hello", stream_id="other")
            beside = (await until(busy))[-1]
            assert (beside["type"], beside["stream_id"]) == ("response.completed", "other")
            await busy.send(THROTTLE % "null")
            ended = (await until(busy))[-1]
            assert ended["type"] == "response.completed"
            assert ended["response"]["usage"]["output_tokens"] == 3000
            with pytest.raises(ConnectionClosed) as closed:
                await event(busy)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1012
        assert await served.ended() == 0


async def test_a_response_that_takes_too_long_is_cut_at_the_deadline(tmp_path: Path) -> None:
    async with listening(tmp_path, "--drain", "0.5") as served:
        async with served.dial(served.token) as socket:
            await create(socket, "rehearse 9000 tokens", **LONG)
            await until(socket, "response.output_text.delta")
            served.signal()
            with pytest.raises(ConnectionClosed) as closed:
                await until(socket, "never")
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1012
        assert await served.ended() == 0
        assert served.noted("response")[-1]["status"] == "abandoned"


async def test_a_second_signal_ends_at_once(tmp_path: Path) -> None:
    async with listening(tmp_path) as served, served.dial(served.token) as socket:
        await create(socket, "rehearse 9000 tokens", **LONG)
        await until(socket, "response.output_text.delta")
        served.signal()
        await served.until_noted("draining")
        await until(socket, "response.output_text.delta")
        served.signal()
        async with asyncio.timeout(60):
            assert await served.ended() == 0


@each(
    "flags, words",
    [
        (("--listen", "0.0.0.0:0"), "name the file of users with --tokens"),
        (("--listen", "0.0.0.0:0", "--tokens", "users.json"), "give --tls-cert and --tls-key"),
        (("--listen", "127.0.0.1:0", "--tokens", "none.json"), "there is no file of users"),
        (("--listen", "127.0.0.1:0", "--tls-cert", "none.pem"), "none.pem cannot be read"),
        (("--listen", "127.0.0.1:0", "--tls-key", "none.pem"), "of no use without --tls-cert"),
        (("--listen", "127.0.0.1"), "there is no port in it"),
        (("--listen", "127.0.0.1:0", "--port", "8443"), "--port is for a bridge of your own"),
        (("--listen", "127.0.0.1:0", "--log", "none/log"), "the log none/log cannot be written"),
        (("--listen", "127.0.0.1:0", "--config", "none.toml"), "none.toml"),
        (("--tokens", "users.json"), "add --listen HOST:PORT"),
        (("--drain", "3"), "add --listen HOST:PORT"),
        (("--user-in-flight", "3"), "add --listen HOST:PORT"),
        (("--endpoint", "grok"), "no provider 'grok'"),
    ],
)
def test_what_cannot_be_served_is_one_sentence(
    tmp_path_factory: pytest.TempPathFactory,
    flags: tuple[str, ...],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path_factory.mktemp("team")
    team(folder, "anna")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DUETTO_HOME", str(folder))
    assert command(["bridge", *flags]) in (1, 2)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("duetto: ")
    assert said.err.count("\n") == 1
    assert words in said.err


async def test_a_place_that_cannot_be_listened_at_is_told(tmp_path: Path) -> None:
    file, _ = team(tmp_path, "anna")
    flags = ("--listen", "192.0.2.7:0", "--tokens", file, "--behind-tls")
    ran = await asyncio.to_thread(run, tmp_path, *flags)
    assert "the bridge cannot listen at 192.0.2.7, port 0: " in sentence(ran, 2)
    async with listening(tmp_path) as served:
        at = f"127.0.0.1:{served.port}"
        ran = await asyncio.to_thread(run, tmp_path, "--listen", at)
        assert "the bridge cannot listen at" in sentence(ran, 2)


def test_tokens_by_the_command(tmp_path: Path) -> None:
    added = run(tmp_path, "token", "add", "anna", "--in-flight", "4", "--tokens", "users.json")
    token = added.stdout.decode().strip()
    assert added.returncode == 0
    assert token.startswith("duetto_")
    assert b"cannot be shown again" in added.stderr
    listed = run(tmp_path, "token", "list", "--tokens", "users.json")
    assert listed.stdout.decode().startswith("anna  2")
    assert listed.stdout.decode().endswith("in_flight 4\n")
    as_json = run(tmp_path, "token", "list", "--json", "--tokens", "users.json")
    assert json.loads(as_json.stdout)["anna"]["limits"] == {"in_flight": 4}
    assert "anna has a token" in sentence(
        run(tmp_path, "token", "add", "anna", "--tokens", "users.json"), 2
    )
    assert "did you mean 'anna'" in sentence(
        run(tmp_path, "token", "revoke", "ana", "--tokens", "users.json"), 2
    )
    assert run(tmp_path, "token", "revoke", "anna", "--tokens", "users.json").returncode == 0
    assert token not in (tmp_path / "users.json").read_text()
    assert run(tmp_path, "token", "list", "--tokens", "users.json").stdout == b""


async def test_half_a_request_does_not_hold_up_the_end(tmp_path: Path) -> None:
    """Probes of balancers open a connection and say nothing, or say no goodbye."""
    authority = Authority.at(tmp_path)
    cert, key = authority.issue()
    for flags in ((), ("--tls-cert", cert, "--tls-key", key)):
        async with listening(tmp_path, *flags) as served:
            writers = []
            for sent in (b"", b"GET /v1/resp", b"\x16\x03\x01\x02\x00", b"GET / HTTP/1.1\r\n\r\n"):
                _, writer = await asyncio.open_connection("127.0.0.1", served.port)
                writer.write(sent)
                await writer.drain()
                writers.append(writer)
            served.signal()
            async with asyncio.timeout(60):
                assert await served.ended() == 0
            for writer in writers:
                writer.close()


async def test_behind_a_balancer_that_ends_tls(tmp_path: Path) -> None:
    file, (anna,) = team(tmp_path, "anna")
    flags = ("--tokens", file, "--behind-tls")
    async with listening(tmp_path, *flags, at="0.0.0.0:0") as served:
        assert served.url.startswith("ws://0.0.0.0:")
        headers = {
            "X-Forwarded-For": "198.51.100.1, 203.0.113.9",
            "Authorization": f"Bearer {anna}",
        }
        url = f"ws://127.0.0.1:{served.port}/v1/responses"
        async with connect(url, additional_headers=headers, proxy=None) as socket:
            await create(socket, "hello")
            assert (await until(socket))[-1]["type"] == "response.completed"
        assert (await served.until_noted("connected"))[0]["peer"] == "203.0.113.9"
        # everybody comes from this machine now
        assert (await asked(served.port, "/metrics"))[0] == 401
        assert (await asked(served.port, "/metrics", anna))[0] == 200
        assert (await asked(served.port, "/healthz"))[0] == 200


@each(
    "text, host, port, near",
    [
        ("127.0.0.1:8443", "127.0.0.1", 8443, True),
        ("localhost:0", "localhost", 0, True),
        ("[::1]:8443", "::1", 8443, True),
        ("0.0.0.0:443", "0.0.0.0", 443, False),
        ("[::]:443", "::", 443, False),
        (":8443", "", 8443, False),
        ("*:8443", "", 8443, False),
        ("bridge.example.com:65535", "bridge.example.com", 65535, False),
        ("192.168.1.7:80", "192.168.1.7", 80, False),
    ],
)
def test_places(text: str, host: str, port: int, near: bool) -> None:
    assert listen_address(text) == ListenAddress(host, port)
    assert listen_address(text).near == near


@each(
    "text",
    [
        "",
        "8443",
        "localhost",
        "::1:8443",
        "localhost:65536",
        "localhost:-1",
        "a b:1",
        "http://x:1",
        "localhost:٣",
        "u@h:1",
        "[::1:80",
        "::1]:80",
    ],
)
def test_what_is_no_place_is_told(text: str) -> None:
    with pytest.raises(UsageError, match=r"^--listen .*: .*; use HOST:PORT"):
        listen_address(text)


def test_strangers_are_kept_out_before_anybody_listens() -> None:
    far, near = ListenAddress("0.0.0.0", 1), ListenAddress("127.0.0.1", 1)
    check_exposure(near, tls=False, tokens=False, fronted=False)
    check_exposure(far, tls=True, tokens=True, fronted=False)
    check_exposure(far, tls=False, tokens=True, fronted=True)
    with pytest.raises(UsageError, match="with --tokens"):
        check_exposure(far, tls=True, tokens=False, fronted=True)
    with pytest.raises(UsageError, match="--tls-cert and --tls-key, or --behind-tls"):
        check_exposure(far, tls=False, tokens=True, fronted=False)
    with pytest.raises(UsageError, match="every address can be reached"):
        check_exposure(ListenAddress("", 1), tls=True, tokens=False, fronted=False)


def test_an_address_is_shown_as_one() -> None:
    assert ListenAddress("::1", 0).url(8443, tls=True) == "wss://[::1]:8443/v1/responses"
    assert ListenAddress("", 0).url(80, tls=False) == "ws://0.0.0.0:80/v1/responses"


class TestCertificate:
    def test_wrong_ones_are_told_in_words(self, tmp_path: Path) -> None:
        authority = Authority.at(tmp_path)
        cert, key = authority.issue()
        _, other = authority.issue("other")
        text = tmp_path / "text.pem"
        text.write_text("hello")
        locked = tmp_path / "locked.key"
        locked.write_bytes(_encrypted(key.read_bytes()))
        cases: list[tuple[Path, Path | None, str]] = [
            (cert, other, "other.key is not that of the certificate .*server.pem"),
            (text, key, "not a certificate"),
            (cert, text, "not a certificate .* key in PEM"),
            (cert, None, "BEGIN PRIVATE KEY"),
            (key, key, "not a certificate"),
            (cert, locked, "locked.key is encrypted: give one without a password"),
            (tmp_path / "none.pem", key, "none.pem cannot be read: No such file"),
            (cert, tmp_path / "none.key", "none.key cannot be read: No such file"),
            (tmp_path, key, "cannot be read: Is a directory"),
        ]
        for one, its_key, words in cases:
            with pytest.raises(DuettoError, match=words) as wrong:
                Certificate(one, its_key)
            assert isinstance(wrong.value, UsageError | FileRefused)
            assert "\n" not in str(wrong.value)

    def test_one_that_has_ended_is_refused_and_the_end_of_others_is_known(
        self, tmp_path: Path
    ) -> None:
        authority = Authority.at(tmp_path)
        cert, key = authority.issue("server", 20)
        certificate = Certificate(cert, key)
        assert certificate.ends_unix_s == pytest.approx(time.time() + 20 * 86_400, abs=60)
        authority.issue("server", -1)
        with pytest.raises(UsageError, match=r"server\.pem has ended: renew it"):
            certificate.look()
        assert certificate.ends_unix_s > time.time()
        with pytest.raises(UsageError, match="has ended"):
            Certificate(cert, key)

    def test_one_file_may_hold_both(self, tmp_path: Path) -> None:
        cert, key = Authority.at(tmp_path).issue()
        both = tmp_path / "both.pem"
        both.write_bytes(cert.read_bytes() + key.read_bytes())
        assert Certificate(both, None).context.minimum_version == ssl.TLSVersion.TLSv1_2

    def test_a_renewed_one_is_taken_when_both_halves_are_there(self, tmp_path: Path) -> None:
        authority = Authority.at(tmp_path)
        cert, key = authority.issue()
        certificate, former = Certificate(cert, key), key.read_bytes()
        assert not certificate.look()
        authority.issue()
        renewed = key.read_bytes()
        key.write_bytes(former)
        with pytest.raises(UsageError, match="not that of"):
            certificate.look()
        assert not certificate.look()  # told once
        key.write_bytes(renewed)
        assert certificate.look()
        assert not certificate.look()


def _encrypted(key: bytes) -> bytes:
    private = serialization.load_pem_private_key(key, None)
    return private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )
