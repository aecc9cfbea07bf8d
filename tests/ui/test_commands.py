from __future__ import annotations

import pytest

from tui.ui.commands import COMMANDS, completions, find_command, split_command, unknown_command


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("/fast", ("fast", "")),
        ("/effort  high ", ("effort", "high")),
        ("/Theme paper", ("theme", "paper")),
        ("fast", None),
        ("/usr/bin/env is a path", None),
        ("// comment", None),
        ("what is /fast?", None),
        ("/", ("", "")),
    ],
)
def test_what_is_a_command(text: str, parts: tuple[str, str] | None) -> None:
    assert split_command(text) == parts


def test_an_unknown_one_names_the_nearest() -> None:
    assert "Did you mean /verify?" in unknown_command("verfy")
    assert "/help" in unknown_command("xyzzy")


def test_completion_offers_what_could_be_meant() -> None:
    assert [command.name for command in completions("/th")] == ["throttle", "theme"]
    assert len(completions("/")) == len(COMMANDS)
    assert completions("/theme ") == []
    assert completions("th") == []


def test_every_command_is_found_by_its_name() -> None:
    assert all(find_command(command.name) is command for command in COMMANDS)
