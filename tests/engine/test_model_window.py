"""Limits hold before anything is sent; what a server says of them is learnt and kept."""

from __future__ import annotations

from typing import Any

from tests.support.fakes import World, settle
from tests.support.turns import begun, notes
from tui.core.price import Quote
from tui.core.wire.events import Completed, ErrorEvent, Usage
from tui.engine import intents
from tui.engine.ports import RoleSpec

LONG = "say it again, and again; " * 4000
"""About 28,000 tokens."""
LINES = "".join(f"some words of line {n}\n" for n in range(1, 5001))


class KnownWindows:
    """What was learnt of models, as the state folder has it."""

    def __init__(self, **windows: int) -> None:
        self.windows = windows

    async def learnt_window(self, endpoint: str, model: str) -> int | None:
        return self.windows.get(model)

    def learn_window(self, endpoint: str, model: str, tokens: int) -> None:
        self.windows[model] = tokens

    def measured(self, *measured: Any) -> None:
        """It is not called."""


def world(window: int | None, learnt: KnownWindows | None = None) -> World:
    """A model that takes, as the settings say, so many tokens."""
    made = World(roles={"fast": RoleSpec("fast", "quick-1", "main", context_window=window)})
    if learnt is not None:
        made.ports.catalogue = lambda: learnt
    return made


async def test_what_surely_does_not_fit_is_not_sent_and_comes_back() -> None:
    place = world(8192)
    place.session.submit(intents.Prompt(LONG))
    await settle()
    assert place.wire.requests == []
    assert place.session.status.unsent == LONG
    assert not place.session.status.busy
    (said,) = [note for note in notes(place) if "too large" in note]
    assert said.startswith("The request is too large: it takes about ")
    assert "(a prompt about 22,124), and quick-1 takes 8,192\nshorten the prompt, or" in said
    place.session.submit(intents.Prompt("short"))
    request = await place.wire.request(1)
    assert LONG not in str(request)


async def test_a_window_may_be_too_small_for_the_instructions() -> None:
    place = world(512)
    place.session.submit(intents.Prompt("hello"))
    await settle()
    assert place.wire.requests == []
    (said,) = [note for note in notes(place) if "(the instructions and tools about" in note]
    assert "give this one a larger window where it runs" in said
    assert "/clear" not in said


async def test_a_window_of_four_million_takes_it() -> None:
    place = world(4_000_000)
    place.session.submit(intents.Prompt(LONG))
    assert LONG in str(await place.wire.request(1))


async def test_a_model_that_lies_is_believed_no_more() -> None:
    learnt = KnownWindows()
    place = world(1_000_000, learnt)
    await begun(place, LONG)
    place.wire.give(
        ErrorEvent(400, "context_length_exceeded", "maximum context length is 16384 tokens")
    )
    await settle()
    assert learnt.windows == {"quick-1": 16_384}
    assert "quick-1 takes 16,384 tokens, as its server says" in notes(place)
    assert place.session.meter.view(0).context_window == 16_384
    place.session.submit(intents.Prompt(LONG))
    await settle()
    assert len(place.wire.requests) == 1
    # the next run knows it
    other = world(1_000_000, learnt)
    other.session.submit(intents.Prompt(LONG))
    await settle()
    assert other.wire.requests == []


async def test_less_of_a_file_is_sent_where_a_window_is_smaller_than_was_said() -> None:
    place = world(1_000_000, KnownWindows())
    place.files.data["long.txt"] = LINES.encode()
    await begun(place, "look at @long.txt")
    place.wire.give(
        ErrorEvent(400, "context_length_exceeded", "maximum context length is 6000 tokens")
    )
    request = await place.wire.request(2)
    assert "look at @long.txt" in str(request)
    assert 0 < str(request).count("some words of line") < 300
    cut = [note for note in notes(place) if note.startswith("of long.txt lines 1-")]
    assert len(cut) == 2, "the user is told how much less it is"


async def test_a_file_of_which_a_part_is_sent_is_listed_once_with_its_lines() -> None:
    place = world(1_000_000)
    place.files.data["long.txt"] = LINES.encode()
    (await begun(place, "look at @long.txt")).finishes("yes")
    await settle()
    for part in (None, "listing"):
        if part is not None:
            place.session.submit(intents.DropPart(part))
            await settle()
        place.session.submit(intents.ShowContext())
        await settle()
        named = [line for line in notes(place)[-1].splitlines() if "long.txt" in line]
        assert len(named) == 1
        assert "long.txt:1-" in named[0]
        assert ("new" in named[0]) is (part is not None)


async def test_a_refusal_without_a_number_says_that_so_much_is_too_much() -> None:
    learnt = KnownWindows()
    place = world(None, learnt)
    await begun(place, LONG)
    place.wire.give(ErrorEvent(400, "context_length_exceeded", "Your input exceeds the window"))
    await settle()
    assert 20_000 < learnt.windows["quick-1"] < 29_000
    assert any("takes less than" in note for note in notes(place))


async def test_a_server_that_repeats_its_window_counts_more_and_has_no_smaller_one() -> None:
    learnt = KnownWindows()
    place = world(32_768, learnt)
    await begun(place, LONG)
    words = "request (50030 tokens) exceeds the available context size (32768 tokens)"
    place.wire.give(ErrorEvent(400, "exceed_context_size_error", words))
    await settle()
    assert learnt.windows == {}
    assert not any("as its server says" in note for note in notes(place))
    place.session.submit(intents.Prompt(LONG))
    await settle()
    assert len(place.wire.requests) == 1  # as its server counts it is too long
    place.session.submit(intents.Prompt("short"))
    await place.wire.request(2)


async def test_a_model_that_takes_more_than_was_said_is_believed_too() -> None:
    place = world(40_000)
    await begun(place, LONG)
    usage = {"input_tokens": 50_000, "output_tokens": 20}
    place.wire.give(Completed({"id": "resp_1", "status": "completed", "usage": usage}))
    assert place.session.meter.view(0).context_window == 50_000


async def test_the_price_list_says_it_before_the_first_long_request() -> None:
    place = world(None)
    asked: list[str] = []

    async def quote(endpoint: str, models: Any, usage: Usage, tier: str) -> Quote:
        asked.extend(models)
        return Quote(None, context_window=8192)

    place.ports.quote = quote
    (await begun(place, "short")).finishes("yes")
    assert asked == []
    place.session.submit(intents.Prompt(LONG))
    await settle()
    assert asked == ["quick-1"]
    assert len(place.wire.requests) == 1
    assert place.session.status.unsent == LONG
