from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.sources import ROOT
from tests.support.tables import each
from tui.core.price import Price
from tui.core.wire.events import Usage
from tui.effects.prices import Prices

LISTED = Prices({"o": "openai", "a": "anthropic", "g": "groq", "f": "fireworks", "odd": "nobody"})
MILLION = 1_000_000


async def usd(endpoint: str, model: str, usage: Usage, tier: str = "") -> float | None:
    return (await LISTED.quote(endpoint, [model], usage, tier)).usd


async def test_the_fast_mode_costs_more() -> None:
    usage = Usage(10_000, 1000)
    plain = await usd("a", "claude-opus-5", usage)
    fast = await usd("a", "claude-opus-5", usage, "fast")
    assert plain
    assert fast
    assert fast > plain


@each(
    "endpoint, model, tier, unknown",
    [
        ("o", "gpt-5", "ultrafast", True),
        ("o", "no such model", "", True),
        ("odd", "gpt-5", "", True),
        ("o", "", "", True),
        ("nowhere", "gpt-5", "", False),
    ],
)
async def test_what_is_charged_for_at_an_unknown_price_is_no_nothing(
    endpoint: str, model: str, tier: str, unknown: bool
) -> None:
    quote = await LISTED.quote(endpoint, [model], Usage(10, 10), tier)
    assert (quote.usd, quote.unknown) == (None, unknown)


async def test_counts_that_contradict_each_other_have_no_price() -> None:
    assert await usd("o", "gpt-5", Usage(10, 10, cached_tokens=500)) is None


async def test_the_users_price_is_the_price() -> None:
    own = Prices({"o": "openai"}, {("o", "gpt-5"): Price(1.0, 10.0), ("l", "m"): Price(0, 0)})
    usage = Usage(MILLION, MILLION, cached_tokens=MILLION, reasoning_tokens=5)
    quote = await own.quote("o", ["gpt-5"], usage)
    assert quote.usd == pytest.approx(11.0)
    assert quote.context_window
    assert (await own.quote("l", ["m"], usage)).usd == 0.0
    assert (await own.quote("l", ["other"], usage)).usd is None


def test_the_list_is_loaded_when_it_is_needed() -> None:
    code = (
        "import sys, tui.effects.prices; assert not {'genai_prices', 'pydantic'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)
