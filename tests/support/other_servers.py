"""The servers of another make, run as programs."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

TESTS = Path(__file__).parent.parent
FOLDER = TESTS / "counterparts/servers"


def free_ports(count: int) -> list[int]:
    """Consecutive free ports on loopback."""
    while True:
        with socket.socket() as first:
            first.bind(("127.0.0.1", 0))
            port = int(first.getsockname()[1])
            try:
                for number in range(1, count):
                    with socket.socket() as other:
                        other.bind(("127.0.0.1", port + number))
            except OSError:
                continue
        return list(range(port, port + count))


@asynccontextmanager
async def running(script: str, *arguments: str) -> AsyncIterator[str]:
    """Run one until the block ends; gives its URL."""
    port = free_ports(2)[0]
    path = FOLDER / script
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(path),
        "--port",
        str(port),
        *arguments,
        stdout=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(60):
            while not await _listens(port):
                assert process.returncode is None, f"{script} ended"
                await asyncio.sleep(0.05)
        yield f"ws://127.0.0.1:{port}/v1/responses"
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True
