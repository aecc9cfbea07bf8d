"""What is done with private files and with hard links only if the user says so."""

from __future__ import annotations

from asyncio import Future
from dataclasses import dataclass

from tui.core.privacy import FOLDER_WIDE
from tui.engine.board import Board
from tui.engine.ports import Ports


@dataclass(frozen=True, slots=True)
class Deed:
    """What is asked about, in words."""

    question: str
    """With the path at ``{}``."""
    why: str
    """With the reason at ``{}``."""
    file: str
    folder: str
    always: str
    no: str
    """The choices: for a file, a folder, the workspace for good, and the refusal."""
    consent: str
    """Remembers ``always`` among the commands that are allowed, as one that does nothing."""


SEND = Deed(
    "Send {} to the model?",
    "It is private: {}.",
    "Send it",
    "Send such files of this folder",
    "Always send such files of this workspace",
    "Keep it private",
    ": hard links are sent",
)
SAVE = Deed(
    "Save {} under all of its names?",
    "Take care: {}.",
    "Save it",
    "Save such files of this folder",
    "Always save such files of this workspace",
    "Do not save it",
    ": hard links are saved",
)


class FileConsent:
    """The user's answers, a file each; but once a folder where thousands of files are linked.

    A yes holds for the session, or for good. A no is asked again, but for a folder of which a
    model wants to read: that holds until the next turn.
    """

    def __init__(self, board: Board, ports: Ports) -> None:
        self._questions = board.questions
        self._ports = ports
        self._yes: set[tuple[Deed, str]] = set()
        self._no: set[tuple[Deed, str]] = set()
        self._asking: dict[tuple[Deed, str], Future[str]] = {}
        board.before_turn.append(lambda turn: self._no.clear())

    def allows(self, deed: Deed, path: str, reason: str) -> bool:
        """True if the user has said so; ``reason`` is why it has to be asked."""
        always = reason in FOLDER_WIDE and deed.consent in self._ports.consents
        return always or _about(deed, path, reason) in self._yes

    async def ask(self, deed: Deed, path: str, reason: str) -> bool:
        """Ask, unless the answer is known; one question at a time for what it is about."""
        about = _about(deed, path, reason)
        if about in self._no or self.allows(deed, path, reason):
            return about not in self._no
        if about not in self._asking:
            self._asking[about] = self._ask(deed, path, reason)
        try:
            choice = await self._asking[about]
        finally:
            self._asking.pop(about, None)
        if choice == deed.no:
            if deed is SEND and reason in FOLDER_WIDE:
                self._no.add(about)
            return False
        self._yes.add(about)
        if choice == deed.always and deed.consent not in self._ports.consents:
            self._ports.consents.add(deed.consent)
            self._ports.remember_consent(deed.consent)
        return True

    def _ask(self, deed: Deed, path: str, reason: str) -> Future[str]:
        why = deed.why.format(reason)
        choices: tuple[str, ...] = (deed.file, deed.no)
        if reason in FOLDER_WIDE:
            where = f"in {_folder(path)}" if _folder(path) else "beside it"
            why += f" The answer holds for all such files {where}."
            choices = (deed.folder, deed.always, deed.no)
        return self._questions.ask(deed.question.format(path), why, choices)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _about(deed: Deed, path: str, reason: str) -> tuple[Deed, str]:
    """What an answer holds for: a folder (with a slash at its end) or a file."""
    return deed, f"{_folder(path)}/" if reason in FOLDER_WIDE else path
