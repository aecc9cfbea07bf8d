"""Follows a token, an Esc, an accept and a key through the real program: who of ours calls whom.

`python -m tests.walks` writes what it found into docs/house.md, where `tests/test_walks.py` reads
it. A hop is one of our functions on the chain of nested calls that leads to the effect.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

from textual.pilot import Pilot

from tests.support.fakes import FakeRunner
from tests.support.fault_stand import PATIENT
from tests.support.nasty_server import Nasty, nasty
from tests.support.nasty_steps import Gate, Step
from tests.support.scripted_app import until
from tests.support.server_words import added, completed, created, done, patch_call
from tests.support.turns import CACHE, PATCH
from tui.core.wire.address import Address
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.effects.system import MonotonicClock
from tui.effects.wire.endpoint import Endpoint
from tui.engine import intents
from tui.engine.ports import MAIN_LANE, Ports, RoleSpec
from tui.engine.session import Session
from tui.ui.app import DuettoApp

ROOT = Path(__file__).parents[1]
HOUSE = ROOT / "docs" / "house.md"
OURS = f"{ROOT / 'tui'}/"
Walk = tuple[str, ...]
"""Each hop as ``file function``, the outermost first."""
WALKS = {
    "token": "a line of a patch, from the bytes of the socket to the buffer",
    "frame": "what it changed, from the frame's turn to the repaint of the editor's rows",
    "esc": "Esc, from the key to the wire",
    "key": "a key in the editor, from Textual's dispatch to the buffer",
    "echo": "the same key to its repaint, which waits for no tick",
    "accept": "accept, from the key to the file",
}
_BLOCK = re.compile(r"```walks\n(.*?)```", re.DOTALL)


@contextmanager
def followed(*effects: str) -> Iterator[list[Walk]]:
    """Write down the chain of our calls at every call of these functions.

    Each is named as ``file name``; the system's own as ``os name``.
    """
    found: list[Walk] = []

    def look(frame: FrameType, event: str, argument: object) -> None:
        called = _name(frame) if event == "call" else ""
        if event == "c_call" and getattr(argument, "__module__", "") == "posix":
            called = f"os {getattr(argument, '__name__', '')}"
        if called in effects:
            found.append(_chain(frame))

    sys.setprofile(look)
    try:
        yield found
    finally:
        sys.setprofile(None)


def _name(frame: FrameType) -> str:
    """File and function of a frame: the path in our package, or the name of another's file."""
    code = frame.f_code
    ours = code.co_filename.startswith(OURS)
    where = code.co_filename.removeprefix(OURS) if ours else Path(code.co_filename).name
    return f"{where} {code.co_qualname}"


def _chain(frame: FrameType | None) -> Walk:
    """Our functions that are being called, the outermost first."""
    chain: list[str] = []
    while frame is not None:
        if frame.f_code.co_filename.startswith(OURS):
            chain.append(_name(frame))
        frame = frame.f_back
    return tuple(reversed(chain))


def _script(gates: list[asyncio.Event]) -> list[list[Step]]:
    """A patch that waits in front of a line and of its end; then an answer that does not come."""
    item = patch_call(PATCH)
    line = PATCH.index("+            self.items")
    parts = (PATCH[:line], PATCH[line:-20], PATCH[-20:])
    kind = {"type": "response.custom_tool_call_input.delta", "item_id": item["id"]}
    deltas = [{**kind, "output_index": 0, "delta": part} for part in parts]
    start = added({**item, "input": "", "status": "in_progress"})
    script: list[Step] = [created("resp_1"), start, deltas[0], Gate(gates[0]), deltas[1]]
    end: list[Step] = [Gate(gates[1]), deltas[2], done(item), completed("resp_1")]
    rest: list[Step] = [created("resp_2"), Gate(gates[2]), completed("resp_2")]
    return [[*script, *end], rest]


async def walked(root: Path) -> dict[str, Walk]:
    """Play a turn in the app, over a real socket and real files; what was walked."""
    (root / "cache.py").write_text(CACHE)
    gates = [asyncio.Event() for _ in range(3)]
    walks: dict[str, Walk] = {}
    async with nasty(Nasty(_script(gates), interrupt="accept")) as url:
        endpoint = Endpoint("scripted", partial(_address, url), MonotonicClock(), options=PATIENT)
        files = Files(root, Listing(root))
        ports = Ports(
            wires=lambda name, lane=MAIN_LANE: endpoint.lane(lane),
            clock=MonotonicClock(),
            files=files,
            runner=FakeRunner(),
        )
        session = Session(ports, {"fast": RoleSpec("fast", "m", "scripted")})
        app = DuettoApp(session, workspace=str(root))
        async with app.run_test(size=(140, 40)) as pilot:
            session.submit(intents.OpenFile("cache.py"))
            session.submit(intents.Prompt("go"))
            hunks = session.workspace.hunks
            await until(pilot, lambda: hunks and "self.lock" in _text(session))
            await pilot.pause()
            with followed("core/text/buffer.py Buffer.replace", REPAINT) as found:
                gates[0].set()
                await until(pilot, lambda: "            self.items" in _text(session))
                await until(pilot, lambda: any(map(_is_repaint, found)))

            walks["token"] = _first(found, "effects/wire/frames.py")
            walks["frame"] = next(filter(_is_repaint, found))

            gates[1].set()
            await until(pilot, lambda: any(hunk.decidable for hunk in hunks))
            app.bench.editor.focus_editor()
            await pilot.pause()
            with followed("os replace", "os rename") as found:
                await pilot.press("alt+a")
                await until(pilot, lambda: "self.lock" in (root / "cache.py").read_text())
            walks["accept"] = found[0]
            await until(pilot, lambda: session.status.busy and session.status.connection == "ready")
            with followed("protocol.py Protocol.send_text") as found:
                await pilot.press("escape")
                await until(pilot, lambda: session.status.stopping or not session.status.busy)
            walks["esc"] = found[0]
            gates[2].set()
            await until(pilot, lambda: not session.status.busy)
            walks |= await _key_walks(app, pilot)
        await session.close()
        await endpoint.close()
    return walks


async def _key_walks(app: DuettoApp, pilot: Pilot[int]) -> dict[str, Walk]:
    app.bench.editor.focus_editor()
    await pilot.pause()
    with followed("core/text/buffer.py Buffer.replace", PAINT_SOON) as found:
        await pilot.press("z")
    echo = next(walk for walk in found if walk[-1] == PAINT_SOON)
    return {"key": _first(found, "ui/editor/editor.py"), "echo": echo}


REPAINT = "ui/editor/editor.py Editor.repaint"
PAINT_SOON = "ui/painting/screen.py PaintedScreen.paint_soon"


def _text(session: Session) -> str:
    return session.workspace.buffers["cache.py"].text()


def _is_repaint(walk: Walk) -> bool:
    return walk[0].startswith("ui/tick.py") and walk[-1] == REPAINT


def _first(found: list[Walk], where: str) -> Walk:
    return next(walk for walk in found if walk and walk[0].startswith(where))


async def _address(url: str) -> Address:
    return Address(url, {})


def written() -> dict[str, Walk]:
    """The walks as docs/house.md has them."""
    block = _BLOCK.search(HOUSE.read_text())
    assert block is not None
    found: dict[str, list[str]] = {}
    name = ""
    for line in block[1].splitlines():
        if line.startswith("  "):
            found[name].append(line.strip())
        else:
            name = line.partition(":")[0]
            found[name] = []
    return {name: tuple(hops) for name, hops in found.items()}


def write(walks: Mapping[str, Walk]) -> None:
    """Put them into docs/house.md."""
    lines: list[str] = []
    for name, walk in walks.items():
        lines += [f"{name}: {WALKS[name]}", *(f"  {hop}" for hop in walk)]
    block = "```walks\n" + "".join(f"{line}\n" for line in lines) + "```"
    HOUSE.write_text(_BLOCK.sub(lambda _: block, HOUSE.read_text()))


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        write(asyncio.run(walked(Path(folder))))
