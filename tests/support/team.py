"""A team's bridge for tests: in this process with a gate, or the real command with its log."""

from __future__ import annotations

import asyncio
import datetime
import json
import os
import signal
import ssl
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trustme
from websockets.asyncio.client import connect

from tests.support.commands import DUETTO, clean_environment
from tui.bridge.team.users_file import Limits, add_user

WAIT_S = 120
"""Long, for a busy machine: it is only ever reached by what fails."""


@dataclass(frozen=True)
class Authority:
    """Certificates of a test."""

    folder: Path
    authority: trustme.CA

    @classmethod
    def at(cls, folder: Path) -> Authority:
        return cls(folder, trustme.CA())

    def issue(self, name: str = "server", days: int = 30) -> tuple[Path, Path]:
        """A certificate and its key, written where the former of this name were."""
        ends = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)
        issued = self.authority.issue_cert("localhost", "127.0.0.1", not_after=ends)
        cert, key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        cert.write_bytes(issued.cert_chain_pems[0].bytes())
        key.write_bytes(issued.private_key_pem.bytes())
        return cert, key

    def client(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        self.authority.configure_trust(context)
        return context


@dataclass
class Served:
    """The real command, which listens."""

    process: asyncio.subprocess.Process
    url: str
    token: str
    log: Path

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2].partition("/")[0])

    def dial(self, token: str, tls: ssl.SSLContext | None = None, **options: Any) -> connect:
        return dial_at(self.port, token, tls, **options)

    def noted(self, event: str = "") -> list[dict[str, Any]]:
        """The lines of the log, of one event."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [line for line in lines if event in ("", line["event"])]

    async def until_noted(self, event: str, count: int = 1) -> list[dict[str, Any]]:
        async with asyncio.timeout(WAIT_S):
            while len(found := self.noted(event)) < count:
                await asyncio.sleep(0.01)
        return found

    def signal(self, number: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(number)

    async def ended(self) -> int:
        async with asyncio.timeout(WAIT_S):
            return await self.process.wait()


def dial_at(port: int, token: str, tls: ssl.SSLContext | None = None, **options: Any) -> connect:
    scheme = "wss" if tls else "ws"
    url = f"{scheme}://localhost:{port}/v1/responses"
    headers = {"Authorization": f"Bearer {token}"}
    return connect(url, additional_headers=headers, ssl=tls, proxy=None, max_size=None, **options)


@asynccontextmanager
async def listening(
    home: Path, *flags: str | Path, at: str = "127.0.0.1:0", extra: Sequence[str] = ()
) -> AsyncIterator[Served]:
    """The command with these flags; it is killed if the test has not ended it."""
    log = home / f"bridge-{os.urandom(4).hex()}.log"
    command = [*DUETTO, "bridge", "--listen", at, "--log", log, *flags]
    process = await asyncio.create_subprocess_exec(
        *map(str, command),
        cwd=home,
        env=clean_environment(home) | dict(pair.split("=", 1) for pair in extra),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=sys.stderr,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(WAIT_S):
            said = json.loads(await process.stdout.readline())
        yield Served(process, said["url"], said.get("token", ""), log)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def team(folder: Path, *names: str, **limits: int) -> tuple[Path, list[str]]:
    """A file of users, and their tokens."""
    file = folder / "users.json"
    return file, [add_user(file, name, Limits(**limits)) for name in names]


async def asked(
    port: int, path: str, token: str = "", tls: ssl.SSLContext | None = None, *lines: str
) -> tuple[int, bytes]:
    """A plain GET: status and body."""
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", port, ssl=tls, server_hostname=("localhost" if tls else None)
    )
    head = [f"GET {path} HTTP/1.1", *(lines or ("Host: localhost",))]
    if token:
        head.append(f"Authorization: Bearer {token}")
    writer.write("\r\n".join([*head, "", ""]).encode("utf-8", "surrogateescape"))
    async with asyncio.timeout(WAIT_S):
        whole = await reader.read()
    writer.close()
    status, _, rest = whole.partition(b"\r\n")
    return int(status.split()[1]), rest.partition(b"\r\n\r\n")[2]
