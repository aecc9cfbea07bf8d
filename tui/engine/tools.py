"""What a model may call besides apply_patch: read_file, list, search.

Every answer is text, bounded in bytes, and says how to get the rest. Nothing outside the
workspace is read; private files only after the user has said so.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

from tui.core.file_block import file_block
from tui.core.file_read import PATH_LIMIT_CHARS, PATH_LIMIT_DEPTH
from tui.core.mending import mended_json
from tui.core.workspace import Workspace
from tui.engine.catalogue import Catalogue
from tui.engine.ports import Ports

OUTPUT_LIMIT_CHARS = 48_000
LIST_LIMIT = 1_000
MATCH_LIMIT = 200
FAILURE_CHARS = 1_000
MATCH_CHARS = 400
SEARCH_LIMIT_S = 5.0
FILE_LIMIT_BYTES = 4_000_000
_LINE_LIMIT_CHARS = 4_000
"""Longer lines are searched up to here only."""
_SLICE_S = 0.008
"""A search gives the event loop back that often."""

Consent = Callable[[str, str], Awaitable[bool]]
"""Asks the user whether a private file (path, reason) may be sent."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to a call."""

    output: str
    """For the model."""
    brief: str
    """For the screen: a few words."""
    failed: bool = False


class CallError(Exception):
    """A call that cannot be answered as asked; the text says why."""


class Tools:
    """Runs calls against the open buffers first, the disk second."""

    def __init__(
        self, workspace: Workspace, catalogue: Catalogue, ports: Ports, consent: Consent
    ) -> None:
        self._workspace = workspace
        self._catalogue = catalogue
        self._files = ports.files
        self._clock = ports.clock
        self._consent = consent

    async def call(self, name: str, arguments: str) -> ToolResult:
        """Answer one call; what cannot be done is said in the output. Never raises."""
        run = {"read_file": self._read_file, "list": self._list, "search": self._search}.get(name)
        if run is None:
            return _failure(f"there is no tool {name!r}; use read_file, list, search, apply_patch")
        try:
            return await run(Arguments(arguments))
        except CallError as refusal:
            return _failure(str(refusal))

    async def _read_file(self, arguments: Arguments) -> ToolResult:
        path = workspace_path(arguments.text("path"))
        reason = self._catalogue.privacy(path)
        if reason and not await self._consent(path, reason):
            raise CallError(f"the user declined to send {path} ({reason}); go on without it")
        text = self._text(path)
        lines = text.split("\n")
        if len(lines) > 1 and not lines[-1]:
            lines.pop()
        if len(text) <= OUTPUT_LIMIT_CHARS and not arguments.has("start", "end"):
            return ToolResult(file_block(path, text), _count(len(lines), "line"))
        first = max(arguments.number("start", 1), 1)
        last = min(max(arguments.number("end", len(lines)), first), len(lines))
        if first > len(lines):
            raise CallError(f"{path} has only {len(lines)} lines")
        return _quoted(path, lines, first, last)

    def _text(self, path: str) -> str:
        buffer = self._workspace.buffers.get(path)
        if buffer is not None:
            return buffer.text()
        read = self._files.read(path)
        if read.refusal:
            raise CallError(f"{path} cannot be read: {read.refusal}")
        if read.kind == "directory":
            raise CallError(f"{path} is a folder; use list")
        if read.data is None:
            raise CallError(f"there is no file {path}; use list or search to find it")
        text = decoded(read.data)
        if text is None:
            raise CallError(f"{path} is not UTF-8 text")
        return text

    async def _list(self, arguments: Arguments) -> ToolResult:
        matches = path_filter(arguments.text("pattern", ""))
        found = [path for path in await self._paths() if matches(path)]
        shown = found[:LIST_LIMIT]
        rest = len(found) - len(shown)
        output = "\n".join(shown) or "no file matches"
        if rest:
            output += f"\n({rest} more: give a narrower pattern)"
        return ToolResult(output, _count(len(found), "file"))

    async def _search(self, arguments: Arguments) -> ToolResult:
        pattern = _pattern(arguments.text("pattern"), regex=arguments.flag("regex"))
        matches = path_filter(arguments.text("path", ""))
        start_s = slice_s = self._clock.now()
        found: list[str] = []
        for path in [p for p in await self._paths() if matches(p)]:
            now = self._clock.now()
            if now - start_s > SEARCH_LIMIT_S:
                found.append("(stopped after 5 s: give a path to search in)")
                break
            if now - slice_s > _SLICE_S:
                await asyncio.sleep(0)
                slice_s = self._clock.now()
            found += self._matches(path, pattern, MATCH_LIMIT - len(found))
            if len(found) >= MATCH_LIMIT:
                found.append(f"(the first {MATCH_LIMIT} matches: give a narrower pattern or path)")
                break
        output = "\n".join(found) or "no line matches"
        return ToolResult(output, _count(len(found), "match", "matches"))

    def _matches(self, path: str, pattern: re.Pattern[str], limit: int) -> list[str]:
        buffer = self._workspace.buffers.get(path)
        if buffer is not None:
            lines = buffer.lines
        else:
            data = self._files.read(path).data
            text = decoded(data) if data is not None and len(data) <= FILE_LIMIT_BYTES else None
            lines = text.split("\n") if text is not None else []
        return list(_matching(path, lines, pattern, limit))

    async def _paths(self) -> list[str]:
        """The listing, and new files that only live in the editor."""
        await self._catalogue.prepare()
        listed = self._catalogue.paths()
        new = {
            path
            for path in self._workspace.buffers
            if path not in listed
            and not self._catalogue.privacy(path)
            and self._files.read(path).data is None
        }
        return sorted({*listed, *new})


class Arguments:
    """The JSON arguments of a function call."""

    def __init__(self, text: str) -> None:
        """Raises CallError: the text is not a JSON object."""
        try:
            values = mended_json(json.loads(text or "{}"))
        except ValueError as error:
            raise CallError(f"the arguments are not JSON: {error}") from None
        except RecursionError:
            raise CallError("the arguments are nested too deeply") from None
        if not isinstance(values, dict):
            raise CallError("the arguments are not a JSON object")
        self._values: dict[str, object] = values

    def text(self, name: str, default: str | None = None) -> str:
        """A string member. Raises CallError: it is missing and has no default."""
        value = self._values.get(name)
        if isinstance(value, str) and (value or default is not None):
            return value
        if value is None and default is not None:
            return default
        raise CallError(f"the argument {name!r} must be a string")

    def number(self, name: str, default: int) -> int:
        """A whole number; strings of digits are taken too. Raises CallError."""
        value = self._values.get(name)
        if value is None:
            return default
        try:
            return int(str(value))
        except ValueError:
            raise CallError(f"the argument {name!r} must be a whole number") from None

    def has(self, *names: str) -> bool:
        """True if one of these members is given."""
        return any(self._values.get(name) is not None for name in names)

    def flag(self, name: str) -> bool:
        """A boolean, false by default."""
        return self._values.get(name) in (True, "true", 1)


def brief_call(name: str, arguments: str) -> str:
    """A call in a few words, for the screen."""
    try:
        values = mended_json(json.loads(arguments or "{}"))
    except (ValueError, RecursionError):
        return name
    if not isinstance(values, dict):
        return name
    words = [str(values[key]) for key in ("pattern", "path") if values.get(key)]
    if values.get("start") or values.get("end"):
        words.append(f"{values.get('start') or 1}-{values.get('end') or ''}")
    return " ".join([name, *words])[:200]


def workspace_path(path: str) -> str:
    """A path relative to the workspace, normalised.

    Raises CallError: it leads outside, or no file can have such a name.
    """
    if len(path) > PATH_LIMIT_CHARS or path.count("/") > PATH_LIMIT_DEPTH:
        raise CallError(f"the path {path[:100]}... is too long")
    parts: list[str] = []
    clean = path.replace("\\", "/")
    if clean.startswith(("/", "~")) or re.match(r"[A-Za-z]:", clean) or "\0" in clean:
        raise CallError(f"{path} is outside the workspace; paths are relative to it")
    for part in clean.split("/"):
        if part == "..":
            if not parts:
                raise CallError(f"{path} is outside the workspace")
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if not parts:
        raise CallError(f"{path!r} is the workspace itself; use list")
    return "/".join(parts)


def decoded(data: bytes) -> str | None:
    """The text of a file; None if it is binary."""
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def path_filter(pattern: str) -> Callable[[str], bool]:
    """A test for paths: a glob (``**`` spans folders), a folder, or a file's name."""
    pattern = pattern.strip().removeprefix("./").strip("/")
    if pattern in ("", ".", "**", "*"):
        return lambda path: True
    if not re.search(r"[*?\[]", pattern):
        return lambda path: (
            path == pattern
            or path.startswith(pattern + "/")
            or ("/" not in pattern and path.rsplit("/", 1)[-1] == pattern)
        )
    found = re.compile(_glob_regex(pattern))
    if "/" in pattern:
        return lambda path: found.fullmatch(path) is not None
    return lambda path: found.fullmatch(path.rsplit("/", 1)[-1]) is not None


def _glob_regex(pattern: str) -> str:
    pieces = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    split = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return "".join(pieces.get(part, re.escape(part)) for part in split)


_REPEATED_REPEAT = re.compile(r"\([^()]*[*+}][^()]*\)\s*[*+{]")


def _pattern(text: str, *, regex: bool) -> re.Pattern[str]:
    if not regex:
        return re.compile(re.escape(text))
    if _REPEATED_REPEAT.search(text) or len(text) > 500:
        raise CallError("this regular expression may take for ever; use a simpler one")
    try:
        return re.compile(text)
    except re.error as error:
        raise CallError(f"not a regular expression: {error}") from None


def _matching(path: str, lines: list[str], pattern: re.Pattern[str], limit: int) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if limit <= 0:
            return
        if found := pattern.search(line, 0, _LINE_LIMIT_CHARS):
            at = max(found.start() - MATCH_CHARS // 2, 0)
            yield f"{path}:{number}: {line[at : at + MATCH_CHARS].rstrip()}"
            limit -= 1


def _quoted(path: str, lines: list[str], first: int, last: int) -> ToolResult:
    """Lines ``first`` to ``last`` (1-based) as a file block, as many as fit."""
    size = 0
    fitting = first - 1
    while fitting < last and size + len(lines[fitting]) < OUTPUT_LIMIT_CHARS:
        size += len(lines[fitting]) + 1
        fitting += 1
    brief = f"{path} {first}-{fitting}"
    if fitting < first:
        text = lines[first - 1][:OUTPUT_LIMIT_CHARS]
        block = file_block(path, text, from_=str(first), to=str(first))
        return ToolResult(f"{block}\n(line {first} is cut: it is too long)", brief)
    text = "\n".join(lines[first - 1 : fitting])
    block = file_block(path, text, from_=str(first), to=str(fitting))
    rest = ""
    if fitting < len(lines):
        rest = f"\n(the file has {len(lines)} lines; go on with start={fitting + 1})"
    return ToolResult(block + rest, brief)


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _failure(why: str) -> ToolResult:
    if len(why) > FAILURE_CHARS:
        why = f"{why[:FAILURE_CHARS]}..."
    return ToolResult(f"error: {why}", why, failed=True)
