"""Every bad input ends in one clear sentence and a stable exit code, never in a traceback."""

from __future__ import annotations

import re
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.terminal import Terminal

Piped = Callable[..., subprocess.CompletedProcess[str]]
LOCAL = "ws://127.0.0.1:9/v1/responses"


def assert_sentence(ran: subprocess.CompletedProcess[str], code: int, says: str) -> None:
    """One line on stderr that says it."""
    assert ran.returncode == code, ran.stderr
    assert ran.stderr.startswith("duetto: ")
    assert ran.stderr.count("\n") == 1, ran.stderr
    assert says.lower() in ran.stderr.lower()  # click writes "Did" or "did"
    assert ran.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--nonsense"], "--nonsense"),
        (["--endpont", LOCAL], "did you mean '--endpoint'"),
        (["exce", "hi"], "did you mean 'exec'"),
        (["exec"], "PROMPT"),
        (["exec", "hi", "--role", "best"], "best"),
        (["exec", "hi", "-C", "nowhere"], "nowhere"),
        (["exec", "hi", "--endpoint", LOCAL], "--fast MODEL"),
        (["exec", "hi", "--endpoint", "ftp://x/y", "--fast", "m"], "not a server's address"),
        (["exec", "hi", "--endpoint", "wss://models.example/v1", "--fast", "m"], "OPENAI_API_KEY"),
        (["exec", "hi", "--config", "none.toml"], "none.toml does not exist"),
        (["exec", "hi", "--config", "bad.toml"], "bad.toml line 2: models.fast.name"),
        (["apply", "nowhere.patch"], "nowhere.patch"),
        (["apply", "--root", "nowhere", "-"], "nowhere"),
        (["bridge", "--port", "x"], "--port"),
        (["bridge", "--fast-rate", "0"], "--fast-rate"),
        (["practice", "--nwe"], "--new"),
        (["doctor", "extra"], "extra"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_wrong_command_line(
    piped: Piped, tmp_path: Path, arguments: list[str], says: str
) -> None:
    (tmp_path / "bad.toml").write_text("[models.fast]\nname = 3\n")
    assert_sentence(piped(*arguments), 2, says)


def test_no_terminal(piped: Piped) -> None:
    assert_sentence(piped(), 2, "duetto exec")


@pytest.mark.parametrize(
    "size", [(39, 24), (80, 11), (20, 5), (4, 2), (1, 1)], ids=lambda size: "x".join(map(str, size))
)
def test_a_start_in_a_terminal_that_is_too_small(
    start: Callable[..., Terminal], size: tuple[int, int]
) -> None:
    """It says so until there is room; no second start is needed."""
    term = start(size=size)
    words = f"duetto needs at least 40 x 12 cells; this terminal has {size[0]} x {size[1]}."
    if size[0] * size[1] >= 2 * len(words) or size == (20, 5):
        term.wait_for(lambda text: words in " ".join(text.split()))
    else:
        term.wait_for(lambda text: text.strip())
    term.resize(80, 24)
    term.wait_for("Tab takes")
    term.type("room")
    term.wait_for("❯ room")


def test_a_terminal_that_is_too_small_is_left_as_any(start: Callable[..., Terminal]) -> None:
    term = start(size=(20, 5))
    term.wait_for("duetto")
    term.type("\x11")
    assert term.wait_exit() == 0
    assert term.trouble() == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere/x"], "no such file or folder: nowhere/x"),
        ([".", "+3"], "a line needs a file"),
        (["--fast", "m"], "--endpoint"),
        (["--config", "none.toml"], "none.toml does not exist"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_before_the_screen_is_touched(
    start: Callable[..., Terminal], arguments: list[str], says: str
) -> None:
    term = start(*arguments)
    assert term.wait_exit() == 2
    assert says in term.text
    assert b"\x1b[?1049h" not in term.output


def test_an_endpoint_that_is_not_there(piped: Piped) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"ws://127.0.0.1:{unused.getsockname()[1]}/v1/responses"
        ran = piped("exec", "hi", "--endpoint", url, "--fast", "m")
    assert ran.returncode == 3
    assert "Traceback" not in ran.stderr
    assert ran.stderr.startswith("duetto: ")


def test_an_endpoint_that_is_not_there_leaves_the_app_usable(
    start: Callable[..., Terminal],
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"ws://127.0.0.1:{unused.getsockname()[1]}/v1/responses"
        term = start("--endpoint", url, "--fast", "m", ".")
        term.wait_for("send")
        term.type("hello\r")
        term.wait_for(re.compile(r"Nothing\W+listens"))
        term.type(", typed afterwards")
        # the prompt that could not be sent is back where it was typed
        term.wait_for("❯ hello, typed afterwards")
        term.type("\x11")
        term.wait_for("A draft in the prompt")
        term.type("y")
        assert term.wait_exit() == 0
    assert term.trouble() == ""


def test_a_binary_file_is_refused_in_words(start: Callable[..., Terminal], tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(bytes(range(256)) * 40)
    term = start("data.bin")
    term.wait_for("send")
    term.wait_for("data.bin")
    term.settle()
    assert term.status is None
    assert "UTF-8" in term.text or "binary" in term.text or "not text" in term.text


def test_a_file_cannot_act_on_the_terminal(start: Callable[..., Terminal], tmp_path: Path) -> None:
    evil = "a\x1b]0;owned\x07b\x1b[2Jc [bold]markup[/bold] \x9b31m \x1b[?1049l end\n"
    (tmp_path / "evil.txt").write_text(evil)
    term = start("evil.txt")
    shown = term.wait_for("[bold]markup[/bold]")
    assert "evil.txt" in shown
    assert b"owned\x07" not in term.output
    assert b"\x1b[2Jc" not in term.output
    assert term.modes[1049]
