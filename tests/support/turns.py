"""A small workspace, a patch for it, and what tests look for in requests."""

from __future__ import annotations

from typing import Any

from tests.support.fakes import World
from tests.support.stepped_rehearsal import SteppedRehearsal
from tui.core.conversation import BlockKind
from tui.core.edit_stream import Channel, Format
from tui.core.patches.landing import Landing
from tui.engine import intents

CACHE = "class Cache:\n    def put(self, key):\n        self.items[key] = 1\n        return key\n"
PATCH = """*** Begin Patch
*** Update File: cache.py
@@
 class Cache:
     def put(self, key):
-        self.items[key] = 1
+        with self.lock:
+            self.items[key] = 1
         return key
*** End Patch
"""


def update(path: str, *lines: str) -> str:
    """A patch of one section."""
    body = "".join(f"{line}\n" for line in lines)
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n{body}*** End Patch\n"


def land(
    world: World, patch: str, turn: int = 1, *, cut: bool = False, fmt: Format = "apply_patch"
) -> Landing:
    """A model's whole patch, without its request."""
    channel: Channel = "custom" if fmt == "apply_patch" else "text"
    landing = Landing(
        world.session.workspace, turn=turn, call_id=f"call_{turn}", channel=channel, fmt=fmt
    )
    landing.feed(patch)
    landing.finish(cut=cut)
    return landing


def texts(request: dict[str, Any]) -> list[str]:
    """The user messages of a request."""
    return [
        item["content"][0]["text"]
        for item in request["input"]
        if item.get("type") == "message" and item.get("role") == "user"
    ]


def outputs(request: dict[str, Any]) -> dict[str, str]:
    """Call id -> output."""
    return {
        item["call_id"]: item["output"]
        for item in request["input"]
        if str(item.get("type", "")).endswith("_output")
    }


def notes(world: World) -> list[str]:
    return [b.text for b in world.session.transcript.blocks if b.kind is BlockKind.NOTE]


async def begun(world: World, text: str = "make it safe") -> SteppedRehearsal:
    """A prompt is sent and its response has begun."""
    world.session.submit(intents.Prompt(text))
    await world.wire.request(len(world.wire.requests) + 1)
    model = SteppedRehearsal(world.wire)
    model.begin()
    return model
