"""Edits that a model writes under a grammar: a line that does not fit is written again.

A line is shown when it is whole and, in a REPLACE, if what stands before it can still become right
for the parser of the file's language, where there is one. The first lines of a REPLACE that are as
those that are looked for are shown with the first one that is not.
"""

from __future__ import annotations

import asyncio
import json
import tomllib
import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence

from msgspec.structs import replace

from tui.bridge.endpoints.base import Asked, Broken, Refused
from tui.bridge.endpoints.openai_chat.stream import usage_in
from tui.bridge.local.grammar import DIVIDER, MOST_ADDED, REPLACE, SEARCH, rest_grammar
from tui.bridge.local.request import LocalPlan
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
