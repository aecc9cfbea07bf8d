"""What the server says of its limits is kept for the screen, until it says something else."""

from __future__ import annotations

import json

from tests.support.fakes import World, settle
from tests.support.turns import begun
from tui.core.wire import events
from tui.core.wire.rate_limits import PAUSE, Limit
from tui.engine import intents
from tui.engine.intents import Role
from tui.engine.ports import RoleSpec


def two_roles() -> dict[Role, RoleSpec]:
    return {role: RoleSpec(role, f"{role}-1", "main") for role in ("fast", "deep")}


async def test_a_response_tells_what_is_left() -> None:
    world = World(roles=two_roles())
    model = await begun(world, "hello")
    now = world.clock.now()
    headers = {"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "60"}
    metadata = {"duetto_rate_limits": json.dumps(headers)}
    world.wire.give(events.Completed({"id": "resp_9", "metadata": metadata}))
    assert world.session.status.limits == (Limit("requests", 3, None, now + 60),)
    world.session.submit(intents.Switch("deep"))
    assert world.session.status.limits == (), "the other model's are not known"
    assert model is not None


async def test_a_refusal_with_a_pause_longer_than_is_waited_for_says_until_when() -> None:
    world = World()
    await begun(world)
    now = world.clock.now()
    headers = {"retry-after": "3600", "x-ratelimit-remaining-tokens": "0"}
    world.wire.give(events.ErrorEvent(429, "rate_limit_exceeded", "slow down", headers=headers))
    await settle()
    status = world.session.status
    assert not status.busy
    assert Limit(PAUSE, 0, None, now + 3600) in status.limits
    assert Limit("tokens", 0) in status.limits


async def test_a_vendors_event_tells_too_and_others_are_passed_over() -> None:
    world = World()
    await begun(world)
    window = {"used_percent": 90, "window_minutes": 300}
    raw = {"rate_limits": {"primary": window}}
    world.wire.give(events.Unknown("codex.rate_limits", raw), events.Unknown("ping", {}))
    assert world.session.status.limits == (Limit("% of 5 h", 10, 100),)
