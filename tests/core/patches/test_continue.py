"""A patch that was cut goes on: it comes out as if it had never been cut, and nothing twice."""

from __future__ import annotations

import pytest

from tests.core.patches.test_scenarios import ALL, disk_of, seen, split, start_of
from tests.support.scenarios import Scenario
from tui.core.edit_stream import Channel
from tui.core.patches.landing import Landing

WHOLE = [one for one in ALL if not one.cut]


def cuts(text: str, most: int) -> list[int]:
    """Some characters of a text, at uneven distances, and the ends of lines among them."""
    step = max(len(text) // most, 1) | 1
    ends = [at for at, char in enumerate(text, 1) if char == "\n"][:: 1 + len(text) // 200]
    return sorted({*range(1, len(text), step), *ends})


@pytest.mark.parametrize("third", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
@pytest.mark.parametrize("scenario", WHOLE, ids=str)
def test_it_comes_out_as_if_it_had_not_been_cut(scenario: Scenario, third: int) -> None:
    text = scenario.patch
    for channel in ("text", "custom"):
        uncut = of_scenario(scenario, channel)
        for at in cuts(text, 5)[third::3]:
            disk, landing = begun(scenario, channel, text[:at])
            if landing.reopen(text[:at]) is None:
                assert landing.failure, (channel, text[max(at - 60, 0) : at])
                continue
            for piece in split(text[at:], 40):
                landing.feed(piece)
                landing.tail()
            landing.finish(cut=False)
            assert seen(disk, landing) == uncut, (channel, text[max(at - 60, 0) : at])


def begun(scenario: Scenario, channel: Channel, text: str):
    files, fmt = start_of(scenario)
    disk = disk_of(files)
    disk.workspace.documents.freeze = True
    landing = Landing(disk.workspace, turn=1, call_id="x", channel=channel, fmt=fmt)
    for piece in split(text, 40):
        landing.feed(piece)
        landing.tail()
    landing.finish(cut=True)
    return disk, landing


def of_scenario(scenario: Scenario, channel: Channel) -> object:
    files, fmt = start_of(scenario)
    disk = disk_of(files)
    disk.workspace.documents.freeze = True
    landing = Landing(disk.workspace, turn=1, call_id="x", channel=channel, fmt=fmt)
    for piece in split(scenario.patch, 40):
        landing.feed(piece)
        landing.tail()
    landing.finish(cut=False)
    return seen(disk, landing)
