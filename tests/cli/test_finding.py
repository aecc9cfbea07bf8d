"""What the doctor says reads well in a terminal, and is one line each for programs."""

from __future__ import annotations

from tui.cli.doctor_checks import Finding

TOO_LONG = Finding(
    "tmux", "note", "extended-keys off, set-clipboard external", "set -s " + "x " * 40
)


def test_a_path_is_never_broken_and_a_pipe_gets_whole_lines() -> None:
    path = "/" + "folder/" * 20
    assert path in Finding("data folder", "ok", path).told(60)
    assert TOO_LONG.told(None).count("\n") == 1
    assert TOO_LONG.told(20) == TOO_LONG.told(None)
