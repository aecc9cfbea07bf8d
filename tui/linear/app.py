"""The linear mode itself: lines in, lines out, over the session that the screen has, too.

It runs in an event loop; `Console` reads lines and writes them. What comes is gathered for a
moment, so that a voice that reads it aloud gets whole sentences and few pieces.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Literal, Protocol

from tui.core.files import counted
from tui.core.inert_text import PROSE, brief, inert
from tui.core.programs import Edited
from tui.core.session_record import SessionLine
from tui.engine import intents
from tui.engine.connecting import ConnectPort
from tui.engine.notices import Status
from tui.engine.session import Session, reasons_to_stay, unsaved_paths
from tui.engine.sessions import Onward, about, title_of, turn_asked
from tui.engine.slash import split_command
from tui.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, EXIT_UNREACHABLE, StoreRefused
from tui.linear.command_table import AT_ONCE
from tui.linear.commands import Commander
from tui.linear.connecting import LineTalk, connect, list_models
from tui.linear.narrator import Narrator, ReadingPace, Verbatim, broken
from tui.linear.reading import MOST_LINES, Drafts, LongOutput, Voice
from tui.linear.words import state_words

BLOCK = '"""'
"""On a line of its own: what stands between two of them is one prompt."""


class TypedEntry:
    """Keeps the lines of a prompt that is not whole yet."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._in_block = False

    @property
    def draft(self) -> str:
        """What was typed and is not whole."""
        return "\n".join(self._lines)

    @property
    def goes_on(self) -> bool:
        """True if the next line belongs to what was typed."""
        return bool(self._lines) or self._in_block

    def feed(self, line: str) -> str | None:
        """Take a line; returns the whole text when it is whole."""
        if line.strip() == BLOCK:
            self._in_block = not self._in_block
            return None if self._in_block else self.take()
        if self._in_block:
            self._lines.append(line)
            return None
        if line.endswith("\\") and not line.endswith("\\\\"):
            self._lines.append(line[:-1])
            return None
        self._lines.append(line)
        return self.take()

    def take(self) -> str:
        """What there is, whole or not; nothing is kept."""
        text = self.draft
        self._lines, self._in_block = [], False
        return text


BATCH_S = 0.7
"""Between two pieces of an answer, where somebody listens."""
_FRAME_S = 0.05
_QUIT_WINDOW_S = 2.0
_PATIENCE_S = 1.0
_LOOK_S, _AGAIN_S = 0.2, 0.02
"""Between two looks at what is being typed, which is kept against a crash within a second.

Again soon where one waited for its turn: while keys come without a pause most are in vain.
"""
_REST_S = 1.0
"""Between two looks where nobody types and nothing runs: a signal may not have been heard yet."""
_BUSY_S = 1.0
"""So long after that keys are thought to come without a pause."""
BELL = "\x07"
Mode = Literal["ready", "more", "busy", "secret"]
"""What the next line is: a new one, more of the same, one said into a running answer, or a key."""
Editor = Callable[[str], Awaitable[Edited]]
_CHOICES = ("Save, then leave", "Leave", "Stay")


class Mouth(Protocol):
    """Where lines go; may be called from the event loop at any time."""

    def say(self, text: str) -> None:
        """Whole lines, safe to show."""

    def mode(self, mode: Mode, stoppable: bool) -> None:
        """What the next line will be, and whether Ctrl+C has something to stop."""

    @property
    def width(self) -> int | None:
        """Columns of the terminal; None: there is no terminal."""

    @property
    def holding(self) -> bool:
        """True while lines wait, since the user is typing."""

    def hush(self, on: bool) -> None:
        """Another program has the terminal, or has it no more."""

    def look(self) -> bool:
        """Have it told what is being typed; False: the last look still waits for its turn."""


class LinearApp:
    """Takes lines, and says what comes of them."""

    def __init__(self, session: Session, mouth: Mouth, *, live: bool) -> None:
        """``live``: somebody types; else commands come from a file, one after the other."""
        self._session = session
        self._mouth = mouth
        self._live = live
        pace = ReadingPace(outputs=not live)
        self._narrator = Narrator(session, pace)
        pages = LongOutput(MOST_LINES if live else None)
        self._drafts = Drafts()
        edit = self._edited if live else None
        self._talk = LineTalk(self._say, self.frame)
        self.connector: Callable[[], ConnectPort] | None = None
        """Gives what connecting a model needs of the outside; None: it cannot be done here."""
        self._aside: set[asyncio.Task[None]] = set()
        """What is said when it is known, and what asks."""
        voice = Voice(
            self._say,
            self._send,
            self._ask_to_leave,
            edit,
            self._drafts,
            lambda wanted: self._beside(self._connect(wanted)),
            lambda: self._beside(list_models(session, self._say)),
            lambda wanted: self._beside(resume(session, self._say, self._go_to, wanted)),
            lambda turn: fork(session, self._say, self._go_to, turn),
            pages,
            pace,
        )
        self._commander = Commander(session, voice)
        self._entry = TypedEntry()
        self._lines: deque[str] = deque()
        """Lines that wait their turn."""
        self._ended = self._asking = False
        """No line will come any more; the user is asked whether to leave."""
        self._woken = asyncio.Event()
        self._due: list[str] = []
        """Lines that are not said yet."""
        self._spoke_s = 0.0
        self._looked_s = 0.0
        self._busy_until_s = 0.0
        self._quit_until_s = 0.0
        self._code: int | None = None
        self._failed = EXIT_OK
        self._given_back = ""
        self.onward: Onward | None = None
        """The session to go to when this one is left; None: the shell."""
        self.rest: list[str] = []
        """Lines that were not taken, for the session that follows."""
        self.left = False
        """The user left on purpose: what is not saved is not kept."""
        self.editor: Editor | None = None
        """Opens the user's own editor on a text, in this terminal."""
        self.on_entered: Callable[[str], None] = lambda text: None
        """Told of every prompt and command, whole."""
        self.on_typed: Callable[[float], None] = lambda now_s: None
        """Told that somebody is there."""
        self.rings: Callable[[Status, float], bool] = lambda status, now_s: False
        """Told how it stands; True: the bell is rung."""
        self._bell = ""
        session.keeping.draft = lambda: self.draft

    @property
    def draft(self) -> str:
        """What was typed and not sent."""
        parts = [self._drafts.unsent, self._entry.draft, *self._lines, self._drafts.typing]
        return "\n".join(filter(str.strip, parts))

    def begin_with(self, lines: Iterable[str]) -> None:
        """These were entered before."""
        self._lines.extend(lines)

    @property
    def is_over(self) -> bool:
        """The user has left, or it was ended."""
        return self._code is not None

    async def run(self, opening: Iterable[str]) -> int:
        """Until the user leaves; returns the exit code."""
        self._say(opening)
        self._session.on_wake = self._woken.set
        self._woken.set()
        await self._session.run()
        if self._session.proposing is not None:
            self._session.proposing.look()
        while self._code is None:
            await self._wait()
            self.frame()
        self._speak(urgent=True)
        return self._code

    # what the console tells, in the event loop

    def line(self, text: str) -> None:
        """A line was entered."""
        self._quit_until_s = 0.0
        self._drafts.typing = ""
        self.on_typed(self._session.now())
        if self._talk.secret:  # it is kept nowhere, not for a moment
            self._talk.answer(text)
            self.frame()
            return
        self._lines.append(text)
        self._session.keeping.changed()
        self.frame()

    async def settled(self) -> None:
        """What was entered last is answered, or takes a while."""
        await self._commander.recital.settled(_PATIENCE_S)

    def typing(self, text: str) -> None:
        """This stands in the line that is being typed."""
        self._drafts.typing = text
        self.on_typed(self._session.now())
        self._session.keeping.changed()

    def interrupted(self, cleared: bool) -> None:
        """Ctrl+C; ``cleared``: it took back what was typed in the line."""
        if self._session.status.stopping:
            return
        if self._talk.waits:
            self._talk.answer(None)
        elif not self._session.at_rest or self._session.status.compacting:
            self._commander.stop()
        elif self._entry.goes_on:
            self._entry.take()
            self._say(["Cleared what you typed."])
        elif cleared:
            self._say(["Line dropped; the up arrow brings it back."])
        elif self._session.now() < self._quit_until_s:
            self._leave(EXIT_OK if self._live else EXIT_INTERRUPTED, on_purpose=False)
        else:
            self._quit_until_s = self._session.now() + _QUIT_WINDOW_S
            self._say(["Ctrl+C again leaves duetto."])
        self.frame()

    def ended(self) -> None:
        """No more lines: Ctrl+D, or the end of the file."""
        self._ended = not self._live
        self._talk.answer(None)
        if self._live and self._asking:
            self._leave(EXIT_OK, on_purpose=False)
        elif self._live:
            self._ask_to_leave()
        self.frame()

    def end(self, code: int) -> None:
        """By force: no other session begins, unless it was left for one already."""
        if not self.is_over:
            self.onward = None
        self._leave(code, on_purpose=False)
        self._woken.set()

    # inside

    async def _wait(self) -> None:
        """For something to do."""
        look_s = _AGAIN_S if self._session.now() < self._busy_until_s else _LOOK_S
        timeout = look_s if self._live or not self._session.at_rest else _REST_S
        if not self._live and (self._due or self._mouth.holding):
            timeout = BATCH_S
        with suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), timeout)
            await asyncio.sleep(_FRAME_S)
            self._woken.clear()
        now_s = self._session.now()
        if now_s - self._looked_s >= look_s:  # while an answer streams, too
            self._looked_s = now_s
            if not self._mouth.look():
                self._busy_until_s = now_s + _BUSY_S

    def frame(self) -> None:
        """Take up what changed, then the lines whose turn it is."""
        self._take()
        while self._lines and self._code is None and self._is_due(self._lines[0]):
            self._entered(self._lines.popleft())
            self._take()
        if self._ended and not self._lines:
            self._refuse()
        quiet = self._session.at_rest or bool(self._session.status.asks)
        if self._ended and not (self._lines or self.is_over) and self._is_resting():
            self._finish()
        self._speak(urgent=quiet)
        mode: Mode = "more" if self._entry.goes_on else "ready" if quiet else "busy"
        mode = "secret" if self._talk.secret else mode
        self._mouth.mode(mode, not self._session.at_rest)
        if self._code is not None:
            self._woken.set()

    def _take(self) -> None:
        notices = self._session.drain()
        status = self._session.status
        for trouble in notices.troubles:
            if trouble.unreachable:
                self._failed = EXIT_UNREACHABLE
        self._due += self._narrator.news(notices) or self._narrator.still()
        if status.outcome == "completed":
            self._failed = EXIT_OK
        elif status.outcome == "failed":
            self._failed = self._failed or EXIT_FAILED
        if status.unsent and status.unsent != self._given_back:
            self._drafts.keep(status.unsent)
            self._due.append(f"Not sent: {brief(status.unsent)}. /again sends it.")
        self._given_back = status.unsent
        if self.rings(status, self._session.now()):
            self._bell = BELL
        if notices.diff is not None:
            path, against = notices.diff
            self._commander.recital.diff(against, path)

    def _speak(self, *, urgent: bool) -> None:
        """Say what is due, at once or when the last piece was heard."""
        now = self._session.now()
        if not self._due or (self._live and not urgent and now - self._spoke_s < BATCH_S):
            return
        width, lines = self._mouth.width, list[str]()
        for line in self._due:
            plain = inert(line, PROSE)
            lines += [plain] if isinstance(line, Verbatim) else broken(plain, width)
        self._due = []
        self._spoke_s = now
        self._mouth.say(self._bell + "\n".join(lines) + "\n")
        self._bell = ""

    def _say(self, lines: Iterable[str]) -> None:
        """An answer to the user: it does not wait."""
        self._due += lines
        self._speak(urgent=True)

    def _is_resting(self) -> bool:
        working = self._commander.recital.working or self._session.status.asks
        return self._session.at_rest and not working and not self._aside

    def _refuse(self) -> None:
        """No line will come that could answer what is asked: refuse it."""
        for ask in list(self._session.status.asks):
            self._say([f"No answer comes: {ask.choices[-1]}."])
            self._session.submit(intents.Answer(ask.id, ask.choices[-1]))

    def _is_due(self, line: str) -> bool:
        """Whether a line is taken now; from a file only when what was before it is done."""
        if self._live or self._is_resting() or self._session.status.asks or self._talk.waits:
            return True
        parts = split_command(line)
        return parts is not None and parts[0] in AT_ONCE

    def _entered(self, line: str) -> None:
        """One line."""
        if self._talk.waits:
            self._talk.answer(line)
            return
        text = self._entry.feed(line)
        if text is None:
            return
        if self._asking:
            self._answer_leaving(text.strip())
            return
        if text.strip() and not text.strip().isdecimal():
            self.on_entered(text)
        if not text.strip():
            self._nothing()
        elif (number := self._chosen(text.strip())) is not None:
            self._number(*number)
        elif (parts := split_command(text)) is not None and "\n" not in text:
            self._commander.run(*parts)
        elif text.startswith("!"):
            self._session.submit(intents.RunCommand(text[1:].strip()))
        else:
            self._send(text)

    def _beside(self, work: Coroutine[object, object, None]) -> None:
        """Do it while lines go on being read; from a file the next line waits for it."""
        task = asyncio.get_running_loop().create_task(work)
        self._aside.add(task)
        task.add_done_callback(self._aside.discard)
        task.add_done_callback(lambda _: self._woken.set())

    async def _connect(self, wanted: str) -> None:
        if self.connector is None:
            self._say(["No model can be connected here."])
            return
        now = self._session.status.models
        if done := await connect(self.connector(), self._talk, now, wanted):
            written, chosen = done
            for role, model in chosen.models:
                self._session.submit(intents.UseModel(role, written.endpoint, model))

    def _nothing(self) -> None:
        """Enter alone: say where it is; an open question is said again."""
        if not self._live:
            return
        if self._session.status.asks:
            self._narrator.ask_again()
            return
        view = self._session.meter.view(self._session.now())
        self._say([state_words(self._session.status, view)])

    def _chosen(self, text: str) -> tuple[int, str] | None:
        """The number of a choice, and words with it where the question takes some."""
        number, _, words = text.partition(" ")
        asks = self._session.status.asks
        if not number.isdecimal() or (words and not (asks and asks[0].takes_words)):
            return None
        return int(number[:6]), words.strip()

    def _number(self, number: int, words: str) -> None:
        """An answer to the oldest question."""
        asks = self._session.status.asks
        if not asks:
            words = "No question is open. Type a word to send it to the model."
            self._say([words])
        elif not 1 <= number <= len(asks[0].choices):
            self._say([f"There are choices 1 to {len(asks[0].choices)}."])
        else:
            choice = asks[0].choices[number - 1]
            self._say([f"Chosen: {choice}"])
            self._session.submit(intents.Answer(asks[0].id, choice, words))

    def _send(self, text: str) -> None:
        """To the model, now; what streams is stopped first."""
        self._drafts.sent(text)
        if self._live:
            self._narrator.echoed(text)
        if self._session.status.busy:
            self._say([f"Redirecting {self._session.status.role}."])
        proposing = self._session.proposing
        if proposing is not None and (proposal := proposing.of(text)) is not None:
            role = proposal.role
            self._say([f"Your turns so far: {role} {proposal.words}. /{role} hands this one over."])
        self._session.submit(intents.Prompt(text))

    def _go_to(self, onward: Onward) -> None:
        """Leave for another session."""
        self.onward = onward
        self._ask_to_leave()
        self.frame()

    def _ask_to_leave(self) -> None:
        """Leave; ask first when something would be left behind."""
        reasons = reasons_to_stay(self._session, self.draft)
        if not self._live:
            self._say(reasons)
            self._leave(self._failed, on_purpose=False)
        elif not reasons:
            self._leave(EXIT_OK, on_purpose=True)
        else:
            self._asking = True
            choices = [f"{number}. {words}" for number, words in enumerate(_CHOICES, 1)]
            self._say(["Question: leave duetto?", *reasons, *choices, "Type 1, 2 or 3."])

    def _answer_leaving(self, answer: str) -> None:
        self._asking = False
        if answer == "1":
            for path in unsaved_paths(self._session):
                self._session.submit(intents.SaveFile(path))
            if left := unsaved_paths(self._session):
                self.onward = None
                self._say([f"Staying: {counted(len(left), 'file')} could not be saved."])
                return
        if answer in ("1", "2"):
            self._leave(EXIT_OK, on_purpose=True)
            return
        self.onward = None
        self._say(["Staying."])
        if answer not in ("", "3"):
            self._lines.appendleft(answer)

    def _finish(self) -> None:
        """A file of commands has come to its end."""
        if draft := self._entry.take():
            self._entered(draft)
            return
        self._say(reasons_to_stay(self._session, self._drafts.unsent))
        self._leave(self._failed, on_purpose=False)

    def _leave(self, code: int, *, on_purpose: bool) -> None:
        if self._code is None:
            self._code, self.left = code, on_purpose
            if self.onward is not None:
                self.rest = [*self._lines]
                self._lines.clear()

    async def _edited(self, text: str) -> Edited:
        """Have the user's editor on the terminal."""
        if self.editor is None:
            return Edited(None, "There is no editor here.")
        self._mouth.hush(True)
        try:
            return await self.editor(text)
        finally:
            self._mouth.hush(False)


_SHOWN = 12
"""Sessions that are listed."""
Say = Callable[[Iterable[str]], None]


async def resume(session: Session, say: Say, go: Callable[[Onward], None], wanted: str) -> None:
    """Go to the session that is named; else list those in which the words are."""
    archive, here = session.archive, session.stored_as
    if archive is None:
        say(["No sessions are kept here."])
        return
    line, refused, others = None, "", list[SessionLine]()
    try:
        others = [one for one in await archive.sessions(wanted) if one.id != here]
        line = await archive.find(wanted) if wanted else None
    except StoreRefused as error:
        refused = inert(str(error))
    if refused and not others:
        say([f"{refused[:1].upper()}{refused[1:]}."])
    elif line is not None and line.id == here:
        say(["That is this session."])
    elif line is not None and line.alive:
        say([f"Session {line.id} goes on in another duetto."])
    elif line is not None:
        go(Onward(line.id))
    else:
        now_ms = int(time.time() * 1000)
        said = [
            f"{one.id}: {brief(title_of(one))}, {', '.join(about(one, now_ms))}."
            for one in others[:_SHOWN]
        ]
        if len(others) > _SHOWN:
            said.append(f"And {len(others) - _SHOWN} more.")
        ways = "/resume ID goes on with one, /resume WORDS looks for others."
        say([*map(inert, said), ways] if said else ["No other session is kept."])


def fork(session: Session, say: Say, go: Callable[[Onward], None], argument: str) -> None:
    """Leave for a new session that begins with this one up to a turn."""
    turn = turn_asked(argument, session.last_turn)
    if isinstance(turn, str):
        say([turn])
    elif not session.stored_as:
        say(["This session is not kept: nothing can be taken over."])
    else:
        go(Onward(session.stored_as, fork=True, turn=turn))
