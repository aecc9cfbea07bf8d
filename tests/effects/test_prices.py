from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.sources import ROOT
from tui.core.price import Price
from tui.core.wire.usage import Usage
from tui.effects.prices import Prices

LISTED = Prices({"o": "openai", "a": "anthropic", "g": "groq", "f": "fireworks", "odd": "nobody"})
MILLION = 1_000_000


async def usd(endpoint: str, model: str, usage: Usage, tier: str = "") -> float | None:
    return (await LISTED.quote(endpoint, [model], usage, tier)).usd


async def test_tokens_from_a_cache_cost_what_the_list_says() -> None:
    whole = await usd("o", "gpt-5", Usage(MILLION // 10, 0))
    cached = await usd("o", "gpt-5", Usage(MILLION // 10, 0, cached_tokens=MILLION // 10))
    half = await usd("o", "gpt-5", Usage(MILLION // 10, 0, cached_tokens=MILLION // 20))
    assert whole
    assert cached
    assert half
    assert cached < half < whole
    assert half == pytest.approx((whole + cached) / 2)


async def test_reasoning_is_output() -> None:
    plain = await usd("o", "gpt-5", Usage(0, 1000))
    assert await usd("o", "gpt-5", Usage(0, 1000, reasoning_tokens=900)) == plain


async def test_what_is_put_into_a_cache_costs_more_where_it_does() -> None:
    plain = await usd("a", "claude-opus-4-6", Usage(10_000, 0))
    put = await usd("a", "claude-opus-4-6", Usage(10_000, 0, cache_write_tokens=10_000))
    assert plain
    assert put
    assert put > plain


async def test_a_tier_has_its_own_price_or_none() -> None:
    usage = Usage(10_000, 1000)
    plain = await usd("o", "gpt-5", usage)
    assert plain
    for same in ("default", "auto", "standard"):
        assert await usd("o", "gpt-5", usage, same) == plain
    priority = await usd("o", "gpt-5", usage, "priority")
    flex = await usd("o", "gpt-5", usage, "flex")
    assert priority
    assert flex
    assert flex < plain < priority
    assert await usd("o", "gpt-5", usage, "a tier of tomorrow") is None
    assert await usd("g", "openai/gpt-oss-120b", usage, "performance") is None
    assert await usd("g", "openai/gpt-oss-120b", usage, "on_demand")


async def test_the_fast_mode_costs_more() -> None:
    usage = Usage(10_000, 1000)
    plain = await usd("a", "claude-opus-5", usage)
    fast = await usd("a", "claude-opus-5", usage, "fast")
    assert plain
    assert fast
    assert fast > plain


@pytest.mark.parametrize(
    ("endpoint", "model", "tier", "unknown"),
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


async def test_a_tier_of_two_names_has_one_price() -> None:
    usage = Usage(10_000, 1000)
    priority = await usd("o", "gpt-5", usage, "priority")
    assert await usd("o", "gpt-5", usage, "express") is None
    known = Prices({"o": "openai"}, same_tiers={"o": [["express", "priority"]]})
    assert (await known.quote("o", ["gpt-5"], usage, "express")).usd == priority


async def test_counts_that_contradict_each_other_have_no_price() -> None:
    assert await usd("o", "gpt-5", Usage(10, 10, cached_tokens=500)) is None


async def test_the_second_name_is_looked_up_where_the_first_is_not_known() -> None:
    usage = Usage(1000, 1000)
    quote = await LISTED.quote(
        "f", ["deployment-17", "accounts/fireworks/models/gpt-oss-120b"], usage
    )
    assert quote.usd
    assert quote.context_window == 131072


async def test_the_users_price_is_the_price() -> None:
    own = Prices({"o": "openai"}, {("o", "gpt-5"): Price(1.0, 10.0), ("l", "m"): Price(0, 0)})
    usage = Usage(MILLION, MILLION, cached_tokens=MILLION, reasoning_tokens=5)
    quote = await own.quote("o", ["gpt-5"], usage)
    assert quote.usd == pytest.approx(11.0)
    assert quote.context_window
    assert (await own.quote("l", ["m"], usage)).usd == 0.0
    assert (await own.quote("l", ["other"], usage)).usd is None


def test_a_price_of_the_users() -> None:
    price = Price(2.0, 8.0, cached_input=0.5)
    assert price.of(Usage(MILLION, 0)) == pytest.approx(2.0)
    assert price.of(Usage(MILLION, MILLION, cached_tokens=MILLION // 2)) == pytest.approx(9.25)
    # more cached than there was: a server's slip
    assert price.of(Usage(100, 0, cached_tokens=500)) == pytest.approx(100 * 0.5 / MILLION)


def test_the_list_is_loaded_when_it_is_needed() -> None:
    code = (
        "import sys, tui.effects.prices; assert not {'genai_prices', 'pydantic'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)
