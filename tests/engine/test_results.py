from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.support.fakes import World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.tables import each
from tests.support.turns import begun
from tui.core.meter import Cost
from tui.core.price import Quote
from tui.core.wire.events import Usage
from tui.engine import intents
from tui.engine.ports import RoleSpec
from tui.engine.results import Served, bill_of

SPEC = RoleSpec("fast", "asked-for", "groq")


@each(
    "response, endpoint, models, tier, window",
    [
        ({}, "groq", ["asked-for"], "", None),
        ({"model": "asked-for", "service_tier": "flex"}, "groq", ["asked-for"], "flex", None),
        ({"model": "served-1"}, "groq", ["served-1", "asked-for"], "", None),
        (
            {
                "model": "claude-x",
                "metadata": {
                    "duetto_endpoint": "anthropic",
                    "duetto_model": "claude-x",
                    "duetto_fallback_reason": "groq is overloaded",
                    "duetto_context_window": "200000",
                },
            },
            "anthropic",
            ["claude-x"],
            "",
            200_000,
        ),
        (
            {"metadata": {"duetto_endpoint": "groq", "duetto_context_window": "8192"}},
            "groq",
            ["asked-for"],
            "",
            8192,
        ),
        ({"model": 3, "service_tier": None, "metadata": "x"}, "groq", ["asked-for"], "", None),
        ({"metadata": {"duetto_context_window": "-5"}}, "groq", ["asked-for"], "", None),
        ({"metadata": {"duetto_context_window": "9" * 40}}, "groq", ["asked-for"], "", None),
    ],
)
def test_what_a_price_depends_on(
    response: dict[str, Any], endpoint: str, models: list[str], tier: str, window: int | None
) -> None:
    bill = bill_of(response, SPEC)
    assert (bill.endpoint, bill.models, bill.context_window) == (endpoint, models, window)
    assert bill.tier == tier


async def test_a_turn_is_billed_and_the_window_shown(world: World) -> None:
    asked: list[tuple[str, tuple[str, ...], Usage, str]] = []

    async def quote(endpoint: str, models: Sequence[str], usage: Usage, tier: str) -> Quote:
        asked.append((endpoint, tuple(models), usage, tier))
        return Quote(0.5, context_window=64_000)

    world.ports.quote = quote
    model = await begun(world, "one")
    model.text("first")
    model.complete(12)
    await settle()
    view = world.session.meter.view(world.clock.now())
    assert [(endpoint, models[-1]) for endpoint, models, _, _ in asked] == [("main", "quick-1")]
    assert asked[0][2].output_tokens == 12
    assert (view.cost.turn_usd, view.cost.session_usd) == (0.5, 0.5)
    assert view.context_window == 64_000
    world.session.submit(intents.Switch("deep"))
    assert world.session.meter.view(world.clock.now()).context_window is None
    world.session.submit(intents.Switch("fast"))
    assert world.session.meter.view(world.clock.now()).context_window == 64_000


async def test_what_the_bridge_has_to_say_is_said_once_a_turn(world: World) -> None:
    served, said = Served(world.session._state), {"metadata": {"duetto_notice": "it runs twice"}}
    for response in ({}, said, said):
        served.note(response, 0.0)
    (trouble,) = world.session.drain().troubles
    assert (trouble.what, trouble.severity) == ("it runs twice", "information")


async def test_the_rehearsal_costs_nothing_and_says_nothing_of_it() -> None:
    world = World(roles={"fast": RoleSpec("fast", "rehearsal-fast", "rehearsal")})

    async def quote(endpoint: str, models: Sequence[str], usage: Usage, tier: str) -> Quote:
        raise AssertionError("nobody asks")

    world.ports.quote = quote
    world.session.submit(intents.Prompt("one"))
    wire = world.ports.wires("rehearsal", "main")
    await wire.request(1)
    model = SteppedRehearsal(wire)
    model.begin()
    model.text("first")
    model.complete(12)
    await settle()
    assert world.session.meter.view(world.clock.now()).cost == Cost()
