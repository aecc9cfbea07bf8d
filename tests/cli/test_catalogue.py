"""Who could answer on this machine, found at the first start without asking anyone."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from tui.cli import catalogue
from tui.cli.practice import look_around
from tui.engine.connecting import FoundHere, ModelSource
from tui.settings import Paths

KEY = "sk-correct-horse-battery"
LIST = json.dumps({"data": [{"id": "qwen3:32b"}, {"id": "qwen3:8b"}]}).encode()

Where = tuple[Paths, Path | None, Mapping[str, str]]
"""Home, current folder and environment."""


class Server:
    """Says one thing to everybody, and keeps what it was asked."""

    def __init__(self, said: bytes | None) -> None:
        self.said = said
        """None: nothing, ever."""
        self.heard: list[bytes] = []
        self.port = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            self.heard.append(await reader.readuntil(b"\r\n\r\n"))
            if self.said is None:
                await asyncio.sleep(30)
            writer.write(self.said or b"")
            await writer.drain()
        writer.close()


def http(body: bytes, status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body


@contextlib.asynccontextmanager
async def serving(said: bytes | None) -> AsyncIterator[Server]:
    server = Server(said)
    listening = await asyncio.start_server(server.answer, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()


@pytest.fixture(autouse=True)
def _nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """What really runs on this machine is none of the tests' business."""
    monkeypatch.setattr(catalogue, "SERVERS", ())


def place(tmp_path: Path, port: int = 0, **environment: str) -> Where:
    """A home in which the one server of one's own listens on this port."""
    paths = Paths.find({"DUETTO_HOME": str(tmp_path)})
    paths.providers_dir.mkdir(parents=True, exist_ok=True)
    for name in ("ollama", "lmstudio", "llamacpp", "vllm", "sglang", "litellm"):
        (paths.providers_dir / f"{name}.toml").write_text("port = 1\n")
    if port:
        text = (
            f'title = "Mine"\nkind = "openai-chat"\nurl = "http://127.0.0.1:{port}/v1"\n'
            f'port = {port}\nkey_env = "MINE_KEY"\nkey_optional = true\n'
        )
        (paths.providers_dir / "mine.toml").write_text(text)
    return paths, None, environment


async def looked(where: Where) -> tuple[tuple[ModelSource, ...], Mapping[str, FoundHere]]:
    told: dict[str, FoundHere] = {}
    found = await look_around(*where, lambda one: told.__setitem__(one.name, one))
    return tuple(source for source in found if source.ready), told


async def test_a_server_names_its_models_smallest_first(tmp_path: Path) -> None:
    async with serving(http(LIST)) as server:
        sources, told = await looked(place(tmp_path, server.port))
    assert [one.model for one in sources[0].models] == ["qwen3:8b", "qwen3:32b"]
    assert told["Mine"] == FoundHere("Mine", f"2 models on 127.0.0.1:{server.port}", "found")


async def test_no_key_is_sent_to_whoever_listens(tmp_path: Path) -> None:
    async with serving(http(LIST)) as server:
        await looked(place(tmp_path, server.port, MINE_KEY=KEY, GROQ_API_KEY=KEY))
        assert server.heard
        assert KEY.encode() not in b"".join(server.heard)


@pytest.mark.parametrize(
    "said",
    [
        http(b"<html>a page</html>"),
        http(b'{"data": []}'),
        http(b"not json"),
        http(b"{}", "404 Not FoundHere"),
        http(b"{}", "500 Oops"),
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x00\xff" * 200,
        b"",
    ],
    ids=["page", "no models", "no json", "404", "500", "ssh", "bytes", "hangs up"],
)
async def test_whoever_else_listens_there_is_said_and_not_offered(
    tmp_path: Path, said: bytes
) -> None:
    async with serving(said) as server:
        sources, told = await looked(place(tmp_path, server.port))
    assert sources == ()
    assert told["Mine"].state == "odd"
    assert f"something on 127.0.0.1:{server.port}" in told["Mine"].words


async def test_one_who_hangs_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "LIST_S", 0.2)
    async with serving(None) as server, asyncio.timeout(60):
        sources, told = await looked(place(tmp_path, server.port))
    assert sources == ()
    assert "No answer within" in told["Mine"].words


async def test_one_who_wants_a_key_is_offered_with_it(tmp_path: Path) -> None:
    async with serving(http(b"{}", "401 No")) as server:
        sources, _ = await looked(place(tmp_path, server.port, MINE_KEY=KEY))
        assert [source.name for source in sources] == ["mine"]
        assert "MINE_KEY" in sources[0].asks
        assert KEY not in str(sources)


async def test_a_provider_whose_address_is_not_known_says_what_is_missing(tmp_path: Path) -> None:
    sources, told = await looked(place(tmp_path, AZURE_OPENAI_API_KEY=KEY))
    assert sources == ()
    assert told["Azure OpenAI"].state == "odd"
    assert "AZURE_OPENAI_ENDPOINT" in told["Azure OpenAI"].words


async def test_nothing_at_all_is_no_error(tmp_path: Path) -> None:
    sources, _ = await looked(place(tmp_path))
    assert sources == ()


async def test_what_breaks_while_one_looks_leaves_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(port: int) -> bool:
        raise RuntimeError(f"a bug at {port}")

    monkeypatch.setattr(catalogue, "_listens", broken)
    sources, told = await looked(place(tmp_path, 1, GROQ_API_KEY=KEY))
    assert [source.name for source in sources] == ["groq"]
    assert told["Groq"].state == "found"


async def test_a_folder_with_tests_says_how_they_are_run(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "test_one.py").write_text("")
    paths, _, _ = place(tmp_path)
    _, told = await looked((paths, tmp_path / "work", {}))
    assert told["tests"] == FoundHere("tests", "pytest found", "found")
