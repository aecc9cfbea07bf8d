"""What a small model is told, and the edits that it writes under a grammar.

A line that does not fit is written again. It is shown when it is whole and, in a REPLACE, if what
stands before it can still become right for the parser of the file's language, where there is one.
The first lines of a REPLACE that are as those that are looked for are shown with the first one that
is not.

In the grammar (GBNF) SEARCH is lines of one of the files, in their order, from one that is there
only once; REPLACE is a bounded number of bounded lines, of which none is like a marker. Lines with
a common beginning share it, so that llama.cpp follows few alternatives at a time, whatever the
files' sizes are.
"""

from __future__ import annotations

import asyncio
import json
import re
import tomllib
import warnings
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from json.encoder import encode_basestring as _quoted
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from tui.bridge.endpoints.base import Asked, Broken, Refused
from tui.bridge.endpoints.openai_chat.stream import usage_in
from tui.bridge.rehearsal.request import ParsedRequest, parse_request
from tui.bridge.upstream.client import Upstream
from tui.bridge.upstream.errors import error_in
from tui.bridge.upstream.sse import Message, SseParser, said_by
from tui.core.wire.address import Address
from tui.core.wire.events import Usage
from tui.core.wire.json_writing import request_body

MOST_TRIES = 8
"""At lines that do not go with what stands there; then the edit is ended as it is."""
MOST_TOKENS = 1200
"""Of one edit, with all that was written again."""
TOLD = {"timings_per_token": True}
"""Each piece of an answer brings the count so far: it is exact also of one that is interrupted."""
_WARMTH, _WARMER, _WARMEST = 0.3, 0.15, 1.2
"""Temperatures: of the first try, more for each other one, and at most."""


class TooLongError(Exception):
    """What the model is told is more than its window."""

    def __init__(self, share: float) -> None:
        """``share`` of it fits, without an answer."""
        super().__init__(share)
        self.share = share


class Writing:
    """One answer of edits: what of it was said, and what that took."""

    say: Callable[[str], Awaitable[None]]
    """Shows text."""
    count: Callable[[Usage], None]

    def __init__(self, plan: LocalPlan, asked: Asked, address: Address, upstream: Upstream) -> None:
        self.plan, self.asked, self._address = plan, asked, address
        self._upstream = upstream
        self._said = ""
        """The edits that are whole."""
        self._counted = Usage(0, 0)
        """Of the requests that are over."""
        self._now = Usage(0, 0)
        """Of the one that runs."""

    @property
    def usage(self) -> Usage:
        """The server's own count: the input of the first request, the output of all."""
        done, now = self._counted, self._now
        first = done if done.input_tokens else now
        return replace(first, output_tokens=done.output_tokens + now.output_tokens)

    async def write(self, edit: WrittenEdit, grammar: str) -> None:
        """Have one written. Afterwards it is not `done` only if the model wanted none."""
        tries, most_tokens = 0, self.usage.output_tokens + MOST_TOKENS
        while not edit.done:
            least = 0
            try:
                await self._ask(edit, grammar, min(_WARMTH + _WARMER * tries, _WARMEST))
                over = True  # the model ended, or came to its limit
            except RejectedLineError:
                tries += 1
                least = int(edit.at_end)
                over = tries >= MOST_TRIES or self.usage.output_tokens >= most_tokens
            if edit.done or not edit.said:
                break
            if over:
                await self.say(await asyncio.to_thread(edit.end))
                if not edit.done:
                    raise Broken("The model on this machine ended without saying what to change.")
            else:
                edit.again()
                grammar = rest_grammar(min(least, edit.room), edit.room)
        self._said += edit.said

    async def _ask(self, edit: WrittenEdit, grammar: str, warmth: float) -> None:
        """Have the model go on with it. Raises RejectedLineError, TooLongError, Broken, Refused."""
        said = f"{self._said}{edit.said}"
        begun = [{"role": "assistant", "content": said}] if said else []
        body = {
            "model": self.asked.model,
            "messages": [*self.plan.messages, *begun],
            "grammar": grammar,
            "temperature": warmth,
            "max_tokens": MOST_TOKENS // 2,
            "stream": True,
            "cache_prompt": True,
            **TOLD,
        }
        try:
            async with self._upstream.post(self._address, request_body(body)) as response:
                if response.status != 200:
                    why = await response.chunk()
                    if (share := _fitting_share(why)) is None:
                        raise _refused(response.status, why)
                    if said:
                        raise Broken("The window of the model on this machine is full.")
                    raise TooLongError(share)
                parser = SseParser()
                while chunk := await response.chunk():
                    for message in parser.feed(chunk):
                        text = edit.take(self._heard(message))
                        self.count(self.usage)
                        if text:
                            await self.say(text)
                        if edit.done:
                            return
        except Broken as error:
            raise type(error)(f"The model on this machine stopped: {error}") from error
        finally:
            self._counted, self._now = self.usage, Usage(0, 0)

    def _heard(self, message: Message) -> str:
        """The text in a chunk; what the server counted is kept."""
        chunk = said_by(message)
        if not isinstance(chunk, dict):
            return ""
        if "error" in chunk:
            raise Broken(error_in(chunk).message)
        self._now = usage_in(chunk) or self._now
        choices = chunk.get("choices")
        delta = choices[0].get("delta") if isinstance(choices, list) and choices else None
        text = delta.get("content") if isinstance(delta, dict) else None
        return text if isinstance(text, str) else ""


def _fitting_share(body: bytes) -> float | None:
    """The share of a refused request that fits; None if its length is not why it was refused."""
    answer = said_by(Message("", body))
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict):
        return None
    there, wanted = error.get("n_ctx"), error.get("n_prompt_tokens")
    if not (isinstance(there, int) and isinstance(wanted, int) and 0 < there < wanted):
        return None
    return there / wanted


def _refused(status: int, body: bytes) -> Refused:
    answer = said_by(Message("", body))
    words = error_in(answer if isinstance(answer, dict) else {}).message
    return Refused(400 if status < 500 else status, "local_model_refused", words or "It refused.")


_INCOMPLETE = 0x4000 | 0x200
"""ast.PyCF_ALLOW_INCOMPLETE_INPUT and PyCF_DONT_IMPLY_DEDENT, as `codeop` has them."""
_ONLY_AST = 0x400
_TO_COME = "incomplete input"
"""What Python says where the beginning is right and more has to follow."""
MOST_PARSED = 2000
"""Lines that are read with each line that is written, a few ms; longer files at the end only."""
_MOST_WHOLE = 10_000
"""Lines of a file that is read at the end: it takes about 0.1 s."""


class RejectedLineError(Exception):
    """The line that came does not go with what stands there: it is to be written again."""


class WrittenEdit:
    """One edit of some files, from its first character on."""

    def __init__(self, files: Mapping[str, Sequence[str]]) -> None:
        self._files = files
        self.said = ""
        """What may be shown."""
        self._line = ""
        self.path = ""
        self.searched: list[str] = []
        self.lines: list[str] = []
        """Of REPLACE."""
        self._shown = 0
        """Of these, how many are in `said`."""
        self.at_end = False
        """It was the end that was rejected."""
        self._state = "name"

    @property
    def done(self) -> bool:
        """It is whole, and the file reads well with it."""
        return self._state == "done"

    @property
    def room(self) -> int:
        """So many lines more may be put in."""
        return len(self.searched) + MOST_ADDED - len(self.lines)

    def take(self, text: str) -> str:
        """Read more; returns what of it may be shown. Raises RejectedLineError."""
        before = len(self.said)
        *whole, self._line = f"{self._line}{text}".split("\n")
        for line in whole:
            self._take_line(line)
            self.said += self._shown_with(line)
        return self.said[before:]

    def _shown_with(self, line: str) -> str:
        """What may be shown now that a line was taken."""
        ends = self._state == "done"
        if not ends and not self.lines:
            return f"{line}\n"
        if not ends and self.lines == self.searched[: len(self.lines)]:
            return ""
        shown, self._shown = self.lines[self._shown :], len(self.lines)
        return "".join(f"{one}\n" for one in (*shown, *([REPLACE] * ends)))

    def _take_line(self, line: str) -> None:
        if self._state == "name":
            self.path, self._state = line, "head"
        elif self._state == "head" and line == SEARCH:
            self._state = "search"
        elif self._state == "search" and line != DIVIDER:
            self.searched.append(line)
        elif self._state == "search":
            self._state = "replace"
        elif self._state == "replace" and line == REPLACE:
            self.at_end = True
            if self.lines == self.searched or not self._fits(self.lines):
                raise RejectedLineError
            self._state = "done"
        elif self._state == "replace":
            self.at_end = False
            if not self.room or not may_go_on(self.path, self._before([*self.lines, line])):
                raise RejectedLineError
            self.lines.append(line)

    def text_with(self, lines: Sequence[str]) -> list[str]:
        """The file with these lines in the place of those that are looked for."""
        file, row = list(self._files[self.path]), self._row()
        return [*file[:row], *lines, *file[row + len(self.searched) :]]

    def _before(self, lines: Sequence[str]) -> list[str]:
        """The file up to the line that was put in last."""
        return [*self._files[self.path][: self._row()], *lines]

    def _row(self) -> int:
        """The first line is there only once."""
        return list(self._files[self.path]).index(self.searched[0])

    def again(self) -> None:
        """What was not shown is forgotten: it is written again."""
        self._line = ""
        del self.lines[self._shown :]

    def end(self) -> str:
        """End it where it is; returns what is to be shown for that.

        Of the lines that are looked for those stay that come behind as many as were put in, or some
        more or fewer, so that the file reads well, perhaps behind what closes a bracket or a
        string. Without any such line it cannot be ended.
        """
        self.again()
        if not self.searched:
            return ""
        begun = f"{DIVIDER}\n" * (self._state == "search")
        count = len(self.searched)
        rows = sorted(range(count + 1), key=lambda row: abs(row - len(self.lines)))
        ends = [[*close, *self.searched[row:]] for close in self._closing() for row in rows]
        fitting = (end for end in ends if self._fits([*self.lines, *end]))
        rest = next(fitting, self.searched if not self.lines else [])
        self.lines, self._state = [*self.lines, *rest], "done"
        text = begun + "".join(f"{line}\n" for line in (*rest, REPLACE))
        self.said += text
        return text

    def _closing(self) -> list[list[str]]:
        """Lines that may close what the lines that were put in have opened; first none."""
        last = next((line for line in reversed(self.lines) if line.strip()), "")
        indent = last[: len(last) - len(last.lstrip())]
        signs = ('"""', "'''", ")", "]", "}", "pass", "    pass") if _is_python(self.path) else ()
        return [[], *([f"{indent}{sign}"] for sign in signs if self.lines)]

    def _fits(self, lines: Sequence[str]) -> bool:
        return reads_well(self.path, self.text_with(lines))


def reads_well(path: str, lines: Sequence[str]) -> bool:
    """Whether a file's text is right for the parser of its language; where there is none, it is."""
    if len(lines) > _MOST_WHOLE:
        return True
    text = "\n".join([*lines, ""])
    try:
        if _is_python(path):
            _parse(text, 0)
        elif path.endswith(".json"):
            json.loads(text)
        elif path.endswith(".toml"):
            tomllib.loads(text)
    except (SyntaxError, ValueError):
        return False
    except (RecursionError, MemoryError):
        return True
    return True


def may_go_on(path: str, lines: Sequence[str]) -> bool:
    """Whether something may follow these first lines of a file that makes it right."""
    if not _is_python(path) or len(lines) > MOST_PARSED:
        return True
    try:
        _parse("\n".join([*lines, ""]), _INCOMPLETE)
    except SyntaxError as error:
        return _TO_COME in str(error.msg)
    except (ValueError, RecursionError, MemoryError):
        return True
    return True


def _is_python(path: str) -> bool:
    return path.endswith((".py", ".pyi"))


def _parse(text: str, flags: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(text, "edit", "exec", flags | _ONLY_AST, dont_inherit=True)


SEARCH, DIVIDER, REPLACE = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"
MOST_SEARCHED = 12
"""Lines of a SEARCH."""
MOST_ADDED = 8
"""Lines that a REPLACE has more than its SEARCH."""
MOST_CHARS = 200
"""Of a line: longer ones are not looked for, and not written."""
_MARKS = ("<<<<<<<", "=======", ">>>>>>>")
_LINES = r"""
m ::= "=======\n" r
line ::= "\n" | [^\n<=>] rest | "<" (other | "\n") | "=" (other | "\n") | ">" (other | "\n")
other ::= [^\n<=>] rest
"""
"""A line that is no marker: of the signs that markers are made of at most one begins it."""


def edit_grammar(
    files: Mapping[str, Sequence[str]], shown: Mapping[str, int], *, may_end: bool = False
) -> str:
    """For an edit of one of these files, by path their lines; ``may_end``: or none.

    Of a file in ``shown`` only so many first lines can be changed. Empty: none of them has a line
    that an edit could begin at.
    """
    rules: list[str] = []
    heads = []
    for number, (path, lines) in enumerate(files.items()):
        unusable = _unusable(lines)
        end = shown.get(path, len(lines))
        if starts := [one for one in _starts(lines, unusable) if one[1] < end]:
            rules += _followers(f"f{number}-", lines[:end], unusable)
            shared = _shared(starts, (0, len(starts), 0), f"f{number}-")
            head = _quoted(f"{path}\n{SEARCH}\n")
            heads.append(f"{head} ({shared})")
    if not heads:
        return ""
    none = '"" | ' if may_end else ""
    return "\n".join(
        [f"root ::= {none}{' | '.join(heads)}", *rules, _rest(0, MOST_SEARCHED + MOST_ADDED)]
    )


def rest_grammar(least: int, most: int) -> str:
    """For the rest of an edit whose REPLACE has begun: so many more lines, then its end."""
    return f"root ::= r\n{_rest(least, max(least, most))}"


def _rest(least: int, most: int) -> str:
    end = _quoted(f"{REPLACE}\n")
    rest = f'rest ::= [^\\n]{{0,{MOST_CHARS - 2}}} "\\n"'
    return f"r ::= line{{{least},{most}}} {end}\n{rest}{_LINES}"


def _unusable(lines: Sequence[str]) -> frozenset[str]:
    """Lines that no SEARCH can have: long ones, markers, and those with signs that are not seen."""
    text = "".join(lines).replace("\t", "")
    plain = text.isprintable() and not any(mark in text for mark in _MARKS)
    return frozenset(
        line
        for line in lines
        if len(line) > MOST_CHARS
        or not (plain or (line.replace("\t", "").isprintable() and not line.startswith(_MARKS)))
    )


def _starts(lines: Sequence[str], unusable: frozenset[str]) -> list[tuple[str, int]]:
    """The lines that are there once, sorted, with their rows."""
    once: dict[str, int] = {}
    for row, line in enumerate(lines):
        once[line] = -1 if line in once else row
    found = [(line, row) for line, row in once.items() if row >= 0 and line.strip()]
    found.sort()
    return [one for one in found if one[0] not in unusable] if unusable else found


def _followers(name: str, lines: Sequence[str], unusable: frozenset[str]) -> Iterator[str]:
    """A rule for each line: what may come behind it."""
    # a list is escaped at once: line by line it would take most of the time
    quoted = json.dumps(list(lines), ensure_ascii=False, separators=("\n", ":"))[1:-1].split("\n")
    for row, line in enumerate(lines[1:], 1):
        if row % MOST_SEARCHED and line not in unusable:
            yield f'{name}{row - 1} ::= m | {quoted[row][:-1]}\\n" {name}{row}'
        else:
            yield f"{name}{row - 1} ::= m"
    yield f"{name}{len(lines) - 1} ::= m"


def _shared(starts: list[tuple[str, int]], part: tuple[int, int, int], name: str) -> str:
    """Alternatives of sorted lines ``part[0]`` to ``part[1]``, behind their first characters."""
    low, high, depth = part
    found = []
    while low < high:
        line, row = starts[low]
        sign, end = line[depth : depth + 1], low + 1
        while end < high and starts[end][0][depth : depth + 1] == sign:
            end += 1
        if end == low + 1:
            rest = _quoted(line[depth:])[:-1]
            found.append(f'{rest}\\n" {name}{row}')
        else:
            other, common = starts[end - 1][0], depth + 1
            while line[common : common + 1] == other[common : common + 1] != "":
                common += 1
            shared = _shared(starts, (low, end, common), name)
            found.append(f"{_quoted(line[depth:common])} ({shared})")
        low = end
    return " | ".join(found)


MOST_READ = 4
"""Files that are read for one answer."""
_CHARS_PER_TOKEN = 3
_KEPT_TOKENS = 1500
"""For what is said beside the files, and for the answer."""
_SAID_CHARS = 2000
_NAMES = re.compile(r"[\w./-]*\w\.\w{1,8}\b")
TALK = "You are a pair programmer. Answer in a few short sentences."
EDIT = (
    "You edit files. Answer with the name of a file, then <<<<<<< SEARCH, the lines to change as "
    "they are, =======, the same lines as they should be, >>>>>>> REPLACE."
)


class LocalPlan(Struct, frozen=True):
    """What is to be done for a request."""

    kind: Literal["read", "edit", "talk"]
    paths: tuple[str, ...] = ()
    """The files to read."""
    files: dict[str, list[str]] = field(default_factory=dict)
    """Those that may be edited, by path their lines."""
    shown: dict[str, int] = field(default_factory=dict)
    """How many first lines of each the model sees, and may change."""
    messages: list[dict[str, str]] = field(default_factory=list)
    """What the model is told of an edit."""


def plan_of(asked: Asked, window: int) -> LocalPlan:
    """What to do. A prompt in a mode that changes files gets an edit of those that are known."""
    parsed = parse_request(asked.request, asked.items)
    if not _may_edit(parsed, asked.request):
        return LocalPlan("talk")
    named = list(dict.fromkeys(_named(parsed)))
    wanted = [*named, *(path for path in parsed.files if path in parsed.stale)]
    missing = [
        path
        for path in dict.fromkeys(wanted)
        if (path not in parsed.files or path in parsed.stale) and path not in parsed.unreadable
    ]
    if missing and parsed.can_read:
        return LocalPlan("read", tuple(missing[:MOST_READ]))
    order = [*named, *(path for path in parsed.files if path not in named)]
    known = [path for path in order if path in parsed.files and path not in parsed.stale]
    files = {path: _lines(parsed.files[path]) for path in known}
    shown = _fitting(files, window)
    if not shown:
        return LocalPlan("talk")
    # in the order in which they came: what was read for the last prompt is not read again
    seen = {path: files[path][: shown[path]] for path in parsed.files if path in shown}
    files = {path: files[path] for path in shown}
    return LocalPlan("edit", files=files, shown=shown, messages=edit_messages(seen, parsed.said))


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _may_edit(parsed: ParsedRequest, request: Any) -> bool:
    """Whether the request takes edits: by its tool, or in the answer's text."""
    words = str(request.get("instructions") or "")
    return "apply_patch" in parsed.declared or SEARCH in words or "*** Begin Patch" in words


def _named(parsed: ParsedRequest) -> Iterable[str]:
    """The files that the newest prompt names, whole or by their last part."""
    paths = {*parsed.listed, *parsed.files}
    for name in _NAMES.findall(parsed.prompt):
        if name in paths:
            yield name
        else:
            ending = [path for path in paths if path.endswith(f"/{name}")]
            yield from ending[:1] if len(ending) == 1 else ()


def _fitting(files: dict[str, list[str]], window: int) -> dict[str, int]:
    """How many lines there is room for; the last file that is begun may lack its end."""
    room = max(window - _KEPT_TOKENS, window // 2) * _CHARS_PER_TOKEN
    shown: dict[str, int] = {}
    for path, lines in files.items():
        if room < len(path) + 100:
            break
        taken = 0
        for line in lines:
            room -= len(line) + 1
            if room < 0:
                break
            taken += 1
        if taken:
            shown[path] = taken
    return shown


def edit_messages(files: dict[str, list[str]], said: list[str]) -> list[dict[str, str]]:
    """What the model is told of an edit: by path the lines it sees, and the last prompts."""
    shown = "\n\n".join("\n".join([path, "```", *lines, "```"]) for path, lines in files.items())
    prompt = "\n\n".join(said[-3:])[-_SAID_CHARS:]
    return [
        {"role": "system", "content": EDIT},
        {"role": "user", "content": f"{shown}\n\n{prompt}"},
    ]
