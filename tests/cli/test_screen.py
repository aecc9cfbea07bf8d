import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from tui.cli.open_app import require_screen
from tui.errors import UsageError


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A terminal of 80x24 that a test can change."""
    state = SimpleNamespace(tty=True, columns=80, rows=24, fileno=lambda: 1)
    state.isatty = lambda: state.tty
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(
        os, "get_terminal_size", lambda fd: os.terminal_size((state.columns, state.rows))
    )
    return state


def test_80x24_will_do(terminal: SimpleNamespace) -> None:
    require_screen(terminal, terminal, terminal)


def test_a_dumb_terminal_is_refused(
    terminal: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for term, named in (("dumb", "TERM=dumb"), ("unknown", "TERM=unknown"), ("", "TERM is not")):
        monkeypatch.setenv("TERM", term)
        with pytest.raises(UsageError, match=f"{named}.*duetto --linear"):
            require_screen(terminal, terminal, terminal)


def test_redirected_errors_are_said_where_they_are_seen(
    terminal: SimpleNamespace, tmp_path: Path
) -> None:
    said: list[str] = []
    terminal.write, terminal.flush = said.append, lambda: None
    with (tmp_path / "log").open("w") as log, pytest.raises(UsageError, match="stderr"):
        require_screen(terminal, terminal, log)
    assert "do not redirect it" in "".join(said)
