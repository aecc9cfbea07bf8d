"""The row under the prompt: what Enter, Alt+Enter and Tab do now, and what else helps."""

from __future__ import annotations

from typing import NamedTuple

from rich.cells import cell_len

from tui.core.document.hunk import TAKEN_BACK
from tui.core.files import counted
from tui.engine.session import Session
from tui.engine.slash import COMMANDS, Command, find_command, split_command
from tui.ui import theme
from tui.ui.keymap import shown
from tui.ui.keys.table import Scope
from tui.ui.painting.ink import ink
from tui.ui.prompt.prompt import PromptArea
from tui.ui.prompt.question_box import QuestionBox
from tui.ui.prompt.queue_list import QueueList
from tui.ui.styled_text import Piece, clip
from tui.ui.widgets.field import Field
from tui.ui.widgets.painted import Bar

_COLOURS = {
    "redirect": "fast",
    "steer": "accent",
    "queue": "deep",
    "run": "warning",
    "answer": "warning",
    "remove": "warning",
    "refuse": "warning",
    "go on": "fast",
    "fast": "fast",
    "deep": "deep",
}
REFUSAL = "refusal"
"""The id of the field for its words."""
_TREE, _FIND_BAR, _SEARCH, _FIELD = "file tree", "find bar", "search", "field"
_LEAST_WORDS = 4
"""Cells: fewer of the words behind the labels say nothing."""


def _key(action: str, scope: Scope = "prompt") -> str:
    """The key of an action as it is now, in few cells."""
    return shown(action, scope).replace("Enter", _enter())


def _enter() -> str:
    """Its sign, or its name where the sign would be another key's."""
    return "⏎" if ink().shows("⏎") else "Enter"


def _completions(draft: str) -> list[Command]:
    """The commands that a draft of one word could become."""
    if not draft.startswith("/") or "\n" in draft or " " in draft:
        return []
    return [command for command in COMMANDS if command.name.startswith(draft[1:].lower())]


def _both(*actions: str) -> str:
    return " ".join(map(_key, actions))


def tips() -> tuple[str, ...]:
    """What helps a user whose prompt is empty, one after the other."""
    return (
        "@ names a file",
        "! runs a command",
        "/help lists all commands",
        f"{' or '.join(shown('switch', most=2).split())}: fast ↔ deep",
        f"{shown('show_conversation')}: up into the conversation",
        f"{shown('mode', 'prompt')}: what commands of the model may do",
        f"{shown('search_past', 'prompt')}: what you asked before",
        f"{shown('edit_outside', 'prompt')}: the draft in your editor",
    )


class HintWords(NamedTuple):
    """What the row says."""

    labels: list[tuple[str, str]]
    """Key and what it does, the most important one first; as many are shown as fit."""
    words: str = ""
    """What else helps."""
    short: str = ""
    """The same where there is no room for it."""


class Hint(Bar):
    """Reads session, prompt and queue; shown under the draft at every moment."""

    def __init__(self, session: Session, prompt: PromptArea, queue: QueueList) -> None:
        super().__init__(id="hint")
        self._session = session
        self._prompt = prompt
        self._queue = queue

    def pieces(self, width: int) -> list[Piece]:
        """The labels, then hints."""
        palette = theme.active()
        labels, words, short = self._said()
        pieces: list[Piece] = []
        if mode := self._prompt.vi_words:
            colour = "muted" if mode == "insert" else "warning"
            pieces.append((f"  {mode}", palette.style(colour)))
        room = width - sum(cell_len(text) for text, _ in pieces)
        for index, (key, label) in enumerate(labels):
            shown = f"  {key} "
            if not index and cell_len(shown) + cell_len(label) > room and " · " in label:
                label = f"· {label.rpartition(' · ')[2]}"
            room -= cell_len(shown) + cell_len(label)
            if index and room < 0:
                return pieces
            chip = palette.style(_COLOURS.get(label, "accent"), more="" if index else "bold")
            pieces += [(shown, palette.style("muted") if index else chip), (label, chip)]
        if short and cell_len(words) > room - 2:
            words = short
        while " · " in words and cell_len(words) > room - 2:
            words = words.rpartition(" · ")[0]
        if words and room > _LEAST_WORDS + 2:
            pieces.append((f"  {clip(words, room - 2)}", palette.style("faint")))
        return pieces

    def _said(self) -> HintWords:
        draft = self._prompt.text
        if self._queue.has_focus:
            return self._queued()
        if self._session.status.asks and (asked := self._asked(draft)) is not None:
            return asked
        if away := self._away():
            return HintWords([(away, f"has the keys · {self._way_back(away)}")])
        if self._prompt.search.active:
            words = "words of an earlier prompt · Esc: back to the draft"
            if not self._prompt.completer.items:
                return HintWords([("Esc", "back to the draft")], "no match")
            return HintWords([(_both("send", "complete"), "take")], words, "Esc: back to the draft")
        if self._prompt.completer.items:
            return self._choosing()
        if self._prompt.editing:
            return self._editing()
        if (command := self._command(draft)) is not None:
            return command
        said = self._words_for_the_model(draft)
        attachables = self._prompt.completer.attachables
        images = attachables.shown_images(draft) if attachables is not None else []
        return said._replace(words=" · ".join(images), short=images[0]) if images else said

    def _asked(self, draft: str) -> HintWords | None:
        """Something is asked; None: the keys do what they do otherwise."""
        focused, away = self._prompt.screen.focused, "Esc stops the answer"
        if not self._session.status.busy:
            away = "Esc refuses"
        if isinstance(focused, QuestionBox):
            few = f"{focused.keys} · {away.removesuffix(' the answer')}"
            return HintWords([(_enter(), "answer")], f"{focused.keys} · {away} · Tab: prompt", few)
        if isinstance(focused, Field) and focused.id == REFUSAL:
            return HintWords([(_enter(), "refuse")], f"the model reads it · {away} · Tab: back")
        if not self._prompt.has_focus:  # there a letter is text
            return HintWords([(shown("question"), "answer")], "the question above")
        if not draft and not self._prompt.editing:
            keys = f"{_key('older')} {shown('question')}"
            return HintWords([(keys, "answer")], "the question above")
        return None

    def _away(self) -> str:
        """Who has the keys instead of the prompt; empty: nobody of this screen."""
        focused = self._prompt.screen.focused
        if focused is None or isinstance(focused, QuestionBox) or self._prompt.has_focus:
            return ""
        if any(widget.has_class("-words") for widget in focused.ancestors_with_self):
            return _FIELD
        ids = {widget.id for widget in focused.ancestors_with_self}
        names = {"tree": _TREE, "find-bar": _FIND_BAR, "search-bar": _SEARCH}
        names["transcript"] = "conversation"
        return next((name for id, name in names.items() if id in ids), "editor")

    def _way_back(self, away: str) -> str:
        """How to write in the prompt again."""
        status = self._session.status
        if status.busy or status.running or status.deciding or status.compacting:
            key = shown("prompt", "conversation") if away == "conversation" else shown("next_pane")
            return f"{key} to write"
        if away == _SEARCH:
            return "Esc closes it"
        return "Esc to the editor" if away in (_TREE, _FIND_BAR, _FIELD) else "Esc to write"

    def _queued(self) -> HintWords:
        """The queue has the keys."""
        says = {"edit_queued": "edit", "remove_queued": "remove", "send_queued": "send now"}
        labels = [(_key(action, "queue"), word) for action, word in says.items()]
        return HintWords([*labels, (_key("prompt", "queue"), "prompt")])

    def _editing(self) -> HintWords:
        """A queued message stands in the prompt."""
        number = (self._queue.edited or 0) + 1
        if not self._prompt.text.strip():
            return HintWords(
                [(_both("send", "complete"), "remove")], f"nothing typed: message {number} goes"
            )
        back = (_both("send", "complete"), f"put back as {number}")
        status = self._session.status
        if status.busy:
            return HintWords([back, (_key("steer"), self._session.alt_label())])
        other = "queue" if len(status.queued) > 1 else "send"
        return HintWords([back, (_key("steer"), other), ("Esc", "leave it")])

    def _choosing(self) -> HintWords:
        """The list is open over the prompt."""
        completer, words = self._prompt.completer, "↑↓ choose · Esc closes"
        item, query = completer.selected, completer.query
        if query is None or item is None or query.kind == "file":
            return HintWords([(_both("send", "complete"), "take")], words)
        typed = completer.names_a_command or query.kind == "argument"
        if item.more or not (completer.sure or typed):
            return HintWords([(_both("send", "complete"), "complete")], words)
        return HintWords([(_key("send"), "run"), (_key("complete"), "complete")], words)

    def _command(self, draft: str) -> HintWords | None:
        """The draft is, or becomes, a command."""
        if found := _completions(draft):
            first = found[0]
            if len(found) == 1 or draft[1:] == first.name:
                words = f"/{first.name} {first.argument}  {first.help}"
                return HintWords([(_key("send"), "run")], words)
            return HintWords(
                [(_key("send"), "run")], "  ".join(f"/{command.name}" for command in found)
            )
        if (parts := split_command(draft)) is not None:
            command = find_command(parts[0])
            if parts[0] == "steer" and parts[1]:
                return HintWords([(_key("send"), self._session.alt_label())], *self._refusal())
            words = f"{command.argument}  {command.help}" if command else "unknown command"
            return HintWords([(_key("send"), "run")], words)
        if draft.startswith("!"):
            return HintWords([(_key("send"), "run")], "as a command in the workspace")
        return None

    def _words_for_the_model(self, draft: str) -> HintWords:
        enter = self._session.prompt_label()
        if self._prompt.completer.fits_nothing:
            return HintWords([(_key("send"), enter)], "no file matches")
        if self._session.status.busy:
            other = self._session.alt_label()
            if other == "queue":
                return HintWords(
                    [(_key("send"), enter), (_both("steer", "complete"), other)], *self._refusal()
                )
            return HintWords(
                [(_key("send"), enter), (_key("steer"), other), (_key("complete"), "queue")]
            )
        if not draft and self._prompt.goes_on:
            return HintWords([(_key("send"), "go on")], "where it was stopped")
        if count := self._session.status.notes:
            noted = f"{counted(count, 'note')} on lines"
            said = noted if self._prompt.sends_notes else f"with {noted}"
            return HintWords([(_key("send"), enter)], said)
        if not draft:
            return HintWords([(_key("send"), enter)], self._usual())
        if self._session.status.queued:  # Alt+Enter goes behind them, and the first of them goes
            return HintWords([(_key("send"), enter), (_key("steer"), "queue")], self._usual())
        proposing = self._session.proposing
        if proposing is not None and (proposal := proposing.of(draft)) is not None:
            labels = [(_key("send"), enter), (shown("switch"), proposal.role)]
            return HintWords(labels, proposal.words)
        return HintWords([(_both("send", "steer"), enter)], self._usual())

    def _refusal(self) -> tuple[str, str]:
        """Why Alt+Enter does not steer, if it is known; in words and in few."""
        refused = self._session.status.can_steer is False
        return ("this model cannot be steered", "no steering") if refused else ("", "")

    def _taken_back(self) -> bool:
        """The newest hunk was cut, and went as the user went on just now."""
        hunks = self._session.workspace.hunks
        last = hunks[-1] if hunks else None
        newest = self._session.last_turn - 1
        return last is not None and last.reason == TAKEN_BACK and last.turn >= newest

    def _usual(self) -> str:
        """What else can be done while nothing streams."""
        prompt, status = self._prompt, self._session.status
        if status.deciding:
            return f"{status.deciding} · Esc stops"
        if status.compacting:
            return "Esc stops the summary"
        if status.running:
            return "Esc stops what runs"
        if status.can_continue:
            cut = self._session.workspace.hunk_list.cut()
            return "takes the cut hunk back · /continue goes on" if cut else "/continue goes on"
        if self._session.workspace.hunk_list.cut():
            return f"takes the cut hunk back · {shown('review')} decides on it"
        if self._taken_back() and not prompt.text:
            keys = f"{shown('show_conversation')}, then {shown('undo_decision', 'review')}"
            return f"{keys}: brings the cut hunk back"
        if status.can_send_failure and not prompt.text:
            return f"{shown('send_failure')} sends the failure"
        if status.queued and not prompt.text:
            return "↑ goes to the queue, which waits for your next prompt"
        if prompt.suggestion_shown:
            at = prompt.suggestions.index(prompt.suggestion_shown) + 1
            more = f" · ↓ {at} of {len(prompt.suggestions)}" if len(prompt.suggestions) > 1 else ""
            return f"Tab takes the suggestion{more}"
        if prompt.at_fold:
            return f"{_key('unfold')} shows what was pasted"
        if prompt.text:
            keys = " or ".join(shown("newline", "prompt", most=2).split())
            return f"{keys}: new line"
        found = tips()
        return found[len(prompt.past.entries) % len(found)]
