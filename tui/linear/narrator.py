"""What happened in the session since the last look, as lines of text: each thing once, in order.

The model's words as lines that are heard one by one: a sentence each, code as it is. A line is
given out when it is whole, so whatever reads the lines aloud is never cut off and never has to go
back. How the text came in pieces makes no difference to the lines. For a terminal prose is broken
between words: at its edge a screen reader that goes by rows would read half a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from tui.core.conversation import Block, BlockKind
from tui.core.document.hunk import Hunk
from tui.core.document.workspace import Workspace
from tui.core.files import counted
from tui.core.inert_text import brief, inert
from tui.core.run_report import RunReport, ended_words
from tui.engine.notices import Notices, Status
from tui.engine.session import Session
from tui.engine.slash import BackgroundNews, DelegateNews
from tui.linear.words import (
    ask_lines,
    kept_words,
    patch_lines,
    span,
    state_words,
    trouble_line,
    turn_words,
    waiting_words,
)

LEAST_WIDTH = 20
"""In a narrower terminal nothing is broken here."""


class Verbatim(str):
    """A line of code, of a difference or of a command's output: never broken."""

    __slots__ = ()


def verbatim(lines: Iterable[str]) -> list[str]:
    """These lines are not to be broken."""
    return [Verbatim(line) for line in lines]


def broken(line: str, width: int | None) -> Iterator[str]:
    """A line of prose as lines of at most ``width`` cells, where there are blanks to break at."""
    if width is None or width < LEAST_WIDTH or cells(line) <= width:
        yield line
        return
    row, used = "", 0
    for word in line.split(" "):
        wide = cells(word)
        if row.strip() and used + 1 + wide > width:
            yield row
            row, used = word, wide
        else:
            row = f"{row} {word}" if row or used else word
            used = cells(row) if not row.isascii() else len(row)
    yield row


def cells(text: str) -> int:
    """About how wide a text is on a terminal."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))


_LEAST_CHARS = 40
"""A sentence that is shorter waits for the next one."""
_MOST_CHARS = 400
"""Of a line without the end of a sentence."""
_AHEAD_CHARS = 8
"""What is looked at behind the end of a sentence."""
_LONGEST_WORD = 4000
"""What is longer is cut: it is no word that anybody reads."""
_END = re.compile(r"(?<=[^\s\d.][.!?])[\"')\]*_`]*\s+(?=[\"'(\[`*_]*[A-Z0-9])")
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^`]*$")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t#]*$")
_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")


class Speech:
    """Takes text as it comes, gives whole lines."""

    def __init__(self) -> None:
        self._line = ""
        """What came of the line that is not whole yet."""
        self._fence = ""
        """The marks that opened the code; empty: this is prose."""
        self._gap = False
        """An empty line is due before the next one."""
        self._begun = False

    def take(self, text: str) -> list[str]:
        """The lines that became whole."""
        *whole, self._line = (self._line + text.replace("\r", "")).split("\n")
        found: list[str] = []
        for line in whole:
            found += self._whole(line)
        if not self._fence:
            found += self._sentences()
        return found

    def rest(self) -> list[str]:
        """What is left at the end; the next text begins anew."""
        line, self._line = self._line, ""
        found = self._whole(line) if line.strip() else []
        if self._fence:
            found.append("End of code.")
        self._fence, self._gap, self._begun = "", False, False
        return found

    def _whole(self, line: str) -> list[str]:
        """A line that is whole."""
        fence = _FENCE.match(line)
        if self._fence:
            if fence and fence[1].startswith(self._fence) and not fence[2]:
                self._fence = ""
                return ["End of code."]
            return [Verbatim(line)]
        if fence:
            self._fence = fence[1]
            return self._said([f"Code, {fence[2]}:" if fence[2] else "Code:"])
        if not line.strip():
            self._gap = self._begun
            return []
        if heading := _HEADING.match(line):
            return self._said([f"Heading {len(heading[1])}: {_plain(heading[2])}"])
        return self._said([_plain(piece) for piece in pieces(line)])

    def _sentences(self) -> list[str]:
        """The whole sentences at the beginning of the line that is still coming."""
        if self._line.lstrip()[:1] in ("#", "`", "~", ""):
            return []
        *whole, self._line = pieces(self._line)
        return self._said([_plain(piece) for piece in whole])

    def _said(self, lines: list[str]) -> list[str]:
        """These lines of prose, set apart from the paragraph before."""
        if not lines:
            return []
        gap, self._gap, self._begun = self._gap, False, True
        return ["", *lines] if gap else lines


def pieces(line: str) -> list[str]:
    """A line of prose as sentences; the last piece is what may go on."""
    found: list[str] = []
    start = at = 0
    while True:
        # no further than that: a line of a million characters must not cost more with each one
        end = _END.search(line, at, start + _MOST_CHARS + _AHEAD_CHARS)
        if end is not None and end.end() <= start + _MOST_CHARS:
            at = end.end()
            if at - start >= _LEAST_CHARS:
                found.append(line[start:at].rstrip())
                start = at
            continue
        cut = _cut(line, start)
        if cut <= start:
            return [*found, line[start:]]
        found.append(line[start:cut].rstrip())
        start = at = cut + (line[cut : cut + 1] == " ")


def _cut(line: str, start: int) -> int:
    """Where a line without the end of a sentence is cut; not behind ``start``: nowhere yet."""
    if len(line) - start <= _MOST_CHARS + _AHEAD_CHARS:
        return start
    blank = line.rfind(" ", start + 1, start + _MOST_CHARS)
    if blank < 0:
        blank = line.find(" ", start + _MOST_CHARS, start + _LONGEST_WORD)
    if blank < 0 and len(line) - start > _LONGEST_WORD:
        return start + _LONGEST_WORD
    return blank


def _plain(text: str) -> str:
    """Without the asterisks of bold type, which are nothing but noise when read aloud."""
    return _BOLD.sub(r"\1", text) if "**" in text else text


MOST_OUTPUT = 30
"""Lines of a command's output that are told at once; of more only the last ones are."""
TAIL = 15
_MOST_FAILED = 12
MOST_CHARS = 500
"""Of one line of it."""


class ReadingPace(Struct):
    """How much is told, and when."""

    whole: bool = False
    """Answers are told at their end, in one piece."""
    outputs: bool = False
    """Outputs of commands are told to their last line, as they come."""
    latest: Block | None = None
    """The command that was told of last."""


class TextNarrator:
    """The model's prose."""

    def __init__(self, block: Block, pace: ReadingPace) -> None:
        self._block = block
        self._pace = pace
        self._speech = Speech()
        self._read = 0

    def news(self) -> list[str]:
        """The sentences that became whole; at the end the rest."""
        lines: list[str] = []
        if self._pace.whole and self._block.state == "open":
            return lines
        if self._block.length > self._read:
            lines = self._speech.take(self._block.text_since(self._read))
            self._read = self._block.length
        if self._block.state != "open":
            lines += self._speech.rest()
            if lines and self._block.state == "cut":
                lines.append("(cut here)")
        return lines


class PatchNarrator:
    """Edits: which file is written in, and at the end what came."""

    def __init__(self, block: Block, workspace: Workspace) -> None:
        self._block = block
        self._workspace = workspace
        self._looked = 0
        self._named: set[str] = set()

    def news(self) -> list[str]:
        """A line when a file is begun; a line a hunk when the patch has ended."""
        hunks = self._workspace.hunk_list.of_call(self._block.call_id)
        if self._block.state != "open":
            return self._ended(hunks)
        begun = dict.fromkeys(hunk.path for hunk in hunks[self._looked :])
        self._looked = len(hunks)
        fresh = [path for path in begun if path and path not in self._named]
        self._named.update(fresh)
        return [f"Writing in {inert(path)}." for path in fresh]

    def _ended(self, hunks: Sequence[Hunk]) -> list[str]:
        lines = patch_lines(hunks)
        why = self._block.text.strip()
        said = any(why.partition(": ")[2] in hunk.reason for hunk in hunks)
        if self._block.state in ("cut", "failed") and why and not said:
            lines.append(sentence(f"The patch: {why}"))
        return lines


class RunNarrator:
    """A command: that it runs, and its output when it has ended."""

    def __init__(self, block: Block, pace: ReadingPace) -> None:
        self._block = block
        self._pace = pace
        self._begun = False
        self._read = 0
        self._line = ""

    def news(self) -> list[str]:
        """The output, all or its end; behind another command's also whose it is."""
        again, lines = self._begun, self._told()
        if lines:
            if again and self._pace.latest is not self._block:
                lines.insert(0, f"From {brief(self._block.title)}:")
            self._pace.latest = self._block
        return lines

    def _told(self) -> list[str]:
        lines: list[str] = []
        if not self._begun and self._block.title:
            self._begun = True
            how = "The model's command" if self._block.turn else "Running"
            lines.append(f"{how}: {brief(self._block.title)}")
        ended = self._block.state != "open"
        report = self._block.report if ended else None
        told = report_lines(report, red=self._block.state == "failed")
        ground = [f"This ran with {report.ground}."] if report and report.ground else []
        ground += [f"This ran without {report.left_out}."] if report and report.left_out else []
        if self._pace.outputs:
            return [*lines, *self._fresh(ended), *told, *ground]
        if ended:
            lines += told or output_lines(self._block.text)
        return [*lines, *ground]

    def _fresh(self, ended: bool) -> list[str]:
        text = self._line + self._block.text_since(self._read)
        self._read = self._block.length
        *lines, self._line = text.replace("\r\n", "\n").split("\n")
        if ended and self._line:
            lines.append(self._line)
            self._line = ""
        return verbatim(lines)


class OnceNarrator:
    """A block that is told when it is closed."""

    def __init__(self, block: Block, echoed: bool) -> None:
        """``echoed``: the words of a user's block stand there already, typed by hand."""
        self._block = block
        self._echoed = echoed

    def news(self) -> list[str]:
        """A line, or as many as there are in a note."""
        block = self._block
        if block.state == "open":
            return []
        match block.kind:
            case BlockKind.USER:
                return [] if self._echoed else [f"You: {brief(block.title or block.text, 240)}"]
            case BlockKind.TOOL:
                failed = ", failed" if block.state in ("failed", "cut") else ""
                result = f": {brief(block.text)}" if block.text.strip() else ""
                return [f"Tool: {brief(block.title)}{failed}{result}"]
            case BlockKind.NOTE:
                text = "\n".join(filter(None, (block.title, block.text.strip())))
                text = text.replace("~", "about ") if block.state == "cut" else text
                return [sentence(line) for line in text.split("\n") if line.strip()]
        return []


BlockNarrator = TextNarrator | PatchNarrator | RunNarrator | OnceNarrator


def narrator_of(
    block: Block, workspace: Workspace, pace: ReadingPace, *, echoed: bool
) -> BlockNarrator:
    """Whoever tells this block."""
    match block.kind:
        case BlockKind.TEXT:
            return TextNarrator(block, pace)
        case BlockKind.PATCH:
            return PatchNarrator(block, workspace)
        case BlockKind.RUN:
            return RunNarrator(block, pace)
    return OnceNarrator(block, echoed)


def output_lines(text: str) -> list[str]:
    """A command's output, or how long it is and its end."""
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    if len(lines) <= MOST_OUTPUT:
        return verbatim(map(_clipped, lines))
    left = len(lines) - TAIL
    head = f"{counted(left, 'line')} before these: /output reads all."
    return [head, *verbatim(map(_clipped, lines[-TAIL:]))]


def report_lines(report: RunReport | None, *, red: bool) -> list[str]:
    """The failed tests, or why there was no verdict."""
    if report is None or not (report.fault or report.failed or ended_words(report)):
        return []
    if report.fault:
        return [
            f"Nothing was judged: {inert(report.fault)}.",
            f"Next: {inert(report.step)}",
            "/output reads the output.",
        ]
    failed = report.failed or report.known
    if not failed:
        return [f"{ended_words(report, red=red)}."]
    words = " failed" if report.noun == "test" else ""
    words += "" if report.failed else " before, too"
    lines = [f"{counted(len(failed), report.noun)}{words}:"]
    for one in failed[:_MOST_FAILED]:
        place = f" in {one.path} line {one.line + 1}" if one.path else ""
        why = f": {one.message}" if one.message else ""
        lines += verbatim([_clipped(inert(f"{one.name}{place}{why}"))])
    if more := len(failed) - _MOST_FAILED:
        lines += [f"And {more} more."] if more > 0 else []
    return [*lines, "/output reads the whole output."]


def _clipped(line: str) -> str:
    """A line that nobody wants to hear to its end."""
    if len(line) <= MOST_CHARS:
        return line
    return f"{line[:MOST_CHARS]}… ({len(line) - MOST_CHARS:,} more characters: /output reads all)"


def sentence(words: str) -> str:
    """With a capital at the beginning, unless that is a path, and a full stop at the end."""
    words = " ".join(words.split())
    stop = "" if words.endswith((".", "!", "?", ":")) else "."
    first = (
        words[:1] if set("./_").intersection(words.partition(" ")[0][:-1]) else words[:1].upper()
    )
    return f"{first}{words[1:]}{stop}"


_OF_MODEL = (BlockKind.TEXT, BlockKind.REASONING, BlockKind.TOOL, BlockKind.PATCH)
_TIP = "What you type now redirects it; /queue TEXT waits; Ctrl+C stops it."
STILL_S = (10.0, 30.0, 60.0)
"""After so much silence it is said that something still runs; then every minute."""


_MOST_CUT = 4


class Narrator:
    """Reads the session as a screen does, and says each thing once."""

    def __init__(self, session: Session, pace: ReadingPace) -> None:
        self._session = session
        self._pace = pace
        blocks, last = session.transcript.blocks, session.last_turn
        told = next((n for n, block in enumerate(blocks) if block.turn == last > 0), 0)
        if session.status.can_continue:  # what was cut may stand in an earlier turn
            cut = (n for n in range(len(blocks) - 1, -1, -1) if blocks[n].state == "cut")
            told = min(told, next((n for n in cut if blocks[n].kind in _OF_MODEL), told))
        self._told = told
        """Blocks that were begun to be told; of an earlier session its last turn is."""
        self._live: list[tuple[Block, BlockNarrator]] = []
        self._cut: list[tuple[Block, BlockNarrator]] = []
        """The last ones that were cut: they may go on."""
        self._echoed: list[str] = []
        self._asked: set[int] = set()
        self._background = BackgroundNews()
        self._delegated = DelegateNews()
        self._answering = (0, "")
        self._tipped = pace.outputs  # nobody listens, and types into it
        self._running = False
        """A turn began whose end was not told yet."""
        self._retrying = self._failed = False
        self._turn = 0
        self._said_s = session.now()
        self._stills = 0

    def echoed(self, text: str) -> None:
        """These words were typed, and stand there: they are not told again."""
        self._echoed.append(text)

    def news(self, notices: Notices) -> list[str]:
        """All that is to be said now."""
        lines = self._blocks()
        lines += [trouble_line(one) for one in notices.troubles if not one.noted]
        lines += self._states()
        lines += self._questions()
        if lines:
            self._said_s, self._stills = self._session.now(), 0
        return lines

    def still(self) -> list[str]:
        """That something goes on, if nothing was said for a while."""
        session, status = self._session, self._session.status
        if session.at_rest or status.asks:
            self._said_s, self._stills = session.now(), 0
            return []
        quiet_s = session.now() - self._said_s
        last = STILL_S[-1]
        due_s = STILL_S[self._stills] if self._stills < len(STILL_S) else last
        if quiet_s < due_s:
            return []
        self._stills += 1
        if self._stills >= len(STILL_S):
            self._said_s = session.now()
        if status.busy or status.retry_s is not None:
            return [state_words(status, session.meter.view(session.now()))]
        return [f"Still running after {span(quiet_s)}: {status.running or 'a command'}."]

    def ask_again(self) -> None:
        """The open question is said once more."""
        self._asked.clear()

    def turn_hunks(self) -> list[Hunk]:
        """The hunks of the turn that was begun last."""
        found: list[Hunk] = []
        for hunk in reversed(self._session.workspace.hunks):
            if hunk.turn < self._turn:
                break
            found.append(hunk)
        return found[::-1]

    def _blocks(self) -> list[str]:
        lines: list[str] = []
        blocks = self._session.transcript.blocks
        live, were = [], self._live
        for block, narrator in were:
            lines += narrator.news()
            if block.state == "open":
                live.append((block, narrator))
        self._live = [*live, *self._gone_on(lines)]
        while self._told < len(blocks):
            block = blocks[self._told]
            self._told += 1
            lines += self._head(block)
            narrator = narrator_of(
                block, self._session.workspace, self._pace, echoed=self._is_echoed(block)
            )
            lines += narrator.news()
            were.append((block, narrator))
            if block.state == "open":
                self._live.append((block, narrator))
        self._cut = [*self._cut, *(one for one in were if one[0].state == "cut")][-_MOST_CUT:]
        return lines

    def _gone_on(self, lines: list[str]) -> list[tuple[Block, BlockNarrator]]:
        """Those that were cut, and go on (`/continue`)."""
        again = [one for one in self._cut if one[0].state != "cut"]
        self._cut = [one for one in self._cut if one[0].state == "cut"]
        for _, narrator in again:
            lines += narrator.news()
        return [one for one in again if one[0].state == "open"]

    def _head(self, block: Block) -> list[str]:
        """Who speaks, when that is somebody else than before."""
        if block.kind is BlockKind.USER:
            self._running |= block.turn > self._turn
            self._turn = block.turn
        voice = block.turn, block.speaker
        if block.kind not in _OF_MODEL or voice == self._answering or not block.speaker:
            return []
        self._answering = voice
        doing = "thinking" if block.kind is BlockKind.REASONING else "answering"
        lines = [f"{block.speaker} is {doing}."]
        if not self._tipped:
            self._tipped = True
            lines.append(_TIP)
        return lines

    def _is_echoed(self, block: Block) -> bool:
        if block.kind is not BlockKind.USER or block.text not in self._echoed:
            return False
        self._echoed.remove(block.text)
        return True

    def _states(self) -> list[str]:
        """What began or ended, in words."""
        status = self._session.status
        lines: list[str] = []
        if status.retry_s is not None and not self._retrying:
            lines.append(state_words(status, self._session.meter.view(self._session.now())))
        self._retrying = status.retry_s is not None
        lines += [brief(words, 240) for _, words in self._background.new(status)]
        lines += [brief(words, 240) for words in self._delegated.new(status)]
        if self._running and not status.busy:
            lines += self._ended(status)
        self._running = status.busy
        if status.can_send_failure and not self._failed and not self._pace.outputs:
            lines.append("/fix sends the output to the model.")
        self._failed = status.can_send_failure
        return lines

    def _ended(self, status: Status) -> list[str]:
        """How the turn ended, and what waits for the user."""
        session, hunks = self._session, self.turn_hunks()
        lines = []
        if status.outcome == "completed":
            view = session.meter.view(session.now())
            lines.append(f"{status.role} is done: {turn_words(view)}.")
        elif status.outcome == "interrupted":
            kept = kept_words(hunks)
            lines.append(f"{kept}." if kept else "No hunk had landed.")
        elif status.outcome == "failed":
            lines.append("The turn failed.")
        if status.can_continue:
            lines.append("/continue goes on with it.")
        waiting = waiting_words(session.workspace.hunk_list.unsettled())
        return [*lines, waiting] if waiting else lines

    def _questions(self) -> list[str]:
        asks = self._session.status.asks
        lines: list[str] = []
        known = {ask.id for ask in asks}
        self._asked &= known
        for ask in asks[:1]:
            if ask.id not in self._asked:
                self._asked.add(ask.id)
                lines += ask_lines(ask)
        return lines
