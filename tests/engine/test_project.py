"""AGENTS.md and skills reach the model once, those of the files that matter, and the head stays."""

from __future__ import annotations

from typing import Any

from tests.support.fakes import World, settle
from tests.support.turns import begun, notes, outputs, texts, update
from tui.core.files import FileRead
from tui.core.project_words import RULES_LIMIT_CHARS, SkillFile
from tui.engine import intents
from tui.engine.project import MOST_FOLDERS, NEWS_LIMIT_CHARS, named_in, nearest

NESTED = {
    "AGENTS.md": "root rules\n",
    "CLAUDE.md": "not used\n",
    "a/CLAUDE.md": "rules of a\n",
    "a/b/AGENTS.md": "rules of b\n",
    "a/b/x.py": "x = 1\n",
    "c/AGENTS.md": "rules of c\n",
    "c/y.py": "y = 1\n",
}


class Own:
    """The user's own, in memory."""

    def __init__(self) -> None:
        self.text: bytes | None = b"my rules\n"
        self.files: list[SkillFile] = []

    def rules(self) -> tuple[str, FileRead]:
        return "/home/u/AGENTS.md", FileRead(self.text)

    def skills(self) -> list[SkillFile]:
        return self.files

    def read(self, file: SkillFile, path: str) -> FileRead:
        return FileRead(f"{path or 'SKILL.md'} of {file.folder}".encode())


def world_of(files: dict[str, str | bytes]) -> tuple[World, Own]:
    world, own = World(files), Own()
    world.ports.project = lambda: own
    return world, own


async def asked(world: World, text: str) -> dict[str, Any]:
    """A turn of one answer; returns its request."""
    (await begun(world, text)).finishes("Fine.")
    await settle()
    return world.wire.requests[-1]


def said(request: dict[str, Any]) -> str:
    return "\n".join(texts(request))


async def test_the_roots_stand_in_the_head_and_nested_ones_come_when_they_matter() -> None:
    world, _ = world_of(NESTED)
    first = await asked(world, "hello")
    head = first["instructions"]
    assert head.index("my rules") < head.index("root rules")
    assert "rules of" not in head + said(first)
    assert "not used" not in head
    second = await asked(world, "look at a/b/x.py, please")
    assert second["instructions"] == head
    assert said(second).index("rules of a") < said(second).index("rules of b")
    world.session.submit(intents.OpenFile("c/y.py"))
    third = await asked(world, "and now")
    assert "rules of c" in said(third)
    assert "rules of a" not in said(third), "told once"
    assert "rules of" not in said(await asked(world, "and again"))
    world.session.submit(intents.NewConversation())
    await settle()
    anew = await asked(world, "hello")
    assert anew["instructions"] == head
    assert "rules of b" in said(anew)


async def test_where_the_model_reads_or_edits_it_is_told_with_the_next_round() -> None:
    world, _ = world_of(NESTED)
    model = await begun(world)
    model.call("read_file", {"path": "c/y.py"}, "call_a")
    model.complete()
    assert "rules of c" in said(await world.wire.request(2))
    model.begin()
    model.patch(update("a/b/x.py", "-x = 1", "+x = 2"), "call_b")
    model.complete()
    assert "rules of b" in said(await world.wire.request(3))


async def test_what_changed_or_went_is_told_once_and_the_head_stays() -> None:
    world, own = world_of(NESTED)
    head = (await asked(world, "see c/y.py"))["instructions"]
    world.files.data["AGENTS.md"] = b"other rules\n"
    own.text = None
    del world.files.data["c/AGENTS.md"]
    world.files.data["c/CLAUDE.md"] = b"new rules of c\n"
    request = await asked(world, "and now")
    assert request["instructions"] == head
    words = said(request)
    assert "These have changed. The project's own instructions (AGENTS.md)\nother rules" in words
    assert "new rules of c" in words
    assert "instructions in c/AGENTS.md are gone" in words
    assert "instructions in /home/u/AGENTS.md are gone" in words
    assert "rules" not in said(await asked(world, "and again"))
    assert world.session.project_words()[0] == [
        "AGENTS.md, 11 characters",
        "c/CLAUDE.md, 14 characters",
    ]


async def test_what_is_odd_about_them_is_said_once() -> None:
    world, _ = world_of(
        {
            "AGENTS.md": "x" * 1_000_000,
            "a/AGENTS.md": b"caf\xe9 \x1b[2J",
            "b/AGENTS.md": b"\0\1",
            "e/AGENTS.md": "nothing is wrong with a\u00adsoft hyphen\n",
            "c/AGENTS.md": "secret",
            "c/CLAUDE.md": "no stand-in\n",
        }
    )
    world.files.private = {"c/AGENTS.md": "it is ignored"}
    world.files.odd["d/AGENTS.md"] = FileRead(
        None, "'d/AGENTS.md' leads outside the workspace through a symlink"
    )
    for folder in "abcde":
        world.files.data[f"{folder}/x.py"] = b"x\n"
    request = await asked(world, "a/x.py b/x.py c/x.py d/x.py e/x.py")
    assert len(request["instructions"]) < RULES_LIMIT_CHARS + 10_000
    assert "left out here; read_file AGENTS.md reads them" in request["instructions"]
    assert "caf\ufffd" in said(request)
    assert "\x1b" not in said(request)
    assert "secret" not in str(request)
    assert "no stand-in" not in str(request)
    await asked(world, "and again")
    found = [note for note in notes(world) if "AGENTS.md" in note]
    assert sorted(note.split(" ")[0] for note in found) == [
        f"{n}AGENTS.md" for n in ("", "a/", "b/", "c/", "d/")
    ]


async def test_thousands_of_nested_ones_are_bounded() -> None:
    world, _ = world_of(
        {f"p{n}/{name}": "r" * 500 for n in range(3000) for name in ("AGENTS.md", "x.py")}
    )
    words = said(await asked(world, " ".join(f"p{n}/x.py" for n in range(3000))))
    assert len(words) < NEWS_LIMIT_CHARS + 60_000
    assert "to be read before you edit" in words
    assert len(nearest({f"p{n}" for n in range(3000)})) == MOST_FOLDERS


def test_files_are_named_as_people_name_them() -> None:
    listed = ["a/b/c.py", "a/d.py", "e.py"]
    texts_ = ["see @e.py, `./a/d.py`. Make a/b/new.py, not zzz/x.py", "(e.py)"]
    assert named_in(texts_, listed) == {"e.py", "a/d.py", "a/b/"}
    assert named_in(["all of a/b/ and a."], listed) == {"a/b/", "a/"}


async def test_skills_are_listed_and_read_when_needed() -> None:
    text = "---\nname: {}\ndescription: About {}.\n---\nbody\n"
    world, own = world_of(
        {
            ".agents/skills/pdf/SKILL.md": text.format("pdf", "PDFs"),
            ".claude/skills/x/SKILL.md": "x",
        }
    )
    world.files.private = {".claude/*": "it is ignored"}
    data = world.files.data
    own.files = [
        *(SkillFile(path, f"/workspace/{path[:-9]}", data[path]) for path in data),
        SkillFile(
            "/home/u/s/mail/SKILL.md",
            "/home/u/s/mail",
            text.format("mail", "mail").encode(),
            own=True,
        ),
    ]
    model = await begun(world)
    head = world.wire.requests[0]["instructions"]
    assert "- pdf: About PDFs.\n- mail: About mail." in head
    assert "- x" not in head
    for number, path in enumerate(
        ("skill:pdf", "skill:mail", "skill:mail/docs/a.md", "skill:none")
    ):
        model.call("read_file", {"path": path}, f"call_{number}")
    model.complete()
    answers = outputs(await world.wire.request(2))
    assert "body" in answers["call_0"]
    assert answers["call_1"].startswith("The skill's folder is /home/u/s/mail\n")
    assert "docs/a.md of /home/u/s/mail" in answers["call_2"]
    assert "there is no file skill:none" in answers["call_3"]
    model.answers("Done.")
    await settle()
    own.files = [
        SkillFile("/h/new/SKILL.md", "/h/new", text.format("new", "this").encode(), own=True),
        own.files[0],
    ]
    request = await asked(world, "and now")
    assert request["instructions"] == head
    assert "Skills that are new or have changed:\n- new: About this." in said(request)
    assert "Skills that are gone: mail" in said(request)
    assert "Skills" not in said(await asked(world, "and again"))
    lines = world.session.project_words()[1]
    assert lines[0] == "new: About this. (/h/new/SKILL.md)"


async def test_a_conversation_that_goes_on_is_not_told_again() -> None:
    world, _ = world_of(NESTED)
    await asked(world, "a/b/x.py c/y.py")
    later, _ = world_of({**NESTED, "c/AGENTS.md": "newer rules of c\n"})
    later.session.services.requests.history.entries = (
        world.session.services.requests.history.entries
    )
    later.session.submit(intents.OpenFile("a/b/x.py"))
    request = await asked(later, "c/y.py")
    assert said(request).count("rules of b") == 1
    assert said(request).count("newer rules of c") == 1


async def test_instructions_that_were_dropped_are_not_told_when_they_change() -> None:
    world, own = world_of(NESTED)
    text = b"---\nname: pdf\ndescription: reads PDFs\n---\n"
    own.files = [SkillFile("/h/pdf/SKILL.md", "/h/pdf", text, own=True)]
    await asked(world, "look at a/b/x.py")
    world.session.submit(intents.DropPart("AGENTS.md"))
    await settle()
    request = await asked(world, "and now c/y.py")
    assert "rules of" not in str(request), "those of folders, which were told as notes, go, too"
    assert "root rules" not in str(request)
    assert "pdf: reads PDFs" in request["instructions"], "skills are no instructions"
    world.files.data["AGENTS.md"] = b"newer root rules\n"
    assert "newer root rules" not in str(await asked(world, "again"))
    assert "newer root rules" in said(await asked(world, "with @AGENTS.md"))
