from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import pairwise

from tui.ui.tick import FRAME_S, Frame


def post(call: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_soon(call)


async def test_many_wakes_are_one_frame() -> None:
    painted = asyncio.Event()
    frame = Frame(painted.set, post)
    for _ in range(1000):
        frame.wake()
    await painted.wait()
    assert frame.count == 1


async def test_nothing_is_scheduled_while_nothing_changes() -> None:
    frame = Frame(lambda: None, post)
    await asyncio.sleep(2 * FRAME_S)
    assert frame.count == 0


async def test_frames_keep_their_distance() -> None:
    loop = asyncio.get_running_loop()
    times: list[float] = []
    done = asyncio.Event()

    def paint() -> None:
        times.append(loop.time())
        if len(times) == 4:
            done.set()
        else:
            frame.wake()

    frame = Frame(paint, post)
    frame.wake()
    await done.wait()
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert min(gaps) >= FRAME_S * 0.9


async def test_a_stopped_frame_never_paints() -> None:
    frame = Frame(lambda: None, post)
    frame.wake()
    frame.stop()
    frame.wake()
    await asyncio.sleep(2 * FRAME_S)
    assert frame.count == 0
