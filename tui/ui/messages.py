"""Messages of widgets to their parents; calls go down, messages go up."""

from __future__ import annotations

from typing import Literal

from textual.message import Message

from tui.engine.intents import Intent

How = Literal["send", "queue", "steer"]
"""What is wanted of a draft: now, when idle, or added to the answer that streams."""


class Wanted(Message):
    """The user wants the engine to do something; the screen submits it.

    ``enter``: and go on in the editor, where it shows.
    """

    def __init__(self, intent: Intent, *, enter: bool = False) -> None:
        super().__init__()
        self.intent = intent
        self.enter = enter


class EditorWanted(Message):
    """The focus goes into the editor, which may be out of sight."""


class Entered(Message):
    """The prompt's text was handed over, by Enter, Tab or Alt+Enter."""

    def __init__(self, text: str, how: How = "send") -> None:
        super().__init__()
        self.text = text
        self.how = how


class PromptWanted(Message):
    """The focus goes back to the prompt; ``text`` was typed elsewhere and belongs there.

    A newline is the Enter key.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.text = text


class SearchWanted(Message):
    """The focus goes up into the conversation, to look for words in it."""


class RefusalWanted(Message):
    """The question is answered with a refusal, and with words for the model."""


class Scrolled(Message):
    """The prompt was asked to scroll the conversation by pages; -1 is up."""

    def __init__(self, pages: int) -> None:
        super().__init__()
        self.pages = pages


class DraftChanged(Message):
    """The prompt became empty, or no longer is: the footer's keys change."""


class HunkShown(Message):
    """The editor shall show this hunk; ``edit``: to be edited, then accepted.

    ``review``: the review of the turn goes on then.
    """

    def __init__(self, hunk_id: int, *, edit: bool = False, review: bool = False) -> None:
        super().__init__()
        self.hunk_id = hunk_id
        self.edit = edit
        self.review = review


class HunkSelected(Message):
    """A hunk was selected for review: the editor shows it, the focus stays.

    ``line`` is the chosen candidate of an ambiguous one.
    """

    def __init__(self, hunk_id: int, line: int | None = None) -> None:
        super().__init__()
        self.hunk_id = hunk_id
        self.line = line


class TakenBack(Message):
    """The user wants the last queued message back in the prompt."""


class QueueWanted(Message):
    """The focus goes up from the empty prompt: to a question, else into the queue."""


class QueueActed(Message):
    """The user does something with a queued message."""

    def __init__(self, what: Literal["edit", "send", "remove"], index: int) -> None:
        """``index`` is 0-based."""
        super().__init__()
        self.what = what
        self.index = index


class CompletionActed(Message):
    """The mouse in the list over the prompt: another offer is lit, or one is taken."""

    def __init__(self, what: Literal["step", "take"], value: int) -> None:
        """``value`` is rows to step, or the 0-based place of what is taken."""
        super().__init__()
        self.what = what
        self.value = value


class ImageWanted(Message):
    """The user wants the image on the clipboard named in the prompt."""

    def __init__(self, *, copied: str = "") -> None:
        """``copied``: a text that is pasted where there is no image."""
        super().__init__()
        self.copied = copied


class ExternalEditorWanted(Message):
    """The user wants the draft in an editor of their own."""
