"""The prompt: a small multi-line editor that sends, queues, completes and remembers."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.content import Content

from tui.ui.key_order import TypedKey
from tui.ui.keymap import actions
from tui.ui.messages import (
    ConversationWanted,
    DraftChanged,
    EditedOutside,
    Entered,
    How,
    QueueWanted,
    Scrolled,
    TakenBack,
)
from tui.ui.prompt.completer import Completer
from tui.ui.prompt.history import History
from tui.ui.prompt.pasting import no_text
from tui.ui.prompt.vi_text import ViText
from tui.ui.rows import inert

_ACTIONS = actions("prompt")


class Prompt(ViText):
    """The draft. Keys go through the table of `keymap` before the text sees them."""

    def __init__(self, completer: Completer, *, id: str | None = None) -> None:
        super().__init__(completer, id=id)
        self.past = History()
        self.offered: list[str] = []
        """Prompts that the workspace offers; Tab takes the one that is shown."""
        self.busy = False
        self.editing = False
        """A queued message stands here: Enter and Tab put it back, also with nothing in it."""
        self.waiting = False
        """Something is queued: the list above can be gone into."""
        self._offer = 0
        self._do: dict[str, Callable[[], bool]] = {
            "send": self._enter,
            "steer": lambda: self.send("steer"),
            "newline": self._newline,
            "complete": self._complete,
            "older": self._older,
            "newer": self._newer,
            "conversation": self._conversation,
            "unfold": self._unfold,
            "search_past": self.search_past,
            "edit_outside": lambda: bool(self.post_message(EditedOutside())),
            "unqueue": lambda: bool(self.post_message(TakenBack())),
            "search": lambda: bool(self.post_message(ConversationWanted(search=True))),
            "page_up": lambda: bool(self.post_message(Scrolled(-1))),
            "page_down": lambda: bool(self.post_message(Scrolled(1))),
        }

    @property
    def suggestion_shown(self) -> str:
        """The offered prompt that stands in the empty prompt; empty if none does."""
        if not self.offered or self.text or self.busy or self.editing:
            return ""
        return self.offered[self._offer % len(self.offered)]

    def offer(self, prompts: list[str], first: str) -> None:
        """Offer these prompts, this one first."""
        if prompts != self.offered or (first and first not in self.suggestion_shown):
            self.offered = list(prompts)
            self._offer = prompts.index(first) if first in prompts else 0
        self._show_offer()

    def restore(self, text: str) -> None:
        """Put text back into the prompt; a draft that stands there goes below it."""
        self.end_search()
        self.write("\n".join(filter(None, (text, self.whole))))

    def write(self, text: str) -> None:
        """Have this text as the draft, the cursor behind it; a file may have held anything."""
        self.end_search()
        self.replace(self.folds.fold(inert(text)), (0, 0), self.document.end)
        self.move_cursor(self.document.end)
        self.keep_silent()

    def clear_draft(self) -> bool:
        """Move the draft into the history; False if there was none.

        In a search it comes back first.
        """
        if self.searching:
            self.end_search()
            return True
        if not self.text:
            return False
        self.past.add(self.whole)
        self.write("")
        return True

    def on_key(self, event: events.Key) -> None:
        """Keys of the table first; what they do not take is text."""
        if self.take_vi_key(event):
            event.stop()
            event.prevent_default()
            return
        action = self._do.get(_ACTIONS.get(event.key, ""))
        taken = action is not None and action()
        if not taken and isinstance(event, TypedKey) and _is_typed(event):
            typed = event.typed(_is_typed)
            if taken := len(typed) > 1:  # one alone is put in by Textual
                self._replace_via_keyboard(typed, *self.selection)
        if not taken and isinstance(event, TypedKey) and _takes_back(event):
            while event.further(_takes_back) is not None:  # the last one is left to Textual
                self.action_delete_left()
        if taken or (event.key == "right" and self._take_offer()):
            event.stop()
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text may hold control characters: they are shown, not kept; a long one folds."""
        event.stop()
        event.prevent_default()
        if why_not := no_text(event.text):
            self.notify(why_not, severity="warning", timeout=8, markup=False)
            return
        self.take_in(inert(event.text.replace("\r\n", "\n").replace("\r", "\n")))

    def on_text_area_changed(self) -> None:
        """Others need to know whether there is a draft, and the list what is typed."""
        self.look()
        self.post_message(DraftChanged())

    def send(self, how: How = "send") -> bool:
        """Hand the draft up, if there is one; True: the key is taken."""
        if self.searching:  # what stands here is no draft
            self.take()
            return True
        whole = self.whole
        text = whole.strip()
        if text or self.editing:
            self.past.add(whole)
            self.write("")
            self.insert_again()
            self.post_message(Entered(text, how))
        return True

    def _newline(self) -> bool:
        self.insert("\n")
        return True

    def _enter(self) -> bool:
        """What is lit in the list, and if a command is whole then: run it; else send.

        A command that is none is only completed; an argument is taken as it was typed.
        """
        self.look()
        if self.searching:
            return self.send()
        wish, sure = self.completer.wish, self.completer.sure
        command = wish is not None and wish.kind != "file"
        if wish is not None and not sure and (self.names_a_command or wish.kind == "argument"):
            self.close_offers()
            return self.send()
        if not self.lit_is_typed and (taken := self.take()) is not None:
            if not command or taken.more or not sure:
                return True
            self.close_offers()
        return self.send()

    def _complete(self) -> bool:
        """Tab: a completion, else the offered prompt, else queue while busy, or put back."""
        self.look()
        if self.take() is not None or self.searching:
            return True
        if not self._take_offer() and (self.busy or self.editing):
            self.send("queue")
        return True

    def _take_offer(self) -> bool:
        offered = self.suggestion_shown
        if offered:
            self.write(offered)
        return bool(offered)

    def _older(self) -> bool:
        self.look()
        if self.choosing:
            self.step_offers(-1)
            return True
        if self.cursor_location[0] > 0:
            return False
        if self.waiting and not self.text and not self.editing:
            self.post_message(QueueWanted())
            return True
        text = self.past.older(self.whole)
        if text is not None:
            self.write(text)
        return True

    def _newer(self) -> bool:
        self.look()
        if self.choosing:
            self.step_offers(1)
            return True
        if self.cursor_location[0] < self.document.line_count - 1:
            return False
        text = self.past.newer()
        if text is not None:
            self.write(text)
        elif not self.text and len(self.offered) > 1:
            self._offer += 1
            self._show_offer()
            self.post_message(DraftChanged())
        return True

    def walk(self, steps: int) -> None:
        """Walk in the history."""
        for _ in range(abs(steps)):
            text = self.past.older(self.whole) if steps < 0 else self.past.newer()
            if text is not None:
                self.write(text)

    def _unfold(self) -> bool:
        if why_not := self.unfold():
            self.notify(why_not, timeout=6, markup=False)
        return True

    def _conversation(self) -> bool:
        self.post_message(ConversationWanted())
        return True

    def _show_offer(self) -> None:
        # Content, not str: TextArea takes a str for markup
        shown = self.offered[self._offer % len(self.offered)] if self.offered else ""
        if self.busy or self.editing:
            shown = ""
        if str(self.placeholder) != shown:
            self.placeholder = Content(inert(shown))


def _takes_back(key: events.Key) -> bool:
    return key.key == "backspace" and "backspace" not in _ACTIONS


def _is_typed(key: events.Key) -> bool:
    return key.is_printable and "+" not in key.key and key.key not in _ACTIONS
