"""What the project and its user say to the model: what is in use of it, and what is new.

The user's own AGENTS.md, that of the workspace's root and the list of skills stand in the
instructions of a conversation, as they were at its first request: these stay the same, byte by
byte. Whatever comes later (the AGENTS.md of a folder in which a file matters for the first time,
one that changed, another skill) is told once, in front of the next prompt or the next round.
"""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from tui.core.files import FileRead, first_of
from tui.core.inert_text import inert
from tui.core.instructions import HAVE_CHANGED, OF_FOLDER, RULES_NAME
from tui.core.project_words import (
    RULES_FILES,
    RULES_LIMIT_CHARS,
    SKILL,
    Skill,
    chosen,
    shortened,
    skill_list,
    skill_of,
    text_of,
)
from tui.engine.ports import Ports
from tui.engine.session_state import SessionState

MOST_FOLDERS = 500
"""In which instructions are looked for; beyond it the nearest to the root."""
NEWS_LIMIT_CHARS = 64_000
"""Of the instructions that one request tells anew; others are named."""
_MOST_NAMED_CHARS = 100_000
"""Of a prompt is searched for paths."""
_PATH = re.compile(r"@?([^\s\"'`<>|*?()\[\]{},;:]+)")
_HOLDS = (
    "Where instructions contradict each other, those that stand later hold; what the user says in a"
    " prompt holds before all of them."
)


class Rules(Struct, frozen=True):
    """The instructions of one file."""

    path: str
    """Relative to the workspace; the user's own has an absolute one."""
    sent: str = ""
    """Its text as it is sent: plain, and of a long one the beginning and the end."""
    chars: int = 0
    """Of all of it."""
    sign: int = 0
    """Another one for another text."""
    problem: str = ""
    """Why it has no text, in words."""
    odd: bool = False
    """Not all of it could be read as UTF-8."""

    @property
    def own(self) -> bool:
        """The user's, for all projects."""
        return self.path.startswith("/")

    @property
    def folder(self) -> str:
        """What it is about; empty: all of the workspace."""
        return "" if self.own else self.path.rpartition("/")[0]


class PrivateFiles(Protocol):
    """Which files there are, and which of them are private (engine.open_files)."""

    def paths(self) -> list[str]:
        """All that are neither ignored nor secret, sorted."""

    async def prepare(self, paths: Collection[str] = ()) -> None:
        """Find out why these would be private."""


Looked = tuple[list[Rules], list[Skill]]


class ProjectWords:
    """Looks at the files in a thread; what a request says of them is composed without the disk."""

    def __init__(
        self,
        state: SessionState,
        ports: Ports,
        catalogue: PrivateFiles,
        privacy: Callable[[str], str],
    ) -> None:
        """``privacy`` says why a file is not sent, of those that the catalogue has prepared."""
        self._state, self._files = state, ports.files
        self._own = None if ports.project is None else ports.project()
        self._catalogue, self._privacy = catalogue, privacy
        self._rules: list[Rules] = []
        self._found: list[Skill] = []
        self._read: dict[str, tuple[int, Rules]] = {}
        """Path -> the hash of the bytes that were read last, and what they are."""
        self._folders: set[str] = set()
        """Those that were looked at: in them, and above, files are open, named or edited."""
        self._stale = True
        self._said: set[str] = set()
        """What the user was told of these files."""
        self.without_rules = False
        """The user left the instructions out: only skills are told."""
        self._head: dict[str, str] | None = None
        self._told: dict[str, int] = {}
        """Path -> the sign of the instructions that the model knows."""
        self._told_skills: dict[str, str] = {}
        """Name -> the line by which the model knows a skill."""
        state.before_turn.append(self._outdate)

    def _outdate(self, turn: int) -> None:
        self._stale = True

    @property
    def rules(self) -> list[Rules]:
        """The instructions in use, the user's own first, then from the root down."""
        return [one for one in self._rules if one.chars and not self._withheld(one)]

    @property
    def skills(self) -> list[Skill]:
        """All that were found, with the reason why one is not told."""
        return [self._allowed(skill) for skill in self._found]

    @property
    def withheld(self) -> list[tuple[str, str]]:
        """Instructions that are not sent, and why."""
        return [(one.path, why) for one in self._rules if (why := self._withheld(one))]

    def _withheld(self, rules: Rules) -> str:
        return rules.problem or ("" if rules.own else self._privacy(rules.path))

    def _allowed(self, skill: Skill) -> Skill:
        why = "" if skill.problem or skill.file.own else self._privacy(skill.file.path)
        return (
            Skill(skill.name, skill.description, skill.file, f"not sent: {why}") if why else skill
        )

    def words(self) -> tuple[list[str], list[str]]:
        """The instructions in use, and all skills that were found: a line each, safe to show."""
        rules = [f"{inert(one.path)}, {one.chars:,} characters" for one in self.rules]
        rules += [f"{inert(path)} is not sent: {inert(why)}" for path, why in self.withheld]
        skills = []
        for one in self.skills:
            said = f"not told to the model, {one.problem}" if one.problem else one.description
            skills.append(f"{inert(one.name)}: {inert(said)} ({inert(one.file.path)})")
        return rules, skills

    def ready(self, paths: Iterable[str]) -> bool:
        """True if nothing has to be looked at before a request that is about these files."""
        return not self._stale and folders_of(paths) <= self._folders

    async def look(self, paths: Iterable[str], texts: Sequence[str] = ()) -> set[str]:
        """Read what there is, in a thread; returns which files ``texts`` name."""
        named = (
            await asyncio.to_thread(named_in, texts, self._catalogue.paths()) if texts else set()
        )
        folders = self._folders | folders_of([*paths, *named])
        self._stale = False
        rules, skills = await asyncio.to_thread(self._looked, nearest(folders))
        inside = [one.path for one in rules if not one.own]
        await self._catalogue.prepare(
            [*inside, *(skill.file.path for skill in skills if not skill.file.own)]
        )
        self._folders, self._rules, self._found = folders, rules, skills
        return named

    def _looked(self, folders: Sequence[str]) -> Looked:
        found: list[Rules] = []
        files = []
        if self._own is not None:
            path, read = self._own.rules()
            found += self._rules_of(path, read)
            files = self._own.skills()
        places: set[str] = set()
        for folder in folders:
            for name in RULES_FILES:
                path = f"{folder}/{name}" if folder else name
                read = self._files.read(path)
                if read.data is None and not read.refusal:
                    continue
                if read.real not in places:  # it may be a link to one that is known
                    found += self._rules_of(path, read)
                places.add(read.real or path)
                break
        return found, chosen(map(skill_of, files))

    def _rules_of(self, path: str, read: FileRead) -> list[Rules]:
        """Nothing, if there is no such file."""
        if read.refusal or read.data is None:
            return [Rules(path, problem=read.refusal)] if read.refusal else []
        sign = hash(read.data)
        if path not in self._read or self._read[path][0] != sign:
            self._read[path] = sign, _rules(path, read.data, sign)
        return [self._read[path][1]]

    def forget(self) -> None:
        """A new conversation: all is told anew."""
        self._head, self._told, self._told_skills = None, {}, {}

    def head(self, notes: Iterable[str] = ()) -> dict[str, str]:
        """What the instructions of this conversation say of it, the same for all requests.

        By what each is called.
        ``notes`` are what it was told before, if it goes on from an earlier session.
        """
        if self._head is None:
            self._tell_user()
            first = [one for one in self._for_model if not one.folder]
            parts = [f"{_quoted(one)}\n" for one in first]
            self._told = {one.path: one.sign for one in first}
            before = list(notes)
            for one in self._for_model:
                if one.folder and any(_quoted(one) in note for note in before):
                    self._told[one.path] = one.sign
            if parts:
                parts.append(f"{_HOLDS}\n")
            told = [skill for skill in self.skills if not skill.problem]
            self._told_skills = {skill.name: skill.line() for skill in told}
            skills = f"{_SKILLS}\n{skill_list(told)}\n" if told else ""
            self._head = {RULES_NAME: "\n".join(parts), "skills": skills}
        return self._head

    def ahead(self, notes: Iterable[str] | None) -> tuple[dict[str, str], list[str]]:
        """What `head` and `news` would say; nothing is told by that.

        ``notes`` are those that stand where all is said anew; None: the head stands as it is.
        """
        other = copy(self)
        if notes is not None:
            other.forget()
            other.head(notes)
        other._told = {**other._told}
        return other._head or {}, [*filter(None, other.news())]

    @property
    def _for_model(self) -> list[Rules]:
        return [] if self.without_rules else self.rules

    def news(self) -> tuple[str, str]:
        """What is new since the last request, in words: of the instructions, and of skills.

        From now on the model knows it.
        """
        if self._head is None:
            return "", ""
        self._tell_user()
        rules = "" if self.without_rules else self._rules_news()
        return rules, "\n\n".join(self._skill_news())

    def _rules_news(self) -> str:
        parts: list[str] = []
        left, unquoted = NEWS_LIMIT_CHARS, list[str]()
        now = self.rules
        for one in now:
            if self._told.get(one.path) == one.sign:
                continue
            changed = one.path in self._told
            self._told[one.path] = one.sign
            if len(one.sent) > left:
                unquoted.append(one.path)
                continue
            left -= len(one.sent)
            parts.append(f"{HAVE_CHANGED if changed else ''}{_quoted(one)}")
        if unquoted:
            which = first_of(unquoted, 100)
            parts.append(
                f"More instructions, to be read before you edit beside or below them: {which}"
            )
        for path in sorted(self._told.keys() - {one.path for one in now}):
            del self._told[path]
            parts.append(f"The instructions in {path} are gone: they hold no more.")
        return "\n\n".join(parts)

    def _skill_news(self) -> list[str]:
        told = {skill.name: skill for skill in self.skills if not skill.problem}
        fresh = [
            skill for name, skill in told.items() if self._told_skills.get(name) != skill.line()
        ]
        gone = sorted(self._told_skills.keys() - told.keys())
        self._told_skills = {name: skill.line() for name, skill in told.items()}
        parts = [f"Skills that are new or have changed:\n{skill_list(fresh)}"] if fresh else []
        return [*parts, f"Skills that are gone: {', '.join(gone)}"] if gone else parts

    def _tell_user(self) -> None:
        """Once for each reason: what is not sent, or not all of it."""
        notes = [f"{path} is not sent to the model: {why}" for path, why in self.withheld]
        for one in self.rules:
            if one.chars > RULES_LIMIT_CHARS:
                what = f"{one.path} has {one.chars:,} characters"
                notes.append(
                    f"{what}: the model is sent {RULES_LIMIT_CHARS:,}, from both of its ends"
                )
            if one.odd:
                notes.append(f"{one.path} is not all UTF-8: the model is sent � for what is not")
        for note in notes:
            if note not in self._said:
                self._said.add(note)
                self._state.note(0, note)

    async def skill(self, path: str) -> FileRead | str | None:
        """What a model means by ``skill:NAME/PATH``: a path of the workspace, or the file itself.

        None: there is no such skill.
        """
        name, _, below = path.removeprefix(SKILL).partition("/")
        found = (one for one in self.skills if one.name == name.strip() and not one.problem)
        skill = next(found, None)
        if skill is None:
            return None
        if not skill.file.own:
            return f"{skill.file.path.rpartition('/')[0]}/{below}" if below else skill.file.path
        read = (
            FileRead(None)
            if self._own is None
            else await asyncio.to_thread(self._own.read, skill.file, below)
        )
        return replace(read, real=skill.file.folder)


_SKILLS = f"""\
Skills: instructions for tasks of a kind. When a task fits one, read it first: read_file with \
the path {SKILL}NAME reads its SKILL.md, {SKILL}NAME/PATH another file of its folder. Scripts are \
run like any command."""


def _quoted(rules: Rules) -> str:
    return f"{_title(rules)}\n{rules.sent}"


def _title(rules: Rules) -> str:
    if rules.own:
        return f"Instructions of the user for all projects ({rules.path})"
    if not rules.folder:
        return f"The project's own instructions ({rules.path})"
    return f"{OF_FOLDER}{rules.folder} ({rules.path})"


def _rules(path: str, data: bytes, sign: int) -> Rules:
    text = text_of(data)
    if text is None:
        return Rules(path, problem="it is not text")
    rest = "" if path.startswith("/") else f"read_file {path} reads them"
    odd = data.decode("utf-8", "ignore").encode() != data
    return Rules(path, shortened(text, RULES_LIMIT_CHARS, rest), len(text), sign, odd=odd)


def folders_of(paths: Iterable[str]) -> set[str]:
    """The folders that these files lie in, and all above them; the root is empty."""
    found = {""}
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def nearest(folders: Collection[str]) -> list[str]:
    """From the root down, `MOST_FOLDERS` of them."""
    return sorted(folders, key=lambda folder: (folder.count("/") + bool(folder), folder))[
        :MOST_FOLDERS
    ]


def named_in(texts: Iterable[str], listed: Sequence[str]) -> set[str]:
    """The workspace's files that these texts name, and the folders, with a slash behind."""
    found: set[str] = set()
    for text in texts:
        for token in set(_PATH.findall(text[:_MOST_NAMED_CHARS])):
            path = token.removeprefix("./").rstrip(".!").rstrip("/")
            folder = path.rpartition("/")[0]  # of a file that is to be made
            if _begins(path, listed) == path:
                found.add(path)
            else:
                found |= {f"{one}/" for one in (path, folder) if one and _begins(f"{one}/", listed)}
    return found


def _begins(path: str, listed: Sequence[str]) -> str:
    """The first of these sorted paths that begins so; empty: none does."""
    at = bisect_left(listed, path)
    return listed[at] if at < len(listed) and listed[at].startswith(path) else ""
