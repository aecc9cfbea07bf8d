"""The prompt: a small multi-line editor that sends, queues, completes and remembers.

What it does beside typing belongs to controllers: `Completer`, `HistorySearch`, `Folds`,
`ViController`.

What is pasted: whether it is text, and long texts, each shown as one label. A text area wraps all
of its lines, which took seconds for a megabyte; and nobody reads that much in eight rows. What
``[pasted 12,345 lines]`` stands for is kept for the run, so that undo and the history bring it
back. A label is one thing under the cursor: it stays whole or goes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.text import Text
from textual import events
from textual.content import Content
from textual.widgets import TextArea
from textual.widgets.text_area import DocumentBase, Edit, EditResult, Location, Selection

from tui.core.text.patterns import pattern
from tui.engine.intents import SetMode
from tui.engine.notices import Status
from tui.engine.slash import DO_THEM, MODES
from tui.ui import theme
from tui.ui.key_queue import TypedKey
from tui.ui.keymap import actions
from tui.ui.keymap import shown as key_of
from tui.ui.messages import (
    DraftChanged,
    Entered,
    ExternalEditorWanted,
    How,
    ImageWanted,
    QueueWanted,
    Scrolled,
    SearchWanted,
    TakenBack,
    Wanted,
)
from tui.ui.prompt.completion import Completer, CompletionItem
from tui.ui.prompt.history import DraftHistory, HistorySearch
from tui.ui.styled_text import inert

if TYPE_CHECKING:
    from tui.ui.prompt.vi import ViController


LONG_CHARS, LONG_LINES = 5_000, 100
"""What is longer, in characters or in lines, is folded."""
ROOM_CHARS, SHORT_CHARS = 20_000, 200
"""Beside so much what is short no longer is folded too: many pastes make a long one."""
KEPT_CHARS = 64_000_000
"""Characters kept behind labels; the oldest that nothing shows are given up first."""
_LABEL = pattern(r"\[pasted [\d,]+ (?:lines|characters)(?: #\d+)?\]")


class Folds:
    """The labels, and what they stand for."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        """By label, the oldest first."""

    def __len__(self) -> int:
        return len(self._texts)

    def fold(self, text: str, beside: str = "") -> str:
        """The text with labels for what is too long to be shown beside what stands there."""
        if not is_long(text, len(beside)):
            return text
        for label, known in sorted(self._texts.items(), key=lambda item: -len(item[1])):
            text = text.replace(known, label)
        pieces: list[str] = []
        at = 0
        for start, end in [*self.places(text), (len(text), len(text))]:
            piece = text[at:start]
            pieces.append(self._label(piece) if is_long(piece, len(beside)) else piece)
            pieces.append(text[start:end])
            at = end
        folded = "".join(pieces)
        self._give_up(beside + folded)
        return folded

    def whole(self, text: str) -> str:
        """The text with what its labels stand for."""
        if not self._texts:
            return text
        return _LABEL.sub(lambda found: self._texts.get(found[0], found[0]), text)

    def places(self, line: str) -> list[tuple[int, int]]:
        """Where labels stand in a line."""
        if not self._texts:
            return []
        return [found.span() for found in _LABEL.finditer(line) if found[0] in self._texts]

    def around(self, line: str, column: int) -> tuple[int, int] | None:
        """The label that this column lies inside of, not at its ends."""
        places = self.places(line)
        at = bisect_left(places, (column, 0)) - 1
        if at >= 0 and places[at][0] < column < places[at][1]:
            return places[at]
        return None

    def beside(self, lines: DocumentBase, at: Location) -> tuple[Location, Location] | None:
        """Both ends of the label that this place touches, the one before it first."""
        row, column = at
        places = self.places(lines.get_line(row))
        touched = next((place for place in places if column in place), None)
        return None if touched is None else ((row, touched[0]), (row, touched[1]))

    def widened(
        self, lines: DocumentBase, top: Location, bottom: Location
    ) -> tuple[Location, Location]:
        """The places of an edit that takes whole labels only; a text put into one comes behind."""
        above, below = self._inside(lines, top), self._inside(lines, bottom)
        if top == bottom and above is not None:
            return (top[0], above[1]), (top[0], above[1])
        return (
            top if above is None else (top[0], above[0]),
            bottom if below is None else (bottom[0], below[1]),
        )

    def outside(self, lines: DocumentBase, at: Location, before: Location) -> Location:
        """A place at an end of the label around it: the one that the cursor was not at."""
        place = self._inside(lines, at)
        if place is None:
            return at
        row, (start, end) = at[0], place
        if before in ((row, start), (row, end)):
            return (row, end if before[1] == start else start)
        return (row, start if at[1] - start < end - at[1] else end)

    def _inside(self, lines: DocumentBase, at: Location) -> tuple[int, int] | None:
        """The label that a place lies inside of."""
        row, column = at
        return self.around(lines.get_line(row), column) if row < lines.line_count else None

    def _label(self, text: str) -> str:
        """A label for this text alone."""
        lines = text.count("\n") + (not text.endswith("\n"))
        said = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        label, number = f"[pasted {said}]", 1
        while self._texts.get(label, text) != text:
            number += 1
            label = f"[pasted {said} #{number}]"
        self._texts[label] = text
        return label

    def _give_up(self, shown: str) -> None:
        """The oldest texts, when all together are too much."""
        spare = sum(map(len, self._texts.values())) - KEPT_CHARS
        for label in [label for label in self._texts if label not in shown]:
            if spare <= 0:
                return
            spare -= len(self._texts.pop(label))


def is_long(text: str, beside_chars: int = 0) -> bool:
    """Whether a text is too long to be shown beside so many characters."""
    size = len(text)
    if size > LONG_CHARS or text.count("\n") >= LONG_LINES:
        return True
    return size > SHORT_CHARS and size + beside_chars > ROOM_CHARS


_LOOKED_AT = 100_000
"""Characters: what is no text shows it early."""
_FEW = 16
"""So many odd characters may be in any text: a log, a name in another encoding."""
_SHARE = 0.05
_ODD = pattern("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
"""Control characters that no text has, and what could not be decoded. Esc is in coloured output."""


def no_text(pasted: str) -> str:
    """Why a paste is not taken, in a sentence; empty: it is text."""
    looked_at = pasted[:_LOOKED_AT]
    odd = len(_ODD.findall(looked_at))
    if odd > _FEW and odd > len(looked_at) * _SHARE:
        return (
            f"That is not text ({odd:,} of {len(looked_at):,} characters cannot be shown): nothing"
            " was pasted. Name a file of the workspace with @ instead."
        )
    return ""


MOST_SHOWN_CHARS = 50_000
"""Wrapping so many takes some 50 ms."""
_ACTIONS = actions("prompt")
GO_ON = "go on"
"""What Enter in an empty prompt sends when the answer was stopped at a limit."""


class PromptArea(TextArea):
    """The draft. Keys go through the table of `keymap` before the text sees them."""

    folds: Folds | None = None
    """What the labels stand for; None while the base class makes itself."""

    def __init__(self, paths: Callable[[], list[str]], status: Callable[[], Status]) -> None:
        """``paths`` lists the workspace's files; ``status`` is the session's."""
        super().__init__(
            id="prompt",
            soft_wrap=True,
            show_line_numbers=False,
            highlight_cursor_line=False,
            tab_behavior="focus",
            compact=True,
        )
        self.folds = Folds()
        self.past = DraftHistory()
        self.completer = Completer(self, paths, status)
        self.search = HistorySearch(self, self.past, self.completer, self.write)
        self.suggestions: list[str] = []
        """Prompts that the workspace offers; Tab takes the one that is shown."""
        self.busy = False
        self.editing = False
        """A queued message stands here: Enter and Tab put it back, also with nothing in it."""
        self.waiting = False
        """Something is asked or queued above: it can be gone into."""
        self.just_restored: Callable[[], bool] = lambda: False
        """A text came back by itself: Enter was pressed before it was seen."""
        self._suggestion = 0
        self._status = status
        self._vi: ViController | None = None
        self._do: dict[str, Callable[[], bool]] = {
            "send": self._enter,
            "steer": lambda: self.send("steer"),
            "newline": lambda: bool(self.insert("\n")),
            "complete": self._complete,
            "older": self._older,
            "newer": self._newer,
            "mode": self._next_mode,
            "unfold": self._unfold,
            "search_past": self._search_past,
            "edit_outside": lambda: self.post_message(ExternalEditorWanted()),
            "unqueue": lambda: self.post_message(TakenBack()),
            "search": lambda: self.post_message(SearchWanted()),
            "page_up": lambda: self.post_message(Scrolled(-1)),
            "page_down": lambda: self.post_message(Scrolled(1)),
        }

    # -- the draft

    @property
    def whole(self) -> str:
        """The draft as it is sent, with what its labels stand for."""
        return self._unfolded(self.text)

    @property
    def selected_text(self) -> str:
        """What is copied: the text behind labels too."""
        return self._unfolded(super().selected_text)

    @property
    def at_fold(self) -> bool:
        """True while the cursor touches a label."""
        return bool(self.folds and self.folds.beside(self.document, self.cursor_location))

    def restore(self, text: str) -> None:
        """Put text back into the prompt; a draft that stands there goes below it."""
        self.search.end()
        self.write("\n".join(filter(None, (text, self.whole))))

    def write(self, text: str) -> None:
        """Have this text as the draft, the cursor behind it; a file may have held anything."""
        self.search.end()
        self.replace(self._folded(inert(text)), (0, 0), self.document.end)
        self.move_cursor(self.document.end)
        self.completer.keep_silent()

    def take_in(self, text: str) -> None:
        """Put a text at the cursor or over the selection; what is long is folded."""
        folded = self._folded(text, beside=self.text)
        if result := self._replace_via_keyboard(folded, *self.selection):
            self.move_cursor(result.end_location)

    def clear_draft(self) -> bool:
        """Move the draft into the history; False if there was none.

        In a search it comes back first.
        """
        if self.search.active:
            self.search.end()
            return True
        if not self.text:
            return False
        self.past.add(self.whole)
        self.write("")
        return True

    def send(self, how: How = "send") -> bool:
        """Hand the draft up, if there is one; True: the key is taken."""
        if self.search.active:  # what stands here is no draft
            self.search.take()
            return True
        if self.just_restored():
            return True
        whole = self.whole
        text = whole.strip()
        if how == "send" and self.goes_on and not text:
            self.post_message(Entered(GO_ON))
        elif how == "send" and self.sends_notes:
            self.post_message(Entered(DO_THEM))
        elif text or self.editing:
            self.past.add(whole)
            self.write("")
            if self._vi is not None:
                self._vi.insert()
            self.post_message(Entered(text, how))
        return True

    def _folded(self, text: str, beside: str = "") -> str:
        return self.folds.fold(text, beside) if self.folds is not None else text

    def _unfolded(self, text: str) -> str:
        return self.folds.whole(text) if self.folds is not None else text

    # -- suggestions of the workspace

    @property
    def goes_on(self) -> bool:
        """True while Enter with nothing typed lets the answer go on that a limit has stopped."""
        return self._status().can_go_on and not (self.busy or self.editing)

    @property
    def sends_notes(self) -> bool:
        """True while Enter with nothing typed sends the notes on lines."""
        return not (self.text or self.busy or self.editing) and self._status().notes > 0

    @property
    def suggestion_shown(self) -> str:
        """The suggestion that stands in the empty prompt; empty if none does."""
        taken = self.text or self.busy or self.editing or self.goes_on or self.sends_notes
        if taken or not self.suggestions:
            return ""
        return self.suggestions[self._suggestion % len(self.suggestions)]

    def suggest(self, prompts: list[str], first: str) -> None:
        """Offer these prompts, this one first."""
        if prompts != self.suggestions or (first and first not in self.suggestion_shown):
            self.suggestions = list(prompts)
            self._suggestion = prompts.index(first) if first in prompts else 0
        self._show_suggestion()

    def _take_suggestion(self) -> bool:
        suggested = self.suggestion_shown
        if suggested:
            self.write(suggested)
        return bool(suggested)

    def _show_suggestion(self) -> None:
        # Content, not str: TextArea takes a str for markup
        index, count = self._suggestion, len(self.suggestions)
        shown = self.suggestions[index % count] if count else ""
        if self.busy or self.editing:
            shown = ""
        elif self.goes_on:
            shown = f"{key_of('send', 'prompt')} lets it go on"
        elif self.sends_notes:
            shown = f"{key_of('send', 'prompt')} sends the notes on lines"
        if str(self.placeholder) != shown:
            self.placeholder = Content(inert(shown))

    # -- vi

    def use_vi(self) -> None:
        """Have the keys of vi from now on; one begins in insert mode."""
        from tui.ui.prompt.vi import ViController  # few want it

        done = self.completer.keep_silent
        self._vi = ViController(self, self._walk, self._search_past, done)

    @property
    def vi_words(self) -> str:
        """The mode, and what was typed of a command; empty without vi."""
        return self._vi.words if self._vi is not None else ""

    # -- events

    def on_key(self, event: events.Key) -> None:
        """Keys of the table first; what they do not take is text."""
        taken = self._vi is not None and not self.search.active and self._vi.take(event)
        if not taken:
            action = self._do.get(_ACTIONS.get(event.key, ""))
            taken = action is not None and action()
            if not taken and isinstance(event, TypedKey):
                taken = self._type(event)
            taken = taken or (event.key == "right" and self._take_suggestion())
        if taken:
            event.stop()
            event.prevent_default()

    def _type(self, key: TypedKey) -> bool:
        """Put in at once what was typed faster than it is taken; one key is left to Textual."""
        if _is_typed(key):
            typed = key.typed(_is_typed)
            if len(typed) > 1:
                self._replace_via_keyboard(typed, *self.selection)
                return True
        elif _takes_back(key):
            while key.further(_takes_back) is not None:
                self.action_delete_left()
        return False

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text may hold control characters: they are shown, not kept; a long one folds."""
        event.stop()
        event.prevent_default()
        if not event.text:  # so many terminals paste an image
            self.post_message(ImageWanted())
            return
        if why_not := no_text(event.text):
            self.notify(why_not, severity="warning", timeout=8, markup=False)
            return
        text = inert(event.text.replace("\r\n", "\n").replace("\r", "\n"))
        self.take_in(self.completer.as_attached(text) or text)

    def on_text_area_changed(self) -> None:
        """Others need to know whether there is a draft, and the list what is typed."""
        self.look()
        self.post_message(DraftChanged())

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        """The cursor left what is completed, or went on in it."""
        if self.completer.items:
            self.look()

    # -- the list over the prompt

    def look(self) -> None:
        """Offer what fits at the cursor: completions, or earlier prompts."""
        (self.search if self.search.active else self.completer).look()

    def take(self, at: int | None = None) -> CompletionItem | None:
        """Put in what is selected in the list, or what is at this place of it."""
        return (self.search if self.search.active else self.completer).take(at)

    def close_list(self) -> bool:
        """Esc: leave the search, close the list, or leave vi's insert mode. False: none is there.

        Of a search the draft comes back.
        """
        if self.search.active:
            self.search.end()
            return True
        if self.completer.close():
            return True
        left = self._vi is not None and self._vi.leave_insert()
        if left:
            self.completer.on_change()
        return left

    # -- keys of the table

    def _enter(self) -> bool:
        """What is selected in the list, and if a command is whole then: run it; else send.

        A command that is none is only completed; an argument is taken as it was typed.
        """
        self.look()
        if self.search.active:
            return self.send()
        completer = self.completer
        query, sure = completer.query, completer.sure
        command = query is not None and query.kind != "file"
        whole = query is not None and (completer.names_a_command or query.kind == "argument")
        if whole and not sure:
            completer.close()
            return self.send()
        if not completer.is_typed and (taken := self.take()) is not None:
            if not command or taken.more or not sure:
                return True
            completer.close()
        return self.send()

    def _complete(self) -> bool:
        """Tab: a completion, else the suggestion, else queue while busy, or put back."""
        self.look()
        if self.take() is not None or self.search.active:
            return True
        if not self._take_suggestion() and (self.busy or self.editing):
            self.send("queue")
        return True

    def _older(self) -> bool:
        self.look()
        if self.completer.step(-1):
            return True
        if self.cursor_location[0] > 0:
            return False
        if self.waiting and not self.text and not self.editing:
            self.post_message(QueueWanted())
        else:
            self._walk(-1)
        return True

    def _newer(self) -> bool:
        self.look()
        if self.completer.step(1):
            return True
        if self.cursor_location[0] < self.document.line_count - 1:
            return False
        if not self._walk(1) and not self.text and len(self.suggestions) > 1:
            self._suggestion += 1
            self._show_suggestion()
            self.post_message(DraftChanged())
        return True

    def _walk(self, steps: int) -> bool:
        """Go to the prompt before (-1) or behind (1) in the history; False: there is none."""
        text = self.past.older(self.whole) if steps < 0 else self.past.newer()
        if text is not None:
            self.write(text)
        return text is not None

    def _search_past(self) -> bool:
        self.search.begin(self.whole)
        return True

    def _next_mode(self) -> bool:
        behind = (MODES.index(self._status().mode) + 1) % len(MODES)
        return self.post_message(Wanted(SetMode(MODES[behind])))

    def _unfold(self) -> bool:
        """Show what the label at the cursor stands for, or say why not."""
        place = self.folds.beside(self.document, self.cursor_location) if self.folds else None
        if place is None:
            key = key_of("unfold", "prompt")
            why = f"{key} shows what a label like [pasted 200 lines] stands for: go to one first."
            self.notify(why, timeout=6, markup=False)
            return True
        text = self._unfolded(self.get_text_range(*place))
        if len(text) > MOST_SHOWN_CHARS:
            why = f"{len(text):,} characters are too many to show here; they are sent whole."
            self.notify(why, timeout=6, markup=False)
        else:
            self.replace(text, *place)
        return True

    # -- Textual's, with labels

    def edit(self, edit: Edit) -> EditResult:
        """Textual's; a label is changed as one: it stays whole or goes."""
        if self.folds:
            places = self.folds.widened(self.document, edit.top, edit.bottom)
            if places != (edit.top, edit.bottom):
                edit.from_location, edit.to_location = places
        return super().edit(edit)

    def validate_selection(self, selection: Selection) -> Selection:
        """The cursor steps over a label, and never into it."""
        if not self.folds:
            return selection
        outside, before = self.folds.outside, self.selection.end
        return Selection(*(outside(self.document, at, before) for at in selection))

    def _refresh_size(self) -> None:
        """Textual's; a cursor below what an undo left is brought in first.

        The new size scrolls, which asks for the cursor's place before Textual has moved it: the
        undo of a paste of ten lines raised ValueError, which ended the app.
        """
        kept = self._validate_selection(self.selection)
        if kept != self.selection:
            self.set_reactive(TextArea.selection, kept)
        super()._refresh_size()

    def get_line(self, line_index: int) -> Text:
        """The line, its labels in their colour."""
        line = super().get_line(line_index)
        for start, end in self.folds.places(line.plain) if self.folds else ():
            line.stylize(theme.active().style("accent", more="bold"), start, end)
        return line

    def action_cut(self) -> None:
        """Textual's; the text behind labels is cut."""
        start, end = self.selection
        if start == end:
            result = self._delete_cursor_line()
        else:
            result = self._delete_via_keyboard(start, end)
        if result is not None:
            self.app.copy_to_clipboard(self._unfolded(result.replaced_text))

    def action_paste(self) -> None:
        """The image on the clipboard, else what duetto itself copied."""
        self.post_message(ImageWanted(copied=self.app.clipboard))


def _takes_back(key: events.Key) -> bool:
    return key.key == "backspace" and "backspace" not in _ACTIONS


def _is_typed(key: events.Key) -> bool:
    return key.is_printable and "+" not in key.key and key.key not in _ACTIONS
