"""What was being written when the answer ended: it stays, and goes with the next instruction."""

from __future__ import annotations

from tests.support.fakes import World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.tables import each
from tests.support.turns import begun, notes, texts
from tui.core.document.hunk import Decision, Hunk, Stage
from tui.engine import intents
from tui.engine.session import SessionOptions

ASKING = SessionOptions(ask=True)
TEXT = "one\ntwo\nthree\nfour\nfive\nsix\n"
HEAD = "*** Begin Patch\n*** Update File: a.py\n@@\n one\n-two\n+TWO\n three\n-four\n+FO"
WHOLE = "one\nTWO\nthree\nfour\nfive\nsix\n"
PAINTED = "one\nTWO\nthree\nFO\nfive\nsix\n"


async def cut(role: str = "") -> tuple[World, SteppedRehearsal, Hunk]:
    """An answer that was stopped in the middle of a line."""
    world = World({"a.py": TEXT}, options=ASKING)
    model = await begun(world)
    key = model.open_patch("call_1")
    model.patch_delta(key, HEAD)
    world.session.drain()
    world.session.submit(intents.Interrupt())
    whole, open_one = world.session.workspace.hunks
    assert (whole.stage, open_one.stage) == (Stage.LANDED, Stage.CUT)
    assert world.session.workspace.buffers["a.py"].text() == PAINTED
    model.interrupted(31)
    return world, model, open_one


def text(world: World) -> str:
    return world.session.workspace.buffers["a.py"].text()


def asked(world: World) -> str:
    """What the last request says besides the user's words."""
    return "\n".join(texts(world.wire.requests[-1]))


async def test_it_is_taken_back_as_the_next_request_leaves_and_brought_back() -> None:
    world, _, hunk = await cut()
    assert text(world) == PAINTED
    sent = len(world.wire.requests)
    world.session.submit(intents.Prompt("in capitals, please"))
    await settle()
    assert len(world.wire.requests) == sent + 1
    assert text(world) == WHOLE
    assert hunk.decision is Decision.REJECTED
    assert f"Hunk {hunk.id} of a.py was cut and undecided: taken back" in notes(world)
    assert f"hunk {hunk.id} cut after -1/+1 lines, taken back; it is not in the file" in asked(
        world
    )
    whole = world.session.workspace.hunks[0]
    world.session.submit(intents.Reject((whole.id,)))
    world.session.submit(intents.UndoDecision(hunk.id))
    world.session.submit(intents.UndoDecision())
    assert text(world) == PAINTED
    assert (hunk.stage, hunk.decision) == (Stage.CUT, Decision.PENDING)


async def test_it_is_kept_as_it_stands_and_the_model_is_told() -> None:
    world, _, hunk = await cut()
    world.session.submit(intents.Accept((hunk.id,)))
    assert world.files.data["a.py"] == b"one\ntwo\nthree\nFO\nfive\nsix\n"
    world.session.submit(intents.Prompt("go on"))
    await settle()
    assert text(world) == PAINTED
    assert f"hunk {hunk.id} cut after -1/+1 lines, kept by the user as it stood" in asked(world)
    assert ': "...FO"' in asked(world)


async def test_accept_all_leaves_it_out_and_says_so() -> None:
    world, _, hunk = await cut()
    world.session.drain()
    world.session.submit(intents.Accept())
    assert world.files.data["a.py"] == WHOLE.encode()
    assert hunk.decision is Decision.PENDING
    (told,) = world.session.drain().troubles
    assert told.what == f"Hunk {hunk.id} of a.py left out, as the answer ended inside"
    world.session.submit(intents.Reject())
    assert text(world) == WHOLE
    assert hunk.decision is Decision.REJECTED


async def test_what_the_user_went_on_with_is_not_taken_back() -> None:
    world, _, hunk = await cut()
    world.session.workspace.edit("a.py", (3, 2), (3, 2), "UR")
    world.session.submit(intents.Prompt("thanks"))
    await settle()
    assert text(world) == PAINTED.replace("FO", "FOUR")
    assert (hunk.stage, hunk.decision) == (Stage.LANDED, Decision.PENDING)


@each("how", ["redirect", "switch", "lost"])
async def test_going_on_at_once_takes_it_back_when_that_request_leaves(
    how: str, quick_retries: None
) -> None:
    world = World({"a.py": TEXT}, options=ASKING)
    model = await begun(world)
    key = model.open_patch("call_1")
    model.patch_delta(key, HEAD)
    if how == "lost":
        world.wire.lose()
    else:
        go_on = intents.Prompt("no") if how == "redirect" else intents.Switch("deep")
        world.session.submit(go_on)
        assert text(world) == PAINTED, "until the request leaves nothing moves"
        model.interrupted(31)
    wire = world.wires["deep"] if how == "switch" and "deep" in world.wires else world.wire
    await wire.request(2 if wire is world.wire else 1)
    assert text(world) == WHOLE
    assert any("taken back" in note for note in notes(world))
