from __future__ import annotations

import re
from collections import Counter

from tui.ui.commands import COMMANDS
from tui.ui.conversation.transcript import Transcript
from tui.ui.keymap import KEYMAP, actions, app_bindings, bindings, hints, key_name, rows, shown
from tui.ui.keys.key import SCOPES
from tui.ui.screens.help import help_content
from tui.ui.screens.workbench import Workbench


def test_no_key_does_two_things_in_one_scope() -> None:
    for scope in SCOPES:
        seen = Counter(key for row in rows(scope) for key in row.keys)
        assert [key for key, count in seen.items() if count > 1] == []


def test_conversation_and_review_share_a_widget_and_no_key() -> None:
    assert not set(actions("conversation")) & set(actions("review"))


def test_what_has_a_function_key_has_another_way_too() -> None:
    for row in KEYMAP:
        if any(re.fullmatch(r"f\d+", key) for key in row.keys):
            assert any(not re.fullmatch(r"f\d+", key) for key in row.keys), row.action


def test_every_action_has_its_method() -> None:
    for row in rows("global"):
        if not row.action.startswith("app."):
            assert hasattr(Workbench, f"action_{row.action.partition('(')[0]}"), row.action
    for scope in ("conversation", "review"):
        for row in rows(scope):
            assert hasattr(Transcript, f"action_{row.action.partition('(')[0]}"), row.action


def test_bindings_come_from_the_table() -> None:
    everywhere = [*bindings("global"), *app_bindings()]
    assert len(everywhere) == len(list(rows("global")))


def test_keys_are_written_as_people_write_them() -> None:
    assert key_name("ctrl+j") == "Ctrl+J"
    assert key_name("f2") == "F2"
    assert key_name("ctrl+backslash") == "Ctrl+\\"
    assert key_name("alt+a") == "Alt+A"
    assert key_name("escape") == "Esc"
    assert key_name("a") == "a"
    assert key_name("A") == "A"
    assert key_name("shift+enter") == "Shift+Enter"


def test_texts_ask_for_the_keys_that_they_name() -> None:
    assert shown("review_turn") == "F7"
    assert shown("review_turn", most=2) == "F7 Alt+D"
    assert shown("send", "prompt") == "Enter"
    assert shown("no such action") == ""


def test_no_key_is_called_by_its_technical_name() -> None:
    for row in KEYMAP:
        for key in row.keys:
            assert not re.search(r"[A-Z_]{3}", key_name(key)), key


def test_the_footer_says_what_works_now() -> None:
    idle = dict(hints({"idle"}, "global"))
    assert "Esc" not in idle
    assert idle["F5"] == "verify"
    busy = dict(hints({"busy", "stoppable"}, "global"))
    assert busy["Esc"] == "stop"
    assert "Alt+A" not in busy
    assert dict(hints({"pending"}, "global"))["Alt+A"] == "accept all"
    waiting = dict(hints({"waiting"}, "global"))
    assert waiting["Alt+J"] == "review", "an ambiguous hunk, or one in conflict, is no dead end"
    assert waiting["F7"] == "whole turn"
    assert "Alt+A" not in waiting


def test_help_names_every_key_and_command() -> None:
    text = help_content(76).plain
    for row in KEYMAP:
        for key in row.keys:
            assert key_name(key) in text, key
    for command in COMMANDS:
        assert f"/{command.name}" in text


def test_no_key_touches_its_words_in_the_help() -> None:
    for width in (40, 60, 76):
        text = help_content(width).plain
        for key in KEYMAP:
            assert key_name(key.keys[-1]) + key.help.split()[0] not in text


def test_the_help_begins_with_the_keys_that_work_now() -> None:
    text = help_content(76, ("editor", "global")).plain
    assert text.startswith("In the editor\n")
    assert text.count("In the editor\n") == 1
    assert text.index("Everywhere") < text.index("In the prompt")
