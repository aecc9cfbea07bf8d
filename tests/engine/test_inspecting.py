"""Questions that change nothing, changes of what is selected, and the review of a difference."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.fakes import World, settle
from tests.support.stepped_rehearsal import SteppedRehearsal
from tests.support.turns import CACHE, PATCH, begun, notes, texts, update
from tui.core.files import FileRead, GitMove, GitPlace
from tui.core.patches.checks import OUTSIDE
from tui.engine import intents
from tui.engine.noting import list_words


class FakeGit:
    """What is committed."""

    def __init__(self, **files: str) -> None:
        self.files = {name.replace("_", "."): text for name, text in files.items()}
        self.refused = ""

    async def changed(self, ref: str) -> tuple[list[str], str]:
        return ([], self.refused) if self.refused else (sorted(self.files), "")

    async def head(self, path: str, ref: str = "HEAD") -> FileRead:
        text = self.files.get(path)
        return FileRead(None if text is None else text.encode())

    async def place(self) -> GitPlace:
        return GitPlace()

    async def moved(self, before: GitPlace, now: GitPlace) -> GitMove:
        return GitMove("", ())


def tool_names(request: dict[str, Any]) -> set[str]:
    return {str(tool.get("name") or tool["type"]) for tool in request["tools"]}


async def sent(world: World, intent: intents.Intent) -> SteppedRehearsal:
    """The request of an intent has left, and its answer begins."""
    world.session.submit(intent)
    await world.wire.request(len(world.wire.requests) + 1)
    model = SteppedRehearsal(world.wire)
    model.begin()
    return model


async def test_a_question_is_sent_without_tools_that_change_and_the_next_prompt_with_them() -> None:
    world = World({"cache.py": CACHE})
    first = await begun(world, "hello")
    first.complete()
    await settle()
    model = await sent(world, intents.AskOnly("what does put do?"))
    offered = tool_names(world.wire.requests[-1])
    assert offered == {"read_file", "list", "search"}
    assert texts(world.wire.requests[-1])[-1] == "what does put do?"
    model.text(f"It stores. {PATCH}")
    model.complete()
    await settle()
    assert world.session.workspace.hunks == []
    await begun(world, "go on")
    assert tool_names(world.wire.requests[-1]) == tool_names(world.wire.requests[0])
    assert not world.session.status.asking


async def test_what_is_called_all_the_same_is_refused() -> None:
    world = World({"cache.py": CACHE})
    model = await sent(world, intents.AskOnly("what does put do?"))
    model.patch(PATCH, "call_1")
    model.complete()
    await settle()
    assert world.session.workspace.hunks == []
    assert world.session.workspace.buffers.get("cache.py") is None
    assert "answered without edits" in str(world.wire.requests[-1]["input"])


async def test_a_question_redirects_what_streams_and_stays_one() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world, "change it")
    world.session.submit(intents.AskOnly("wait, why?"))
    await settle()
    model.complete()
    await settle()
    assert texts(world.wire.requests[-1])[-1] == "wait, why?"
    assert "apply_patch" not in tool_names(world.wire.requests[-1])


async def test_a_change_of_the_selection_quotes_it_and_flags_what_is_elsewhere() -> None:
    world = World({"cache.py": CACHE, "b.py": "x = 1\n"})
    world.session.submit(intents.OpenFile("cache.py"))
    world.session.submit(intents.PutNote("cache.py", 0, "waits"))
    model = await sent(world, intents.AskChange("cache.py", (2, 0), (3, 0), "guard it"))
    said = texts(world.wire.requests[-1])[-1]
    assert said.startswith("guard it\n")
    assert "line 3 of cache.py" in said
    assert "        self.items[key] = 1\n</file>" in said
    assert "return key" not in said
    assert world.session.status.notes == 1
    world.session.workspace.edit("cache.py", (0, 0), (0, 0), "# above\n")
    model.patch(PATCH, "call_1")
    model.patch(update("cache.py", "-        return key", "+        return None"), "call_2")
    model.patch(update("b.py", "-x = 1", "+x = 2"), "call_3")
    model.complete()
    await settle()
    hunks = world.session.workspace.hunks
    assert [OUTSIDE in hunk.flags for hunk in hunks] == [False, True, True]


async def inspected(world: World, answer: str) -> str:
    world.session.submit(intents.Inspect())
    await world.wire.request(len(world.wire.requests) + 1)
    request = texts(world.wire.requests[-1])[-1]
    model = SteppedRehearsal(world.wire)
    model.begin()
    model.text(answer)
    model.complete()
    await settle()
    return request


async def test_what_is_found_in_a_difference_becomes_notes_on_its_lines() -> None:
    world = World({"cache.py": CACHE, "b.py": "x = 1\n", "same.py": "s\n"})
    git = FakeGit(cache_py=CACHE.replace("return key", "return 1"), same_py="s\n")
    world.ports.git = lambda: git
    answer = (
        "cache.py:4: error: the key is returned, not the value\n"
        "- `./b.py:1`: hint: name it\n"
        "cache.py:900: warning: too far\ngone.py:2: error: not there\nThe rest is fine."
    )
    asked = await inspected(world, answer)
    assert "    4 +        return key" in asked
    assert "same.py" not in asked
    assert "apply_patch" not in tool_names(world.wire.requests[-1])
    found = [(note.path, note.row, note.severity) for note in world.session.workspace.notes]
    assert found == [
        ("b.py", 0, "hint"),
        ("cache.py", 3, "error"),
        ("cache.py", None, "warning"),
        ("gone.py", None, "error"),
    ]
    said = notes(world)[-1]
    assert "4 findings: 2 errors, 1 warning, 1 hint" in said
    assert "cache.py:900" in said
    assert "gone.py:2" in said
    assert "900 too far" in list_words(world.session.workspace.notes)
    chosen = next(note.id for note in world.session.workspace.notes if note.row == 3)
    world.session.submit(intents.TakeNotes((chosen,)))
    assert world.session.status.notes == 1
    await begun(world, "fix that")
    assert "the key is returned" in texts(world.wire.requests[-1])[-2]


async def prepared(world: World) -> None:
    """It is known what differs."""
    while world.session.prepares:
        await settle()


async def test_what_cannot_be_compared_is_said_and_nothing_is_sent() -> None:
    world = World({"cache.py": CACHE})
    world.session.submit(intents.Inspect("main"))
    await prepared(world)
    git = FakeGit()
    world.ports.git = lambda: git
    git.refused = "git knows no commit 'nope' here"
    world.session.submit(intents.Inspect("nope"))
    await prepared(world)
    git.refused = ""
    world.session.submit(intents.Inspect())
    await prepared(world)
    told = [(trouble.what, trouble.why) for trouble in world.session.drain().troubles]
    assert told == [
        ("Nothing is inspected", "git is not asked here"),
        ("Nothing is inspected", "git knows no commit 'nope' here"),
        ("Nothing differs from HEAD", ""),
    ]
    assert world.wire.requests == []


async def test_a_private_file_is_not_in_what_is_inspected() -> None:
    world = World({".env": "TOKEN=abc\n", "b.py": "x = 1\n"})
    world.files.private[".env"] = "it holds secrets"
    git = FakeGit(_env="TOKEN=old\n", b_py="x = 0\n")
    world.ports.git = lambda: git
    assert "TOKEN" not in await inspected(world, "fine")
    assert notes(world)[-1] == "No finding: the answer names no line of a file."


@pytest.mark.slow
async def test_a_question_that_waits_stays_one_when_it_is_edited_and_goes_when_it_is_dropped() -> (
    None
):
    world = World({"cache.py": CACHE})
    model = await begun(world, "change it")
    world.session.submit(intents.AskOnly("why?"))
    world.session.submit(intents.EditQueued(0, "why so?"))
    model.complete()
    await settle()
    assert texts(world.wire.requests[-1])[-1] == "why so?"
    assert "apply_patch" not in tool_names(world.wire.requests[-1])
    world.session.submit(intents.AskOnly("what for?"))
    world.session.submit(intents.Unqueue(0))
    SteppedRehearsal(world.wire).complete()
    await settle()
    await begun(world, "what for?")
    assert "apply_patch" in tool_names(world.wire.requests[-1]), "typed anew it is a prompt"


async def test_a_question_that_waits_twice_is_one_both_times() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world, "change it")
    for _ in range(2):
        world.session.submit(intents.AskOnly("why?"))
    world.session.submit(intents.Interrupt())
    model.interrupted()
    await settle()
    assert world.session.status.queued == ["why?", "why?"]
    model = await begun(world, "go on")
    for _ in range(2):
        model.complete()
        await settle()
        assert texts(world.wire.requests[-1])[-1] == "why?"
        assert "apply_patch" not in tool_names(world.wire.requests[-1])
        model = SteppedRehearsal(world.wire)
        model.begin()
    model.complete()
    await settle()
    await begun(world, "why?")
    assert "apply_patch" in tool_names(world.wire.requests[-1]), "typed anew it is a prompt"


async def test_a_prompt_that_says_what_a_question_says_that_waits_is_a_prompt() -> None:
    world = World({"cache.py": CACHE})
    model = await begun(world, "change it")
    world.session.submit(intents.AskOnly("why?"))
    world.session.submit(intents.Interrupt())
    world.session.submit(intents.Queue("why?"))
    model.interrupted()
    await settle()
    model = await begun(world, "go on")
    for offered in (False, True):
        model.complete()
        await settle()
        assert texts(world.wire.requests[-1])[-1] == "why?"
        assert ("apply_patch" in tool_names(world.wire.requests[-1])) is offered
        model = SteppedRehearsal(world.wire)
        model.begin()
