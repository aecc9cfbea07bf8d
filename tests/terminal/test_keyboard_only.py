"""Every action by keyboard only, in the real tmux: no function key, no Alt, no mouse, no Kitty.

One person walks through all of them. Each leaves something to see: a sentence that is expected, or
at least another picture than before (the meter, which moves by itself, is not looked at).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from shutil import which
from typing import NamedTuple

import pytest

from tests.support.keyboard import is_plain, sent_for
from tests.support.tmux import Tmux
from tui.ui.keymap import KEYMAP, behind, rows
from tui.ui.keys.table import Key, Scope

LEADER = "\x0e"
LIST = "Ctrl[+]N and then"
SEARCH = r"\n *Search "
CLEAR, ESC, TAB, SHIFT_TAB, ENTER = "\x03", "\x1b", "\t", "\x1b[Z", "\r"
ITS_OWN = re.compile(r"▹.*|[\d.,]+ ?(?:ms|s|tok/s)\b|^.*tok/s.*$", re.M)
"""What changes without a key: the meter and the ghost."""


class Do(NamedTuple):
    """An action; ``seen`` is what shows that it was done, empty: any change."""

    scope: Scope
    action: str
    seen: str = ""
    gone: str = ""


class Say(NamedTuple):
    """What is typed between the actions, and what is waited for."""

    keys: str
    seen: str = ""
    gone: str = ""
    paste: bool = False


Step = Do | Say

INTO_CONVERSATION = (Say(f"{LEADER}2", "cache.py ×"), Say(f"{LEADER}1"), Say(f"{LEADER}1"))
"""Wherever the keys were; what was decided is written by then."""

PROMPT: list[Step] = [
    Do("prompt", "complete", "❯ make the cache safe for threads", "Tab takes"),
    Do("global", "cancel", "Tab takes the suggestion"),
    Do("prompt", "older", "❯ make the cache safe for threads", "Tab takes"),
    Do("prompt", "newer", "Tab takes the suggestion"),
    Do("prompt", "search_past"),
    Say(ESC, "Tab takes the suggestion"),
    Do("prompt", "mode", "SANDBOX"),
    Say(SHIFT_TAB, "PLAN"),
    Say(SHIFT_TAB, gone="PLAN"),
    Say("one"),
    Do("prompt", "newline"),
    Say("two", r"❯ one[^\n]*\n[^\n]*two"),
    Say(CLEAR, "Tab takes"),
    Say("xxxxx\n" * 120, r"\[pasted", paste=True),
    Do("prompt", "unfold", "xxxxx"),
    Say(CLEAR, "Tab takes"),
]

QUEUE: list[Step] = [
    Say("/throttle 1\r", "throttled"),
    Say("rehearse 9000 tokens"),  # no hunk lands, however long it takes
    Do("prompt", "send", "redirect"),
    Say("with a plain Lock"),
    Do("prompt", "steer", "[▌↳] with a plain"),
    Say("first\t", "1 first"),
    Say("second\t", "2 second"),
    Say("third\t", "3 third"),
    Do("prompt", "unqueue", "❯ third"),
    Say(TAB, "3 third"),
    Do("global", "queue", "d remove"),
    Do("queue", "previous_queued"),
    Do("queue", "next_queued"),
    Do("queue", "edit_queued", "in the prompt"),
    Say(TAB, "3 third"),
    Do("global", "queue", "d remove"),
    Do("queue", "prompt", "⏎ redirect"),
    Do("global", "queue", "d remove"),
    Do("queue", "remove_queued", gone="3 third"),
    Do("global", "queue", "d remove"),
    Do("queue", "send_queued", gone="2 second"),
    Do("global", "interrupt", r"stopped after"),
    Do("global", "queue", "d remove"),
    Say("d"),
    Say(f"{LEADER}q"),
    Say("d"),  # an interrupt may have been before what was sent from the queue
    Say(ESC),
    Say(CLEAR, "Tab takes the suggestion|/continue goes on"),
]

REVIEW: list[Step] = [
    Say("/clear\r", "new conversation"),
    Say("/throttle off\r", "⏎ send"),
    Say("make the cache safe for threads\r", "5 hunks[^\n]*0/5"),
    Say("", r"Done\."),
    Do("global", "show_conversation", "a accept  r reject"),
    Do("review", "next_hunk"),
    Do("review", "previous_hunk"),
    Do("review", "accept_hunk", "✓ accepted"),
    Do("review", "undo_decision", "5 hunks[^\n]*0/5"),
    Do("review", "redo_decision", "5 hunks[^\n]*1/5"),
    Do("review", "reject_hunk", "✗ rejected"),
    Do("review", "reject_why", "Enter rejects"),
    Say(ESC, "n next"),
    Do("review", "edit_hunk", "Alt[+]Y accept hunk"),
    Do("global", "accept_edited", gone="Alt[+]Y"),
    Do("review", "accept_all", "5 hunks[^\n]*5/5"),
    *INTO_CONVERSATION,
    Do("conversation", "previous_stop"),
    Do("review", "undo_decision", gone="5 hunks[^\n]*5/5"),
    Do("global", "reject", "5 hunks[^\n]*5/5"),
    *INTO_CONVERSATION,
    Say("k"),
    Say("u", gone="5 hunks[^\n]*5/5"),
    Do("review", "reject_all", "5 hunks[^\n]*5/5"),
]

CONVERSATION: list[Step] = [
    Say(ESC),
    Do("prompt", "search", SEARCH),
    Say(ESC, gone=SEARCH),
    *INTO_CONVERSATION,
    Do("conversation", "scroll_home", "pair-programming|make the cache"),
    Do("conversation", "scroll_end", r"Done\."),
    Do("conversation", "previous_stop"),
    Do("conversation", "next_stop"),
    Do("conversation", "previous_message"),
    Do("conversation", "next_message"),
    Do("conversation", "copy_message"),
    Do("conversation", "page_up"),
    Do("conversation", "page_down"),
    Do("conversation", "previous_stop"),
    Do("conversation", "copy_block"),
    Do("conversation", "peek"),
    Do("conversation", "activate"),
    *INTO_CONVERSATION,
    Do("conversation", "search", SEARCH),
    Say("lock", "Search lock"),
    Say(ESC, "Ctrl[+]O open"),
    Say(f"{LEADER}2"),
    Say(ESC),
    Do("prompt", "page_up"),
    Do("prompt", "page_down"),
    *INTO_CONVERSATION,
    Do("conversation", "prompt"),
]

TURN: list[Step] = [
    Say("make the cache safe for threads\r", r"3 hunks[^\n]*0/3"),
    Do("global", "review", "a accept  r reject"),
    Do("global", "card"),
    Do("global", "review_turn", "review"),
    Do("diff", "next_hunk"),
    Do("diff", "previous_hunk"),
    Do("turn", "accept_hunk", "1 accepted"),
    Do("turn", "undo_decision", gone="1 accepted"),
    Do("turn", "redo_decision", "1 accepted"),
    Do("diff", "next_hunk"),
    Do("turn", "reject_hunk", "1 rejected"),
    Do("turn", "reject_why", "Enter rejects"),
    Say(ESC, "1 rejected"),
    Do("turn", "accept_file", "accepted"),
    Do("turn", "undo_decision"),
    Do("turn", "reject_file", "rejected"),
    Do("turn", "undo_decision"),
    Do("turn", "accept_all"),
    Do("turn", "undo_decision"),
    Do("turn", "reject_all"),
    Do("turn", "undo_decision"),
    Do("turn", "undo_turn"),
    Do("turn", "undo_decision"),
    Do("turn", "which_hunks", "all pending"),
    Do("turn", "which_hunks", "last turn"),
    Do("diff", "layout", "one column"),
    Do("diff", "layout", "side by side"),
    Do("diff", "context"),
    Do("diff", "scroll_up"),
    Do("diff", "scroll_down"),
    Do("diff", "page_up"),
    Do("diff", "page_down"),
    Do("diff", "scroll_home"),
    Do("diff", "scroll_end"),
    Do("diff", "scroll_right"),
    Do("diff", "scroll_left"),
    Say("nn", "a accept  r reject"),
    Do("turn", "edit_hunk", "Alt[+]Y accept hunk"),
    Do("global", "review_turn", "review"),
    Do("diff", "go", "Ctrl[+]Z undo"),
    Do("global", "review_turn", "review"),
    Do("diff", "against", "against"),
    Do("diff", "help", "duetto help"),
    Say(ESC, gone="duetto help"),
    Do("diff", "close", "Esc to write"),
]

GLOBAL: list[Step] = [
    Do("global", "accept", r"hunks[^\n]*(3/3|5/5)"),
    Do("global", "undo_turn"),
    Do("global", "switch"),
    Do("global", "effort"),
    Do("global", "palette", "Search for commands"),
    Say(ESC, gone="Search for commands"),
    Do("global", "help", "duetto help"),
    Say(ESC, gone="duetto help"),
    Do("global", "leader", LIST),
    Say(ESC, gone=LIST),
    Say(ESC),
    Do("global", "search", SEARCH),
    Say("lock", "Search lock"),
    Say(ESC, "Ctrl[+]O open"),
    Do("global", "verify", "tests (passed|failed)"),
    Do("global", "send_failure"),
    Say("", r"tok/s"),
    Do("global", "interrupt", "stopped after"),
    Do("global", "follow"),
    Do("global", "wrap", "Long lines"),
    Do("global", "removed", "Removed lines are hidden"),
    Do("global", "next_pane"),
    Do("global", "show_conversation"),
    Do("global", "show_editor"),
    Do("global", "tree", "ledger"),
]

FILES: list[Step] = [
    Do("files", "show_all"),
    Say("tags"),
    Do("files", "open_beside"),
    Do("global", "tree"),
    Do("files", "leave"),
    Do("global", "tree"),
    Say("money"),
    Do("files", "open_row", "money.py"),
    Do("global", "split"),
    Do("global", "split"),
    Do("global", "other_side"),
]

EDITOR: list[Step] = [
    Do("global", "open_file"),
    Say("cache.py" + ENTER, r"▎ledger/cache\.py"),
    Say("zz"),
    Do("editor", "undo"),
    Do("editor", "redo"),
    Do("global", "save"),
    Do("editor", "duplicate"),
    Do("editor", "move_lines_down"),
    Do("editor", "move_lines_up"),
    Do("editor", "toggle_comment"),
    Do("editor", "find", "case"),
    Say(ESC),
    Do("editor", "replace", "case"),
    Say(ESC),
    Do("editor", "goto_line", "line"),
    Say("10" + ENTER, "10:1"),
    Do("editor", "bracket"),
    Do("editor", "outline", "letters of a symbol"),
    Say(ESC, gone="letters of a symbol"),
    Do("editor", "previous_tab"),
    Do("editor", "next_tab"),
    Do("editor", "close_tab"),
    Do("editor", "close_tab"),
    Do("global", "quit", "Leave|Not saved"),
]
NOT_HERE = {
    ("review", "next_candidate"): "needs a hunk that fits twice: tests/ui/conversation has one",
    ("review", "previous_candidate"): "the same",
    ("review", "stop_redoing"): "needs a hunk that is made anew: tests/ui/review has one",
    ("turn", "stop_redoing"): "the same",
    ("prompt", "edit_outside"): "needs another program: tests of the prompt bring one",
    (
        "global",
        "question",
    ): "needs a model that runs a command: tests/terminal/test_commands has one",
    ("global", "verify_disk"): "as verify, on the disk: tests/engine/test_verification.py has it",
    ("command", "background"): "tests/terminal/test_commands has one",
    ("command", "stop"): "the same",
    ("global", "delegate"): "needs a long answer: tests/engine/test_delegating.py has one",
    ("diff", "next_file"): "needs two files in a turn: tests/ui/review has them",
    ("diff", "previous_file"): "the same",
    ("editor", "note"): "tests/ui/editor/test_notes.py goes from note to note",
    ("editor", "next_note"): "the same",
    ("editor", "previous_note"): "the same",
    ("global", "change_selection"): "the same tests ask for it",
    **dict.fromkeys(
        (
            ("rewind", "rewind"),
            ("rewind", "files_and_talk"),
            ("rewind", "files_alone"),
            ("rewind", "talk_alone"),
        ),
        "needs turns that can be taken back: tests/ui/review/test_rewinding.py has them",
    ),
}
SCENES = (PROMPT, QUEUE, REVIEW, CONVERSATION, TURN, GLOBAL, FILES, EDITOR)
ASKED = {(step.scope, step.action) for scene in SCENES for step in scene if isinstance(step, Do)}


def way(key: Key) -> str:
    """What a plain keyboard sends for an action."""
    plain = [name for name in key.keys if is_plain(name)]
    if plain:
        return sent_for(plain[0])
    scopes: tuple[Scope, ...] = ("global",) if key.scope == "global" else (key.scope, "global")
    found = [presses for presses, row in behind(("leader",), scopes).items() if row == key]
    return LEADER + sent_for(found[0][0])


def press(tmux: Tmux, keys: str) -> None:
    """Type them; the list behind the leader key is seen, and goes."""
    if keys.startswith(LEADER) and keys != LEADER:
        tmux.type(LEADER)
        tmux.wait_for(LIST)
        tmux.type(keys.removeprefix(LEADER))
        tmux.wait_gone(LIST)
    elif keys:
        tmux.type(keys)


def is_new(tmux: Tmux, before: str) -> bool:
    """Another picture than before."""
    return ITS_OWN.sub("", tmux.picture) != before


def walk(tmux: Tmux, steps: list[Step]) -> set[tuple[str, str]]:
    """Take the steps; returns the actions that were done."""
    done: set[tuple[str, str]] = set()
    for step in steps:
        if isinstance(step, Say):
            (tmux.paste if step.paste else partial(press, tmux))(step.keys)
            tmux.wait_for(step.seen)
            if step.gone:
                tmux.wait_gone(step.gone)
            tmux.still()
            continue
        key = next(row for row in rows(step.scope) if row.name == step.action)
        before = ITS_OWN.sub("", tmux.still())
        press(tmux, way(key))
        if step.gone:
            tmux.wait_gone(step.gone)
        if step.seen:
            tmux.wait_for(step.seen)
        tmux.wait(partial(is_new, tmux, before), f"{step} with {way(key)!r}")
        done.add((step.scope, step.action))
    return done


@pytest.fixture
def tmux(environment: Mapping[str, str], tmp_path: Path) -> Iterator[Tmux]:
    """The practice in a tmux of its own."""
    kept = {name: value for name, value in environment.items() if not name.startswith("TMUX")}
    command = [sys.executable, "-m", "tui.cli", "practice"]
    with Tmux(command, kept | {"LANG": "C.UTF-8"}, tmp_path, (120, 36)) as started:
        yield started


@pytest.mark.skipif(which("tmux") is None, reason="tmux is not installed here")
def test_every_action_by_keyboard_only(tmux: Tmux) -> None:
    tmux.wait_for("Tab takes the suggestion")
    done: set[tuple[str, str]] = set()
    for scene in SCENES:
        done |= walk(tmux, scene)
    tmux.type("y")
    tmux.wait(lambda: tmux.over, "the end")
    assert done == ASKED


def test_no_action_is_left_out() -> None:
    every = {(key.scope, key.name) for key in KEYMAP}
    assert every - ASKED == set(NOT_HERE), "each has a step above, or a reason there"
