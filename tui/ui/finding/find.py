"""Find, replace and go to a line: what the find bar asks for, done in the editor.

What is in sight is found at once; the rest of a long file in slices, so that no key waits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Literal

from textual import events, on
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from tui.core.files import counted
from tui.core.text.change_set import Position
from tui.engine.session import Session
from tui.ui.editor.cells import copied
from tui.ui.editor.editor import Editor
from tui.ui.editor.sides import Sides
from tui.ui.editor.view import View
from tui.ui.finding.search import Query, TextSearch
from tui.ui.widgets.field import Field

if TYPE_CHECKING:
    from tui.ui.finding.replacing import AllReplaced


Mode = Literal["find", "replace", "line", "words"]
_FINDING: tuple[Mode, ...] = ("find", "replace")

_LABELS: Mapping[Mode, str] = {"find": " Find", "replace": " Find", "line": " Line"}
_HINTS: Mapping[Mode, str] = {
    "find": "Alt+C case · Alt+W word · Alt+X regex · Alt+I in selection ",
    "replace": "Alt+C case · Alt+W word · Alt+X regex · Alt+I in selection ",
    "line": "line, line:column, +3 or -3 ",
}
_REPLACE_HINT = "Enter this one · Alt+Enter all "
_ROOMY, _ROOMY_BELOW = 100, 60
_SWITCHES = {"alt+c": "case", "alt+w": "word", "alt+x": "regex"}
_SIGNS = {"case": "Aa", "word": "|ab|", "regex": ".*"}


class FindBar(Vertical):
    """What is looked for and how often it is there; below it what replaces it."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.find: Find
        """Does what is asked for here; it takes the bar for its own."""
        self.on_words: Callable[[str, bool], None] = lambda text, more: None
        """Called with what was typed into the field of `ask`, and whether Alt is held down."""
        self.mode: Mode = "find"
        self.switches: set[str] = set()
        """Of ``case``, ``word`` and ``regex`` those that are on."""
        self._scope = ""
        self._line = 0
        self._asks = ("", "")
        """The label and the hint of `ask`."""
        self._label = Static(_LABELS["find"], markup=False, classes="label")
        self._input = Field(id="find-needle")
        self._count = Static("", markup=False, classes="count")
        self._hint = Static(_HINTS["find"], markup=False, classes="hint")
        self._hint.display = False  # until there is known to be room for it
        self._replacement = Field(id="find-replacement")
        self._below = Static(_REPLACE_HINT, markup=False, classes="hint")

    def _fill(self) -> None:
        """Label, input, count, hint; below the replacement and its keys: when first opened."""
        rows = Horizontal(), Horizontal(id="find-below")
        self.mount(*rows)
        rows[0].mount(self._label, self._input, self._count, self._hint)
        with_ = Static(" With", markup=False, classes="label")
        rows[1].mount(with_, self._replacement, self._below)

    def on_resize(self, event: events.Resize) -> None:
        """What is looked for needs the room more than what the keys do."""
        self._hint.display = event.size.width >= _ROOMY
        self._name_keys()
        self._below.display = event.size.width >= _ROOMY_BELOW

    @property
    def is_open(self) -> bool:
        """True while the bar is shown."""
        return self.has_class("-open")

    @property
    def has_user(self) -> bool:
        """The user is in it."""
        focused = self.screen.focused
        return focused is not None and self in focused.ancestors

    @property
    def query_wanted(self) -> Query:
        """What is looked for; an empty needle: nothing is."""
        if not self.is_open or self.mode not in _FINDING:
            return Query()
        return Query(self._input.value, **dict.fromkeys(self.switches, True))

    def open(self, mode: Mode, text: str = "", *, line: int = 0) -> None:
        """Show the bar and put the focus into it; ``text`` replaces what stood there.

        ``line`` is where the cursor is, 0-based, for lines counted from there.
        """
        if not self.children:
            self._fill()
        if (mode in _FINDING) != (self.mode in _FINDING) or text or mode == "words":
            self._input.value = text
        self.mode, self._line = mode, line
        self._hint.update(self._keys)
        self._name_keys()
        self.set_class(mode == "replace", "-replace")
        self.set_class(mode == "words", "-words")
        self.count("")
        self.add_class("-open")
        self.name_switches()
        self.screen.set_focus(self._input)  # at once: the next key is meant for it
        self._input.select_all()
        self._seek()

    def ask(self, label: str, hint: str, text: str, done: Callable[[str, bool], None]) -> None:
        """Ask for a line of words; ``text`` stands there already."""
        self._asks, self.on_words = (f" {label}", f"{hint} "), done
        self.open("words", text)

    def close(self) -> bool:
        """Hide the bar; False if it was not open."""
        was_open = self.is_open
        self.remove_class("-open")
        return was_open

    def count(self, words: str, *, nothing: bool = False) -> None:
        """Show how many matches there are."""
        self._count.update(f" {words} " if words else "")
        self._count.set_class(nothing, "-nothing")

    def scope(self, words: str) -> None:
        """Show where is looked; empty: in the whole file."""
        self._scope = words
        self.name_switches()

    def name_switches(self) -> None:
        """Show which switches are on."""
        on = [_SIGNS[name] for name in _SIGNS if name in self.switches]
        label = _LABELS.get(self.mode, self._asks[0])
        words = " ".join([label, *on, *([self._scope] if self._scope else [])])
        self._label.update(words if self.mode in _FINDING else label)

    def _name_keys(self) -> None:
        """Where the hint has no room, what the keys do is said until something is typed."""
        self._input.placeholder = "" if self._hint.display else self._keys.strip()

    @property
    def _keys(self) -> str:
        return _HINTS.get(self.mode, self._asks[1])

    def on_key(self, event: events.Key) -> None:
        """Step through the matches, turn a switch, go to the other input, or accept the line."""
        take = self._take_find if self.mode in _FINDING else self._take_line
        if take(event.key):
            event.stop()
            event.prevent_default()

    def _take_line(self, key: str) -> bool:
        more = key in ("alt+enter", "ctrl+j") and self.mode == "words"
        if key == "enter" or more:
            self._choose_line(more=more)
        return key == "enter" or more

    def _take_find(self, key: str) -> bool:
        below = self.screen.focused is self._replacement
        if self.mode == "replace" and key in ("tab", "shift+tab"):
            self.screen.set_focus(self._input if below else self._replacement)
        elif self.mode == "replace" and key in ("alt+enter", "ctrl+j"):
            self._replace(everything=True)
        elif below and key == "enter":
            self._replace(everything=False)
        elif key in ("enter", "down", "shift+enter", "up"):
            self.find.step(key in ("shift+enter", "up"))
        elif key in _SWITCHES:
            self.switches ^= {_SWITCHES[key]}
            self.name_switches()
            self._seek()
        elif key == "alt+i":
            self.find.change_scope()
        else:
            return False
        return True

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if event.input is self._input:
            self._seek()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        if self.mode not in _FINDING:
            self._choose_line()
        elif event.input is self._replacement:
            self._replace(everything=False)
        else:
            self.find.step(False)

    def _seek(self) -> None:
        if self.is_open and self.mode in _FINDING:
            self.find.look()

    def _replace(self, *, everything: bool) -> None:
        self.find.replace(self._replacement.value, everything)

    def _choose_line(self, *, more: bool = False) -> None:
        if self.mode == "words":
            self.on_words(self._input.value, more)
            return
        place = parse_jump(self._input.value, self._line)
        if place is None:
            self.count("type a number", nothing=True)
        else:
            self.find.go_to_line(*place)


def parse_place(text: str) -> tuple[int, int] | None:
    """``12`` or ``12:5`` as people count, to 0-based line and column."""
    line, _, col = text.strip().lstrip(":").partition(":")
    if not line.isdecimal() or (col and not col.isdecimal()):
        return None
    return (max(_number(line) - 1, 0), max(_number(col or "1") - 1, 0))


def parse_jump(text: str, line: int) -> tuple[int, int] | None:
    """The same, or ``+3`` and ``-3`` from a 0-based line."""
    found = re.fullmatch(r"\s*([+-])(\d{1,9})\s*", text)
    if found is None:
        return parse_place(text)
    return (max(line + int(found[1] + found[2]), 0), 0)


def _number(digits: str) -> int:
    """A number of any length; Python refuses those of more than 4,300 digits."""
    return int(digits[:12])


_SLICE_S = 0.004
_PAUSE_S, _SHORT_PAUSE_S = 0.02, 0.005
"""Between two slices."""
_AGAIN = "Ctrl+Z takes it back"


class Find:
    """Does what the find bar asks for, in the editor that the user is in."""

    def __init__(self, session: Session, sides: Sides, bar: FindBar) -> None:
        self.on_note: Callable[[], None] = lambda: None
        """Called when what is said of the cursors may be other than before."""
        self._session = session
        self._sides = sides
        self._bar = bar
        bar.find = self
        self._searched: View | None = None
        """The view in which is looked; its matches are shown."""
        self._asked_at = 0
        """What the cursor's moves were when a match was asked for."""
        self._counted: tuple[object, ...] = ()
        """What the bar says now."""
        self._done: tuple[object, ...] = ()
        """After this search and at this revision the bar says how much was replaced."""

    @property
    def _editor(self) -> Editor:
        return self._sides.used.editor

    def open(self, mode: Mode) -> None:
        """Look for what is selected, else for what was looked for last; or in selected lines."""
        editor = self._editor
        if (view := editor.view) is None:
            return
        selection = view.cursor.selection
        several = selection is not None and selection[0][0] != selection[1][0]
        if not self._bar.is_open or several:
            self._limit(view, selection if several else None)
        self._bar.open(mode, "" if several else copied(view.cursor.selected_text))

    def ask_line(self) -> None:
        """Ask for a line to go to."""
        if (view := self._editor.view) is not None:
            self._forget()
            self._bar.open("line", line=view.cursor.position[0])
            self._bar.count(f"of {view.buffer.line_count}")

    def ask_words(
        self, label: str, hint: str, text: str, done: Callable[[str, bool], None]
    ) -> None:
        """Ask for a line of words; the bar closes when they are there."""

        def taken(said: str, more: bool) -> None:
            self.close()
            done(said, more)

        self._forget()
        self._bar.ask(label, hint, text, taken)

    def close(self) -> bool:
        """Close the find bar; False if it was not open."""
        if not self._bar.close():
            return False
        self._forget()
        editor = self._editor
        editor.screen.set_focus(editor)
        editor.repaint()
        self.on_note()
        return True

    def follow(self) -> None:
        """Another file or side: look for the same in it; a user who is there is left there."""
        if self._bar.is_open:
            self.look(go=self._bar.has_user)

    def note(self) -> None:
        """Show how often is there what is looked for."""
        view = self._searched
        if view is not None and self._bar.is_open:
            self._tell(view)
            if view.search.pending:
                editor = self._editor
                editor.repeats.every("search", _PAUSE_S, partial(self._search_on, editor))

    # -- what the bar asks for

    def step(self, backwards: bool) -> None:
        """To the next match, or to the one before."""
        if (view := self._editor.view) is not None:
            ends = view.cursor.selection or (view.cursor.position, view.cursor.position)
            self._go(view, ends[0] if backwards else ends[1], backwards=backwards)

    def change_scope(self) -> None:
        """Look in the selection only, or everywhere again."""
        if (view := self._editor.view) is None:
            return
        if view.search.within is not None:
            self._limit(view, None)
        elif (selection := _selected(view)) is None:
            self._bar.count("select some lines first", nothing=True)
            return
        else:
            self._limit(view, selection)
        self.look()

    def replace(self, text: str, everything: bool) -> None:
        """Replace the match that is shown, or all of them."""
        if (view := self._editor.view) is None:
            return
        if refusal := self._session.workspace.read_only(view.path):
            self._bar.count(refusal, nothing=True)
            return
        try:
            if everything:
                self._replace_all(view, text)
            else:
                self._replace_one(view, text)
        except ValueError as error:
            self._bar.count(str(error), nothing=True)

    def go_to_line(self, line: int, col: int) -> None:
        """To a line and column, 0-based."""
        self._editor.go((line, col))
        self.close()

    # -- how it is done

    def _limit(self, view: View, within: tuple[Position, Position] | None) -> None:
        """Look in this range only; None: everywhere."""
        view.search.limit(within)
        self._bar.scope("" if within is None else "in selection")

    def _forget(self) -> None:
        """Nothing is looked for any more."""
        if self._searched is not None:
            self._searched.search.look_for(Query())
            self._limit(self._searched, None)
            self._searched = None

    def look(self, *, go: bool = True) -> None:
        """Find what is typed, and go to it from the start of what was found before."""
        view = self._editor.view
        if view is None:
            return
        if view is not self._searched and self._searched is not None:
            self._forget()
        self._searched = view
        view.search.look_for(self._bar.query_wanted)
        if not go:
            view.search.advance(_SLICE_S)
            self._editor.repaint()
            self.on_note()
            return
        within, selection = view.search.within, view.cursor.selection
        start = selection[0] if selection else view.cursor.position
        self._go(view, start if within is None else max(within[0], start))

    def _go(self, view: View, position: Position, *, backwards: bool = False) -> None:
        """To the next match from a position on, or to the one before it."""
        if view.search.go(position, backwards=backwards) is not None:
            self._select(self._editor, view.search)
        self._asked_at = view.cursor.moves
        self._editor.repaint()
        self.on_note()

    def _select(self, editor: Editor, search: TextSearch) -> None:
        """Go to the match that was found."""
        if search.now is not None:
            line, start, end = search.now
            editor.go((line, start), select_to=(line, end))

    def _search_on(self, editor: Editor) -> None:
        view = editor.view
        if view is None or not view.search.pending:
            editor.repeats.stop("search")
            editor.repaint()  # earlier ones did not wait for what a slow pattern finds
            return
        if editor.screen.focused is editor or view.cursor.moves != self._asked_at:
            view.search.stay()  # the user went on in the text: what is typed belongs there
        if view.search.advance(_SLICE_S):
            self._select(editor, view.search)
            editor.repaint()
        self._tell(view)

    def _tell(self, view: View) -> None:
        """Show how often it is there, where anything about that changed."""
        search = view.search
        if self._done == (search.query, search.within, view.buffer.revision):
            return
        told = (search.query, search.error, search.now, search.count, search.pending)
        if told == self._counted:
            return
        self._counted = told
        bar = self._bar
        if not search.query.needle:
            bar.count("")
        elif search.error:
            bar.count(search.error, nothing=True)
        elif search.pending:
            bar.count(f"{search.count}…" if search.count else "looking…")
        elif not search.count:
            bar.count("not found", nothing=True)
        else:
            # Counting those above costs the file's length: who types is spared it.
            index = search.index if bar.has_user else None
            bar.count(
                f"{search.count} found" if index is None else f"{index + 1} of {search.count}"
            )

    def _replace_one(self, view: View, text: str) -> None:
        """Replace the match that is shown and go to the next one. Raises ValueError."""
        from tui.ui.finding.replacing import replace_one  # not before the first paint

        search, before = view.search, view.buffer.revision
        typing = replace_one(search, view.buffer, text)
        if typing is not None:
            empty = typing.replacements[0].start == typing.replacements[0].end
            self._editor.change(typing)
            if view.buffer.revision == before:
                return
            if empty:  # else an empty match would be found at the same place for ever
                line, col = view.cursor.position
                search.now = (line, col, col)
        self._go(view, view.cursor.position)

    def _replace_all(self, view: View, text: str, *, at_once: bool = False) -> None:
        """Replace all matches as one step; what takes long is planned in slices.

        Raises:
            ValueError: it cannot be done; the text says why.
        """
        from tui.ui.finding.replacing import replace_all

        editor, search = self._editor, view.search
        editor.repeats.stop("replace")  # an earlier wish
        plan = replace_all(search, view.buffer, text, self._marked_lines(view).__contains__)
        until = perf_counter() + _SLICE_S
        for done in plan:
            if done is not None:
                self._replaced(editor, view, done)
            elif not at_once and perf_counter() >= until:
                self._bar.count("replacing…")
                step = partial(self._replace_on, editor, view, _Plan(search, text, plan))
                editor.repeats.every("replace", _SHORT_PAUSE_S, step)
                return

    def _marked_lines(self, view: View) -> set[int]:
        """Lines beside which a hunk, a cursor or the top of a view has a mark."""
        kinds = self._session.workspace.decorations(view.path, 0, view.buffer.line_count)
        lines = {line + step for line in kinds for step in (-1, 0, 1)}
        for side in self._sides:
            if (shown := side.editor.view) is not None and shown.buffer is view.buffer:
                lines |= {shown.top, shown.cursor.position[0], shown.cursor.anchor[0]}
        return lines

    def _replace_on(self, editor: Editor, view: View, plan: _Plan) -> None:
        """Plan on, unless something else is looked for now."""
        until = perf_counter() + _SLICE_S
        try:
            while view is editor.view and plan.pattern is view.search.pattern:
                if plan.revision != view.buffer.revision:
                    # Somebody writes into this file: what is planned at once is true.
                    editor.repeats.stop("replace")
                    self._replace_all(view, plan.text, at_once=True)
                    return
                done = next(plan.steps)
                if done is not None:
                    editor.repeats.stop("replace")
                    self._replaced(editor, view, done)
                    return
                if perf_counter() >= until:
                    return
        except ValueError as error:
            self._bar.count(str(error), nothing=True)
        editor.repeats.stop("replace")

    def _replaced(self, editor: Editor, view: View, done: AllReplaced) -> None:
        """Make the planned change and say how much it is."""
        if not done.matches:
            self._tell(view)
            return
        buffer = view.buffer
        before = buffer.revision
        editor.change(done.typing)
        if buffer.revision == before:
            return
        self.on_note()
        places = counted(done.lines, "line")
        self._done = (view.search.query, view.search.within, buffer.revision)
        self._counted = ()
        self._bar.count(f"{done.matches:,} replaced in {places} · {_AGAIN}")


class _Plan:
    """A replacement of all matches that is being planned."""

    def __init__(self, search: TextSearch, text: str, steps: Iterator[AllReplaced | None]) -> None:
        self.text = text
        self.steps = steps
        self.pattern = search.pattern
        self.revision = search.revision


def _selected(view: View) -> tuple[Position, Position] | None:
    """What the user selected; a match that was gone to is none of it."""
    selection, now = view.cursor.selection, view.search.now
    if now is not None and selection == ((now[0], now[1]), (now[0], now[2])):
        return None
    return selection
