"""What the commands of the linear mode do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from tui.core.document.hunk import Decision, Stage
from tui.core.files import counted
from tui.core.inert_text import brief, inert
from tui.core.programs import Edited
from tui.engine import intents
from tui.engine.noting import list_words
from tui.engine.session import Session, unsaved_paths
from tui.engine.slash import (
    NO_SUMMARY,
    asked,
    auto_words,
    diff_asked,
    mode_words,
    model_words,
    shown_attempt,
    task_words,
    unknown_command,
)
from tui.errors import EditRefused
from tui.linear.command_table import LINEAR
from tui.linear.reading import Picked, Recital, Voice, picked, waiting
from tui.linear.words import hunk_line, numbers_words


class Commander:
    """Runs one command; what it has to say goes through the voice."""

    def __init__(self, session: Session, voice: Voice) -> None:
        self._session = session
        self._voice = voice
        self.recital = Recital(session, voice)
        self._own: dict[str, Callable[[str], Iterable[str]]] = {
            "accept": self._accept,
            "reject": self._reject,
            "place": self._place,
            "queued": self._queued,
            "save": self._save,
            "pace": self._pace,
            "compact": self._compact,
            "image": self._image,
            "stats": self._stats,
        }

    def run(self, name: str, argument: str) -> None:
        """Run a command by its name, without the slash."""
        if not any(command.name == name for command in LINEAR):
            self._voice.say([unknown_command(name, LINEAR)])
        elif name == "more":
            self._voice.say(self._voice.pages.more())
        elif name == "connect":
            self._voice.connect(argument)
        elif name == "resume":
            self._voice.resume(argument)
        elif name == "fork":
            self._voice.fork(argument)
        elif name in self.recital.readings:
            self._voice.page(self.recital.readings[name](argument))
        elif name in self._own:
            self._voice.say(self._own[name](argument))
        elif not self._plain(name, argument):
            self._asked(name, argument)

    def _plain(self, name: str, argument: str) -> bool:
        """Commands of one line; False: it is none of these."""
        voice, submit = self._voice, self._session.submit
        match name:
            case "stop":
                self.stop()
            case "quit":
                voice.leave()
            case "undecide" if not argument or argument.isdecimal():
                submit(intents.UndoDecision(int(argument or 0)))
            case "redirect" if argument:
                voice.prompt(argument)
            case "queue" if argument:
                self._queue(intents.Queue(argument))
            case "open" if argument:
                submit(intents.OpenFile(argument.removeprefix("@"), aside=False))
                voice.say([f"{argument.removeprefix('@')} goes with your next prompt."])
            case "close" if argument:
                submit(intents.CloseFile(argument.removeprefix("@")))
            case "again":
                self._again()
            case "compose":
                self._compose(argument)
            case "redirect" | "queue" | "open" | "close":
                command = next(one for one in LINEAR if one.name == name)
                voice.say([f"It needs an argument: /{name} {command.argument}."])
            case _:
                return False
        return True

    def stop(self) -> bool:
        """Stop what runs; False if nothing does."""
        session = self._session
        if session.status.busy or session.status.retry_s is not None:
            session.submit(intents.Interrupt())
            self._voice.say(["Stopping."])
        elif session.status.compacting:
            session.submit(intents.StopCompacting())
        elif session.status.running:
            session.submit(intents.StopCommand())
        else:
            self._voice.say(["Nothing runs."])
            return False
        return True

    def _stats(self, argument: str) -> Iterable[str]:
        intent = asked("stats", argument, self._session.status)
        if isinstance(intent, str):
            return [intent]
        if intent is None:
            self.recital.stats(argument)
        else:
            self._session.submit(intent)
        return []

    def _asked(self, name: str, argument: str) -> None:
        """Commands that ask the engine for one thing."""
        session, say = self._session, self._voice.say
        status = session.status
        if name == "diff":
            self.recital.diff(*diff_asked(argument))
            return
        intent = asked(name, argument, status)
        if isinstance(intent, str):
            say([intent])
        elif name == "rewind" and not isinstance(intent, intents.Forward):
            self.recital.rewind(intent if isinstance(intent, intents.Rewind) else None)
        elif isinstance(intent, intents.Steer):
            self._queue(intent)
        elif intent is None and name == "model":
            self._voice.models()
        elif intent is None and name == "tasks":
            say(_lines(task_words(status, session.now())))
        elif intent is None and name in ("attempts", "race"):
            say(_lines(session.attempts.words(only=shown_attempt(argument) or 0)))
        elif intent is None and name == "notes":
            say(_lines(list_words(session.workspace.notes)))
        elif intent is None and name == "mode":
            say([mode_words(status)])
        elif intent is None:
            say(model_words(status).split("\n"))
        else:
            session.submit(intent)
            if name in ("note", "notes") and not isinstance(intent, intents.SendNotes):
                say(_lines(list_words(session.workspace.notes)))
                return
            say([mode_words(status)] if name in ("mode", "plan") else _done(intent, status.role))

    def _queue(self, intent: intents.Queue | intents.Steer) -> None:
        before = len(self._session.status.queued)
        self._session.submit(intent)
        queued = self._session.status.queued
        if len(queued) > before:
            at = next(i for i, text in enumerate(queued, 1) if text == intent.text)
            self._voice.say([f"Queued as number {at}."])
        elif isinstance(intent, intents.Steer):
            self._voice.say(["Added to the answer."])

    def _image(self, argument: str) -> list[str]:
        self.recital.start(self._name_images(argument))
        return []

    async def _name_images(self, words: str) -> None:
        """How an image is named in a prompt: a file, or the one on the clipboard."""
        attachments = self._session.attachments
        try:
            names = await attachments.named_images(words)
            for name in names:
                shown = await attachments.images.look(name)
                called = name if " " not in name else f'"{name}"'
                self._voice.say([inert(f"{shown}: name it in your prompt as @{called}.")])
        except EditRefused as error:
            self._voice.say([inert(f"No image was taken: {error}.")])

    def _again(self) -> None:
        text = self._voice.drafts.to_repeat()
        if text:
            self._voice.say([f"Sending again: {brief(text)}"])
            self._voice.prompt(text)
        else:
            self._voice.say(["Nothing has been sent yet."])

    def _compose(self, text: str) -> None:
        """Have the prompt written in the user's editor."""
        if self._voice.edit is None:
            self._voice.say(["There is no terminal for an editor."])
            return
        self.recital.unhurried = True
        self.recital.start(self._composed(self._voice.edit, text or self._voice.drafts.unsent))

    def _compact(self, argument: str) -> Iterable[str]:
        """Have a summary written; or have it edited, or read where there is no editor."""
        if argument != "show":
            self._session.submit(intents.Compact(argument))
            self.recital.start(self._session.compaction().over())
            return []
        edit, text = self._voice.edit, self._session.compaction().text
        if not text:
            return [NO_SUMMARY]
        if edit is None:
            return _lines(text)
        self.recital.unhurried = True
        self.recital.start(self._edited_summary(edit, text))
        return []

    async def _edited_summary(self, edit: Callable[[str], Awaitable[Edited]], text: str) -> None:
        try:
            edited = await edit(text)
        finally:
            self.recital.unhurried = False
        if edited.text is not None:
            self._session.submit(intents.EditSummary(edited.text, text))
        if edited.said:
            self._voice.say([edited.said])

    async def _composed(self, edit: Callable[[str], Awaitable[Edited]], text: str) -> None:
        try:
            edited = await edit(text)
        finally:
            self.recital.unhurried = False
        if edited.text is None or not edited.text.strip():
            self._voice.say([edited.said or "Nothing was written."])
            return
        self._voice.drafts.keep(edited.text)
        lines = counted(edited.text.strip("\n").count("\n") + 1, "line")
        self._voice.say([f"{lines} written: /again sends it, /compose goes on with it."])

    def _accept(self, argument: str) -> Iterable[str]:
        chosen = picked(argument, self._session.workspace)
        if isinstance(chosen, str):
            return [chosen]
        if chosen.rest:
            return [f"{inert(chosen.rest)!r} names no hunk. Say numbers, a file, or all."]
        numbered = argument.lstrip()[:1].isdecimal() or not argument.strip()
        cut = [] if numbered else [one for one in chosen.hunks if one.stage is Stage.CUT]
        chosen = chosen._replace(hunks=[one for one in chosen.hunks if one not in cut])
        self._session.submit(intents.Accept(tuple(hunk.id for hunk in chosen.hunks)))
        left_out = [
            f"Hunk {one.id} was cut, and is left out: /accept {one.id} keeps it as it stands,"
            f" /reject {one.id} takes it back."
            for one in cut
        ]
        return [*left_out, *self._decided(chosen, Decision.ACCEPTED)]

    def _reject(self, argument: str) -> Iterable[str]:
        chosen = picked(argument, self._session.workspace)
        if isinstance(chosen, str):
            return [chosen]
        ids = tuple(hunk.id for hunk in chosen.hunks)
        self._session.submit(intents.Reject(ids, chosen.rest))
        return self._decided(chosen, Decision.REJECTED)

    def _decided(self, chosen: Picked, decision: Decision) -> list[str]:
        """Which of them are decided now, and where that stands."""
        session = self._session
        done = [hunk for hunk in chosen.hunks if hunk.decision is decision]
        lines = []
        if done:
            numbers = numbers_words(hunk.id for hunk in done)
            which = "hunk" if len(done) == 1 else "hunks"
            lines.append(f"{decision.value.capitalize()} {which} {numbers}.")
            unsaved = set(unsaved_paths(session))
            for path in dict.fromkeys(hunk.path for hunk in done):
                if path in unsaved:
                    lines.append(f"{inert(path)} is not saved: /save writes it.")
        left = len(waiting(session.workspace))
        lines.append(f"{counted(left, 'hunk')} left." if left else "No hunk is waiting.")
        return lines

    def _place(self, argument: str) -> Iterable[str]:
        words = argument.split()
        if len(words) != 2 or not all(word.isdecimal() for word in words):
            return ["Say the hunk and the place: /place HUNK PLACE; /review reads both."]
        number, place = int(words[0]), int(words[1])
        hunks = self._session.workspace.hunk_list
        hunk = hunks.by_id(number) if number in hunks else None
        if hunk is None or not hunk.placeable:
            return [f"Hunk {number} does not wait for a place."]
        if not 1 <= place <= len(hunk.candidates):
            return [f"Hunk {number} has places 1 to {len(hunk.candidates)}."]
        self._session.submit(intents.PlaceHunk(number, hunk.candidates[place - 1]))
        return [hunk_line(hunk, path=True)]

    def _queued(self, argument: str) -> Iterable[str]:
        queued = self._session.status.queued
        word, _, number = argument.partition(" ")
        if word == "drop" and number.isdecimal() and 1 <= int(number) <= len(queued):
            text = queued[int(number) - 1]
            self._session.submit(intents.Unqueue(int(number) - 1))
            return [f"Taken out: {brief(text)}"]
        if argument:
            return ["/queued lists, /queued drop NUMBER takes one out."]
        return [f"{at}. {brief(text)}" for at, text in enumerate(queued, 1)] or [
            "Nothing is queued."
        ]

    def _save(self, argument: str) -> Iterable[str]:
        path = argument.removeprefix("@")
        paths = [path] if path else unsaved_paths(self._session)
        for one in paths:
            if one not in self._session.workspace.buffers:
                return [f"{inert(one)} is not open."]
            self._session.submit(intents.SaveFile(one))
        left = set(unsaved_paths(self._session))
        saved = [f"{inert(one)} is saved." for one in paths if one not in left]
        return saved or ([] if paths else ["Everything is saved."])

    def _pace(self, argument: str) -> Iterable[str]:
        pace = self._voice.pace
        if argument not in ("", "lines", "whole"):
            return ["/pace lines: as they come; /pace whole: at the end."]
        pace.whole = argument == "whole" if argument else not pace.whole
        return ["Answers are read whole, at their end." if pace.whole else "Answers come by lines."]


def _lines(text: str) -> list[str]:
    """The lines of a text of strangers, as they can be shown."""
    return [inert(line) for line in text.split("\n")]


def _done(intent: intents.Intent, role: str) -> list[str]:
    """What was done, where nothing else says it."""
    match intent:
        case intents.SetEffort(effort):
            return [f"Effort of {role}: {effort}."]
        case intents.SetTier(tier):
            chosen = tier or "the server's own choice"
            return [f"Tier of {role}: {chosen}."]
        case intents.Throttle(tokens_s):
            return [f"Throttled to {tokens_s:,.0f} tokens per second." if tokens_s else "No limit."]
        case intents.SetAutoAccept(on):
            return [auto_words(on)]
    return []
