"""A terminal client of no make, for the benchmark's peers: a prompt line, Chat Completions, text.

It finds its server as pi does: in models.json of the folder that PI_CODING_AGENT_DIR names.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import termios
import tty
from pathlib import Path

import aiohttp


def show(text: str) -> None:
    """Write to the terminal."""
    sys.stdout.write(text.replace("\n", "\r\n"))
    sys.stdout.flush()


async def answer(url: str, prompt: str) -> None:
    """Ask, and show the answer as it comes."""
    messages = [{"role": "user", "content": prompt}]
    body = {"model": "replay", "stream": True, "messages": messages}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/chat/completions", json=body) as response,
    ):
        async for line in response.content:
            if line.startswith(b"data: {"):
                for choice in json.loads(line[6:])["choices"]:
                    show(choice["delta"].get("content", ""))
    show("\n> ")


async def main() -> None:
    """Read keys until two of Ctrl+C."""
    folder = Path(os.environ["PI_CODING_AGENT_DIR"])
    providers = json.loads((folder / "models.json").read_text())["providers"]
    url = next(iter(providers.values()))["baseUrl"]
    tty.setraw(0, termios.TCSANOW)
    keys: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    loop.add_reader(0, lambda: keys.put_nowait(os.read(0, 4096).decode()))
    show("> ")
    typed, asking = "", None
    while True:
        for key in await keys.get():
            if key == "\x03":
                return
            if key == "\x1b" and asking is not None:
                asking.cancel()
            elif key == "\r":
                asking, typed = asyncio.create_task(answer(url, typed)), ""
            elif key == "\x7f":
                typed = typed[:-1]
            else:
                typed += key
                show(key)


if __name__ == "__main__":
    asyncio.run(main())
