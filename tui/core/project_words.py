"""What a project, and its user, say to a model: instructions (AGENTS.md) and skills (SKILL.md).

All of it was written by strangers: it is bounded here, and made plain text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from tui.core.shell.clipping import plain

RULES_FILES = ("AGENTS.md", "CLAUDE.md")
"""Of a folder the first one that is there holds."""
RULES_LIMIT_CHARS = 32_000
"""Of one file; of a longer one the beginning and the end are sent."""
SKILLS_LIMIT_CHARS = 8_000
"""Of the list of all skills, about 2,000 tokens."""
HEAD_BYTES = 65_536
"""Of a SKILL.md are looked at, to know what it is for."""
DESCRIPTION_CHARS, NAME_CHARS = 1024, 64
_LEAST_CHARS = 40
"""Of a description; if that is too much for all, only names are listed."""
SKILL = "skill:"
"""What begins the path by which a model reads the files of a skill."""
_KEY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*)|[ \t]*)$")
_BLOCK = re.compile(r"[|>][-+0-9]{0,2}(?:[ \t]+#.*)?$")
_COMMENT = re.compile(r"(?:^|[ \t])#.*$")


def text_of(data: bytes) -> str | None:
    """The text of a file, without what a terminal could obey; None: it is none."""
    if b"\0" in data:
        return None
    text = data.decode("utf-8-sig", "replace")
    return plain(text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def shortened(text: str, limit: int, rest: str = "") -> str:
    """At most about so many characters of a text, its middle left out; ``rest``: who has that."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 2 // 3], text[-(limit // 3) :]
    left_out = len(text) - len(head) - len(tail)
    return f"{head}\n[{left_out:,} characters left out here{rest and f'; {rest}'}]\n{tail}"


class SkillFile(Struct, frozen=True):
    """A SKILL.md as it was found."""

    path: str
    """Relative to the workspace, or absolute."""
    folder: str
    """Absolute, without links."""
    head: bytes = b""
    """Its beginning."""
    problem: str = ""
    """Why it cannot be read, in words."""
    own: bool = False
    """The user's, not the workspace's."""


class Skill(Struct, frozen=True):
    """What is known of a skill without reading it."""

    name: str
    description: str
    file: SkillFile
    problem: str = ""
    """Why a model is not told of it."""

    def line(self, limit: int = DESCRIPTION_CHARS) -> str:
        """As it is listed to a model."""
        words = self.description
        if len(words) > limit:
            words = f"{words[:limit].rstrip()}…"
        return f"- {self.name}: {words}" if words and limit else f"- {self.name}"


def skill_of(file: SkillFile) -> Skill:
    """What a SKILL.md says of itself, read leniently: its folder and its text stand in."""
    folder = file.folder.rstrip("/").rpartition("/")[2]
    text = "" if file.problem else text_of(file.head)
    if text is None:
        return Skill(_name(folder), "", file, "it is not text")
    if len(file.head) >= HEAD_BYTES:
        text += "\n---"  # it may be cut in its front matter
    said, body = front_matter(text)
    name = _name(said.get("name", "")) or _name(folder)
    prose = (line.strip() for line in body.split("\n"))
    first = next(
        (line for line in prose if line and not line.startswith(("#", "---", "```", "<"))), ""
    )
    description = _one_line(said.get("description", "") or first)[:DESCRIPTION_CHARS]
    problem = file.problem or (
        "" if description else "it says neither what it is for nor what to do"
    )
    if said.get("disable-model-invocation", "").lower() in ("true", "yes"):
        problem = problem or "it says that models are not told of it"
    return Skill(name, description, file, problem)


def _name(said: str) -> str:
    return _one_line(said).replace("/", "-")[:NAME_CHARS].strip()


def _one_line(text: str) -> str:
    return " ".join(text.split())


def front_matter(text: str) -> tuple[dict[str, str], str]:
    """The keys and values above a Markdown text, and the text below them.

    A small part of YAML is enough: ``key: value``, quoted, folded or as a block; all else is
    passed over. One that never ends, or is none, is part of the text.
    """
    lines = text.lstrip().split("\n")
    end = next((at for at, line in enumerate(lines) if at and line.rstrip() in ("---", "...")), 0)
    if lines[0].rstrip() != "---" or not end:
        return {}, text
    found: dict[str, str] = {}
    at = 1
    while at < end:
        key = _KEY.match(lines[at])
        at += 1
        if key is None:
            continue
        below = at
        while at < end and (not lines[at].strip() or lines[at][0] in " \t"):
            at += 1
        found.setdefault(key[1].lower(), _value((key[2] or "").strip(), lines[below:at]))
    return found, "\n".join(lines[end + 1 :])


def _value(first: str, below: Sequence[str]) -> str:
    """The value of a key, with the indented lines below it."""
    if _BLOCK.match(first):
        glue = "\n" if first[0] == "|" else " "
        return glue.join(line.strip() for line in below).strip()
    whole = " ".join(filter(None, (first, *(line.strip() for line in below))))
    if whole[:1] == '"' and (ends := re.match(r'"(?:[^"\\]|\\.)*"', whole)):
        try:
            return str(json.loads(ends[0]))
        except ValueError:
            return ends[0][1:-1]
    if whole[:1] == "'" and (ends := re.match(r"'(?:[^']|'')*'", whole)):
        return ends[0][1:-1].replace("''", "'")
    return _COMMENT.sub("", whole).strip()


def chosen(skills: Iterable[Skill]) -> list[Skill]:
    """All of them, the first of each name to be told; the same file by another path is left out."""
    found: list[Skill] = []
    names: dict[str, Skill] = {}
    seen: set[str] = set()
    for skill in skills:
        if skill.file.folder in seen:
            continue
        seen.add(skill.file.folder)
        first = names.get(skill.name)
        if first is not None and not skill.problem:
            skill = Skill(
                skill.name, skill.description, skill.file, f"{first.file.path} has the same name"
            )
        elif not skill.problem:
            names[skill.name] = skill
        found.append(skill)
    return found


def skill_list(skills: Sequence[Skill]) -> str:
    """The lines by which a model is told of skills, within `SKILLS_LIMIT_CHARS`.

    Long descriptions are shortened first, then all are left out, then skills are.
    """
    limit = DESCRIPTION_CHARS
    while (
        size := sum(len(skill.line(limit)) + 1 for skill in skills)
    ) > SKILLS_LIMIT_CHARS and limit:
        less = max(limit * SKILLS_LIMIT_CHARS // size, _LEAST_CHARS)
        limit = less if less < limit else limit - 20 if limit > _LEAST_CHARS else 0
    lines: list[str] = []
    left = SKILLS_LIMIT_CHARS
    for skill in skills:
        line = skill.line(limit)
        left -= len(line) + 1
        if left < 0:
            lines.append(f"({len(skills) - len(lines)} more skills are not listed)")
            break
        lines.append(line)
    return "\n".join(lines)
