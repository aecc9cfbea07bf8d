from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import pairwise

import pytest

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
    times: list[float] = []
    done = asyncio.Event()

    def paint() -> None:
        times.append(frame._next_s)  # a frame behind its begin
        if len(times) == 4:
            done.set()
        else:
            frame.wake()

    frame = Frame(paint, post)
    frame.wake()
    await done.wait()
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert min(gaps) >= FRAME_S * 0.999


async def test_a_stopped_frame_never_paints() -> None:
    frame = Frame(lambda: None, post)
    frame.wake()
    frame.stop()
    frame.wake()
    await asyncio.sleep(2 * FRAME_S)
    assert frame.count == 0


@pytest.mark.parametrize("within", [True, False], ids=["woken within", "woken behind"])
@pytest.mark.parametrize(("cost_s", "pause_s"), [(0.0, FRAME_S), (0.012, 0.012), (0.05, FRAME_S)])
async def test_an_expensive_frame_is_followed_by_a_bounded_pause(
    cost_s: float, pause_s: float, within: bool
) -> None:
    loop = asyncio.get_running_loop()
    spans: list[tuple[float, float]] = []
    done = asyncio.Event()

    def paint() -> None:
        start = loop.time()
        if within:
            frame.wake()
        else:
            loop.call_soon(frame.wake)
        while loop.time() < start + cost_s:
            pass
        spans.append((start, loop.time()))
        if len(spans) == 5:
            frame.stop()
            done.set()

    frame = Frame(paint, post)
    frame.wake()
    await done.wait()
    pauses = [later[0] - earlier[1] for earlier, later in pairwise(spans)]
    assert 0.9 * pause_s <= min(pauses) <= pause_s + 0.5 * FRAME_S
