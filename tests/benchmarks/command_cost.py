"""What a command of the model costs: until it starts, and while it prints very much.

Run ``python -m tests.benchmarks.command_cost``. A scripted server calls the shell of the real
program. Printed are the milliseconds from the last token of a call to the process's start (the
clock of bash says when it began), plain and in the sandbox, and, while a command prints 100 MB, the
95th percentile of a key's echo and the growth of memory. `BUDGETS` says what is allowed; exit
status 1: something is beyond it.
"""

from __future__ import annotations

import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from websockets.asyncio.server import ServerConnection, serve

from tests.benchmarks.flood_cost import Peak
from tests.benchmarks.screen.measurement import pressed_keys
from tests.benchmarks.screen.terminal import Emulator, PseudoTerminal
from tests.support.commands import DUETTO, clean_environment

BUDGETS = {"start": 15.0, "start in the sandbox": 30.0, "key": 16.0, "grown": 20.0}
STARTS = 15
WHEN = "echo $EPOCHREALTIME"
MUCH = 'bash -c "yes 0123456789012345678901234567890123456789 | head -c 100000000; sleep 3"'
CONFIG = """schema = 1
[commands]
allow = ["echo", "head", "bash"]
[endpoints.script]
url = "ws://127.0.0.1:{port}/v1/responses"
kind = "responses-ws"
[models.fast]
name = "m"
endpoint = "script"
"""


class Caller:
    """A server whose model runs these commands, one a response."""

    def __init__(self, commands: list[str]) -> None:
        self._commands = commands
        self.called_s: list[float] = []
        """When the last token of each call left, by the clock of the day."""
        self.outputs: list[str] = []

    async def __call__(self, socket: ServerConnection) -> None:
        async for text in socket:
            event = json.loads(text)
            if event.get("type") == "response.create":
                await self._answer(socket, event)

    async def _answer(self, socket: ServerConnection, request: dict) -> None:
        async def say(kind: str, **fields: object) -> None:
            await socket.send(json.dumps({"type": kind, **fields}))

        self.outputs += [str(one["output"]) for one in request["input"] if "output" in one]
        number = len(self.called_s)
        response = {"id": f"resp_{number}", "status": "in_progress", "model": "m", "output": []}
        await say("response.created", response=response)
        if request.get("generate") is not False and number < len(self._commands):
            name = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}"}
            arguments = json.dumps({"command": self._commands[number]})
            item = {**name, "name": "shell", "arguments": ""}
            await say("response.output_item.added", output_index=0, item=item)
            delta = {"item_id": item["id"], "output_index": 0, "delta": arguments}
            await say("response.function_call_arguments.delta", **delta)
            item["arguments"] = arguments
            self.called_s.append(time.time())
            await say("response.output_item.done", output_index=0, item=item)
            response["output"] = [item]
        await say("response.completed", response={**response, "status": "completed"})


async def played(commands: list[str], work: Callable[[Path, dict[str, str]], None]) -> Caller:
    """Serve these commands while ``work`` runs in a thread, given a folder and its environment."""
    caller = Caller(commands)
    async with serve(caller, "127.0.0.1", 0, max_size=None) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
            home, folder = Path(place) / "home", Path(place) / "work"
            (home / "state").mkdir(parents=True, mode=0o700)
            (home / "state" / "first-run.json").write_text("{}\n")
            (home / "config.toml").write_text(CONFIG.format(port=port))
            folder.mkdir()
            await asyncio.to_thread(work, folder, clean_environment(home))
    return caller


def starts(mode: str) -> float:
    """Median of the milliseconds from a call's last token to its process."""

    def work(folder: Path, environment: dict[str, str]) -> None:
        command = [*DUETTO, "exec", "go", "--mode", mode]
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)

    line = f"bash -c '{WHEN}'"
    caller = asyncio.run(played([line] * STARTS, work))
    began = [
        float(found[1]) for said in caller.outputs if (found := re.search(r"(\d+\.\d+)$", said))
    ]
    assert len(began) == STARTS, caller.outputs
    waits = [(b - c) * 1000 for b, c in zip(began, caller.called_s, strict=True)]
    return statistics.median(waits)


def printing() -> tuple[float, float]:
    """Echo of keys (95th percentile, ms) and growth (MB) while a command prints 100 MB."""
    found: list[float] = []

    def work(folder: Path, environment: dict[str, str]) -> None:
        emulator = Emulator()
        with PseudoTerminal([*DUETTO, "."], environment, folder) as terminal:
            terminal.quits_with(b"\x11")
            terminal.rest(0.5)
            terminal.quiet(0.4, 10.0)
            terminal.rest(1.0)
            peak = Peak(terminal.pid)
            terminal.write(b"go")
            terminal.rest(0.3)
            terminal.write(b"\r")
            terminal.rest(0.5)
            pressed = pressed_keys(terminal, time.monotonic() + 4.0)
            terminal.rest(0.3)
            peak.look()
            terminal.rest(3.0)
            picture = emulator.read(terminal.take(), [text for _, text in pressed])
            waits = [(picture.seen.get(text, at_s + 10.0) - at_s) * 1000 for at_s, text in pressed]
            found.extend([sorted(waits)[int(0.95 * len(waits))], peak.grown])

    caller = asyncio.run(played([MUCH], work))
    assert any("bytes left out" in said for said in caller.outputs), caller.outputs
    return found[0], found[1]


def main() -> int:
    """Print each figure beside what is allowed."""
    key, grown = printing()
    figures = {
        "start": starts("manual"),
        "start in the sandbox": starts("sandbox"),
        "key": key,
        "grown": grown,
    }
    for name, value in figures.items():
        unit = "MB" if name == "grown" else "ms"
        print(f"{name:22} {value:8.1f} {unit}   allowed {BUDGETS[name]:g}")
    return int(any(value > BUDGETS[name] for name, value in figures.items()))


if __name__ == "__main__":
    sys.exit(main())
