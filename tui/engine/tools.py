"""What a model may call besides apply_patch: read_file, list, search.

Every answer is text, bounded in bytes, and says how to get the rest. Nothing outside the
workspace is read; private files only after the user has said so.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from tui.core.document.workspace import Workspace
from tui.core.files import PATH_LIMIT_CHARS, PATH_LIMIT_DEPTH, FileRead, file_block
from tui.core.text.buffer import plain_text
from tui.core.text.patterns import HEAVIEST, pattern_weight
from tui.core.wire.json_reading import mended_json
from tui.engine.open_files import FileIndex
from tui.engine.ports import Ports
from tui.errors import StoreRefused

if TYPE_CHECKING:
    import regex as timed

    from tui.core.compaction import Recollection


class CallError(Exception):
    """A call that cannot be answered as asked; the text says why."""


MATCH_LIMIT = 200
MATCH_CHARS = 400
LINE_LIMIT_S = 0.1
PATH_LIMIT_S = 0.02
PATTERN_CHARS = 500
_LINE_LIMIT_CHARS = 4_000
"""Longer lines are searched up to here only."""

Find = Callable[[str], int]
"""Where a line matches; below 0: nowhere."""
Expired = Callable[[], bool]


def finder(text: str, *, regex: bool) -> Find:
    """A search for a text or by a regular expression.

    Raises CallError: it is no regular expression. The search raises it as well: it takes too long.
    """
    if not regex:
        return lambda line: line.find(text, 0, _LINE_LIMIT_CHARS)
    pattern = _compiled(text)

    def find(line: str) -> int:
        try:
            match = pattern.search(
                line, 0, _LINE_LIMIT_CHARS, timeout=LINE_LIMIT_S, concurrent=True
            )
        except TimeoutError:
            raise CallError("this regular expression takes too long; use a simpler one") from None
        return match.start() if match else -1

    return find


def matching(path: str, lines: list[str], find: Find, expired: Expired) -> list[str]:
    """The first lines that match, with path and number."""
    found: list[str] = []
    for number, line in enumerate(lines, 1):
        at = find(line)
        if at >= 0:
            start = max(at - MATCH_CHARS // 2, 0)
            found.append(f"{path}:{number}: {line[start : start + MATCH_CHARS].rstrip()}")
        if len(found) > MATCH_LIMIT or expired():
            break
    return found


async def searched(path: str, lines: list[str], find: Find, expired: Expired) -> list[str]:
    """The same beside the event loop; when it is cancelled the thread ends soon, too."""
    stopped = threading.Event()

    def over() -> bool:
        return stopped.is_set() or expired()

    try:
        return await asyncio.to_thread(matching, path, lines, find, over)
    finally:
        stopped.set()


def path_filter(pattern: str) -> Callable[[str], bool]:
    """A test for paths: a glob (``**`` spans folders), a folder, or a file's name.

    Raises CallError, as the test does: too long, or it takes too long.
    """
    pattern = pattern.strip().removeprefix("./").strip("/")
    if pattern in ("", ".", "**", "*"):
        return lambda path: True
    if not re.search(r"[*?\[]", pattern):
        return lambda path: (
            path == pattern
            or path.startswith(pattern + "/")
            or ("/" not in pattern and path.rsplit("/", 1)[-1] == pattern)
        )
    glob = _compiled(_glob_regex(re.sub(r"(\*\*/)+", "**/", pattern)))
    whole = "/" in pattern

    def fits(path: str) -> bool:
        name = path if whole else path.rsplit("/", 1)[-1]
        try:
            return glob.fullmatch(name, timeout=PATH_LIMIT_S) is not None
        except TimeoutError:
            raise CallError("this path pattern takes too long; use a simpler one") from None

    return fits


def _glob_regex(pattern: str) -> str:
    pieces = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    split = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return "".join(pieces.get(part, re.escape(part)) for part in split)


def _compiled(text: str) -> timed.Pattern[str]:
    # imported when a model first asks for it
    import regex as timed

    if len(text) > PATTERN_CHARS:
        raise CallError(f"the pattern is longer than {PATTERN_CHARS} characters")
    if pattern_weight(text) > HEAVIEST:
        raise CallError("this regular expression repeats too much; use a simpler one")
    try:
        return timed.compile(text)
    except (timed.error, RecursionError, OverflowError) as error:
        raise CallError(f"not a regular expression: {error}") from None


OUTPUT_LIMIT_CHARS = 48_000
MOST_ARGUMENTS_CHARS = 100_000
"""Of a call: what these tools are asked has some hundreds."""
_MOST_TITLE_CHARS = 200
LIST_LIMIT = 1_000
FAILURE_CHARS = 1_000
SEARCH_LIMIT_S = 5.0
FILE_LIMIT_BYTES = 4_000_000

Consent = Callable[[str, str], Awaitable[bool]]
"""Asks the user whether a private file (path, reason) may be sent."""


class ToolResult(Struct, frozen=True):
    """The answer to a call."""

    output: str
    """For the model."""
    brief: str
    """For the screen: a few words."""
    failed: bool = False


async def _nothing_said(asked: Recollection) -> str:
    """Nothing is kept."""
    return "Nothing that was said is kept."


async def _no_skill(path: str) -> None:
    """There are none."""


class WorkspaceTools:
    """Runs calls against the open buffers first, the disk second."""

    def __init__(
        self,
        workspace: Workspace,
        catalogue: FileIndex,
        ports: Ports,
        privacy: Callable[[str], str],
        consent: Consent,
    ) -> None:
        """``privacy`` says why a file is not sent, after all that the user has allowed."""
        self._workspace = workspace
        self._catalogue = catalogue
        self._privacy = privacy
        self._files = ports.files
        self._clock = ports.clock
        self._consent = consent
        self.on_read: Callable[[str], None] = lambda path: None
        """Told which file of the workspace the model has read."""
        self.recall: Callable[[Recollection], Awaitable[str]] = _nothing_said
        """Finds what was said in the session. Raises StoreRefused."""
        self.on_sent: Callable[[str, str], None] = lambda path, text: None
        """Told of a file that is not open, and its text: the model has read of it."""
        self.skill: Callable[[str], Awaitable[FileRead | str | None]] = _no_skill
        """What ``skill:NAME/PATH`` means (`ProjectWords.skill`)."""

    async def call(self, name: str, arguments: str) -> ToolResult:
        """Answer one call; what cannot be done is said in the output. Never raises."""
        run = {
            "read_file": self._read_file,
            "list": self._list,
            "search": self._search,
            "recall": self._recall,
        }.get(name)
        if run is None:
            what = f"there is no tool {name[:_MOST_TITLE_CHARS]!r}"
            return failure(f"{what}; use those that the request names")
        try:
            return await run(Arguments(arguments))
        except (CallError, StoreRefused) as refusal:
            return failure(str(refusal))

    async def _read_file(self, arguments: Arguments) -> ToolResult:
        named = arguments.text("path")
        meant = await self.skill(named) if named.startswith("skill:") else None
        if isinstance(meant, FileRead):
            part = _part(named, _text_of(named, meant), arguments)
            return ToolResult(f"The skill's folder is {meant.real}\n{part.output}", part.brief)
        path = workspace_path(meant or named)
        await self._allow(path)
        text = self._text(path)
        if path in self._files.linked:  # which is seen when it is read
            await self._allow(path)
        self.on_read(path)
        part = _part(path, text, arguments)
        if self._workspace.documents.quotable(path) is None:
            self.on_sent(path, text)
        return part

    async def _allow(self, path: str) -> None:
        """Ask if the file is private. Raises CallError: it may not be sent."""
        await self._catalogue.prepare([path])
        reason = self._privacy(path)
        if reason and not await self._consent(path, reason):
            raise CallError(f"the user declined to send {path} ({reason}); go on without it")

    def _text(self, path: str) -> str:
        buffer = self._workspace.documents.quotable(path)
        if buffer is not None:
            return buffer.text()
        read = self._files.read(path)
        if (buffer := self._workspace.documents.quotable(read.real)) is not None:
            return buffer.text()
        return _text_of(path, read)

    async def _recall(self, arguments: Arguments) -> ToolResult:
        from tui.core.compaction import Recollection  # behind a first compaction only

        asked = Recollection(
            arguments.text("words", ""),
            max(arguments.number("turn", 0), 0),
            arguments.word("item"),
            max(arguments.number("start", 1), 1),
        )
        output = await self.recall(asked)
        return ToolResult(output, output.partition("\n")[0].partition(";")[0].rstrip(":"))

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
        find = finder(arguments.text("pattern"), regex=arguments.flag("regex"))
        matches = path_filter(arguments.text("path", ""))
        end_s = self._clock.now() + SEARCH_LIMIT_S

        def expired() -> bool:
            return self._clock.now() > end_s

        found, withheld = list[str](), list[str]()
        paths = [path for path in await self._paths() if matches(path)]
        async for path, lines in self._texts(paths, withheld):
            if expired():
                found.append("(stopped after 5 s: give a path to search in)")
                break
            found += await searched(path, lines, find, expired)
            if len(found) >= MATCH_LIMIT:
                more = f"(the first {MATCH_LIMIT} matches: give a narrower pattern or path)"
                found[MATCH_LIMIT:] = [more]
                break
        notes = [_withheld(withheld)] if withheld else []
        output = "\n".join([*(found or ["no line matches"]), *notes])
        return ToolResult(output, _count(len(found), "match", "matches"))

    async def _texts(
        self, paths: list[str], withheld: list[str]
    ) -> AsyncIterator[tuple[str, list[str]]]:
        """Each of these files and its lines; those that may not be sent go to ``withheld``.

        That a file is a hard link is seen when it is read. What its other names are is looked up
        for all of them together, at the end.
        """
        later = []
        for path in paths:
            lines = self._lines(path)
            if path in self._files.linked and (
                not self._catalogue.ready([path]) or self._privacy(path)
            ):
                later.append(path)
            else:
                yield path, lines
        await self._catalogue.prepare(later)
        for path in later:
            if self._privacy(path):
                withheld.append(path)
            else:
                yield path, self._lines(path)

    def _lines(self, path: str) -> list[str]:
        """The lines of a file as they are now."""
        buffer = self._workspace.documents.quotable(path)
        if buffer is not None:
            return list(buffer.lines)
        data = self._files.read(path).data
        text = decoded(data) if data is not None and len(data) <= FILE_LIMIT_BYTES else None
        return text.split("\n") if text is not None else []

    async def _paths(self) -> list[str]:
        """The listing, and new files that only live in the editor."""
        await self._catalogue.prepare(self._workspace.buffers)
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
        if len(text) > MOST_ARGUMENTS_CHARS:
            raise CallError(f"the arguments are longer than {MOST_ARGUMENTS_CHARS:,} characters")
        try:
            values = mended_json(json.loads(text or "{}"))
        except ValueError as error:
            raise CallError(f"the arguments are not JSON: {error}") from None
        except RecursionError:
            raise CallError("the arguments are nested too deeply") from None
        if not isinstance(values, dict):
            raise CallError("the arguments are not a JSON object")
        self._values: Mapping[str, object] = values

    @classmethod
    def of(cls, values: Mapping[str, object]) -> Arguments:
        """Arguments that came as an object."""
        made = cls("")
        made._values = values
        return made

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

    def first(self, *names: str) -> str:
        """The first of these that is a string and says something; empty: none is."""
        values = (self._values.get(name) for name in names)
        return next((value for value in values if isinstance(value, str) and value), "")

    def word(self, name: str) -> str:
        """A member that is a string or a number, as a string; empty: it is neither."""
        value = self._values.get(name)
        return str(value).strip() if isinstance(value, str | int) else ""

    def strings(self, *names: str) -> tuple[str, ...]:
        """The first of these that is there: a string, or a list of strings. Raises CallError."""
        value = next((self._values[name] for name in names if self._values.get(name)), ())
        parts = [value] if isinstance(value, str) else value
        if not isinstance(parts, (list, tuple)) or not all(isinstance(one, str) for one in parts):
            raise CallError(f"the argument {names[0]!r} must be a string or a list of strings")
        return tuple(parts)

    def decimal(self, *names: str) -> float:
        """The first of these that is given, as a number, else 0. Raises CallError: it is none."""
        value = next((self._values[name] for name in names if self._values.get(name)), 0)
        try:
            number = float(str(value))
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise CallError(f"the argument {names[0]!r} must be a number")
        return number

    def has(self, *names: str) -> bool:
        """True if one of these members is given."""
        return any(self._values.get(name) is not None for name in names)

    def flag(self, name: str) -> bool:
        """A boolean, false by default."""
        return self._values.get(name) in (True, "true", 1)


def brief_call(name: str, arguments: str) -> str:
    """A call in a few words, for the screen."""
    name = name[:_MOST_TITLE_CHARS]
    if len(arguments) > MOST_ARGUMENTS_CHARS:
        return name
    try:
        values = mended_json(json.loads(arguments or "{}"))
    except (ValueError, RecursionError):
        return name
    if not isinstance(values, dict):
        return name
    words = [str(values[key]) for key in ("pattern", "path", "words", "item") if values.get(key)]
    if values.get("start") or values.get("end"):
        words.append(f"{values.get('start') or 1}-{values.get('end') or ''}")
    return " ".join([name, *words])[:_MOST_TITLE_CHARS]


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
        return plain_text(data.decode("utf-8"))
    except UnicodeDecodeError:
        return None


def _text_of(path: str, read: FileRead) -> str:
    """Raises CallError: there is none."""
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


def _part(path: str, text: str, arguments: Arguments) -> ToolResult:
    """What is asked for of a text. Raises CallError: it is not so long."""
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


def _withheld(paths: list[str]) -> str:
    what = "1 file was" if not paths[1:] else f"{len(paths)} files were"
    why = "a hard link to what is private or outside the workspace"
    return f"({what} not searched: {paths[0]} is {why}; read_file asks the user for it)"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def failure(why: str) -> ToolResult:
    """The answer to a call that cannot be done, with the reason."""
    if len(why) > FAILURE_CHARS:
        why = f"{why[:FAILURE_CHARS]}..."
    return ToolResult(f"error: {why}", why, failed=True)
