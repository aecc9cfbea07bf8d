"""The facade: what a front end relies on."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.fakes import World, settle
from tests.support.tables import each
from tests.support.turns import begun
from tui.core.attempts import AttemptPlan
from tui.engine import intents
from tui.engine.intents import Intent
from tui.errors import FileRefused

EVERYTHING: list[Intent] = [
    intents.Prompt("hello"),
    intents.Continue(),
    intents.Queue("later"),
    intents.Unqueue(7),
    intents.EditQueued(7, "other"),
    intents.HoldQueued(7),
    intents.Steer("and this"),
    intents.Prewarm(),
    intents.Interrupt(),
    intents.Delegate("port it"),
    intents.MakeAttempts(AttemptPlan(2, "port it")),
    intents.StopAttempts(),
    intents.TakeAttempt(1),
    intents.TendDelegate(1, "pause"),
    intents.Rewind(1),
    intents.Forward(),
    intents.ShowContext(),
    intents.DropPart("a.py"),
    intents.AddPart("a.py"),
    intents.Pin("a.py"),
    intents.SetBudget("day", 1.0),
    intents.RedoHunk(1, "use two"),
    intents.StopRedoing(),
    intents.Accept(),
    intents.Accept((99,)),
    intents.Reject((99,), "no"),
    intents.PlaceHunk(99, 3),
    intents.UndoTurn(),
    intents.UndoDecision(),
    intents.RedoDecision(),
    intents.SetAutoAccept(True),
    intents.ShowDiff("gone.py", "head"),
    intents.ShowDiff(),
    intents.UseModel("fast", "groq", "m"),
    intents.ChooseModel("m"),
    intents.Switch("deep"),
    intents.SetEffort("high"),
    intents.SetTier("priority"),
    intents.Throttle(50),
    intents.Throttle(None),
    intents.OpenFile("gone.py"),
    intents.CloseFile("gone.py"),
    intents.SaveFile("gone.py"),
    intents.Reload("gone.py"),
    intents.Restore(),
    intents.Dismiss(),
    intents.Compact("the names"),
    intents.EditSummary("all of it"),
    intents.Rename("the cache"),
    intents.Compact("the names"),
    intents.EditSummary("all of it"),
    intents.Export("talk.md"),
    intents.Verify(),
    intents.FindBlame(),
    intents.RunCommand("ls"),
    intents.StopDeciding(),
    intents.StopCompacting(),
    intents.StopCommand(),
    intents.SendFailure(),
    intents.Answer(99, "yes"),
    intents.Forget(),
    intents.NewConversation(),
    intents.AskChange("a.py", (0, 0), (0, 3), "shorter"),
    intents.AskChange("gone.py", (0, 0), (0, 3), "shorter"),
    intents.AskOnly("why?"),
    intents.Inspect(),
    intents.PutNote("a.py", 0, "why?"),
    intents.TakeNotes(),
    intents.SendNotes("these"),
    intents.DropNotes((99,)),
    intents.SetMode("plan"),
    intents.ToBackground(),
    intents.StopTask(99),
    intents.Felt("2"),
    intents.Felt("much"),
    intents.SetAsking(True),
]


def test_every_intent_is_known() -> None:
    named = {type(intent) for intent in EVERYTHING}
    assert named == set(intents.Intent.__subclasses__())


@each("busy", [False, True])
@each("intent", EVERYTHING)
async def test_no_intent_raises(intent: Intent, busy: bool) -> None:
    world = World({"a.py": "one\n"})
    if busy:
        await begun(world)
    world.session.submit(intent)
    await settle()
    world.session.drain()
    await world.session.close()


async def test_what_is_not_an_intent_is_a_bug() -> None:
    with pytest.raises(TypeError):
        World().session.submit("stop")  # type-checked callers cannot do this


async def test_running_dials_ahead_and_closing_ends_everything(world: World) -> None:
    await world.runs()
    await asyncio.to_thread(lambda: None)
    await settle()
    assert world.wire.dials == 1
    assert world.session.status.connection == "ready"
    assert world.session.drain().status
    assert world.session.status.round_trip_ms == 3.0
    await begun(world)
    world.session.submit(intents.Queue("never sent"))
    await world.session.close()
    await settle()
    assert world.wire.state == "closed"
    assert len(world.wire.requests) == 1


async def test_that_files_are_not_watched_is_told(world: World) -> None:

    async def refused(callback: object) -> None:
        raise FileRefused("the system refused it: too many watches")

    world.ports.watch = refused
    await world.runs()
    (trouble,) = world.session.drain().troubles
    assert (trouble.what, trouble.severity) == ("Files are not watched", "warning")
    assert "too many watches" in trouble.why
