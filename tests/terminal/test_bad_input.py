"""Every bad input ends in one clear sentence and a stable exit code, never in a traceback."""

from __future__ import annotations

import re
import resource
import socket
from collections.abc import Callable
from pathlib import Path

from tests.support.patch_server import PatchServer, made
from tests.support.terminal import Terminal


def test_a_start_in_a_terminal_that_is_too_small(start: Callable[..., Terminal]) -> None:
    """It says so until there is room; no second start is needed."""
    term = start("practice", size=(20, 5))
    words = "duetto needs at least 40 x 12 cells; this terminal has 20 x 5."
    term.wait_for(lambda text: words in " ".join(text.split()))
    term.resize(80, 24)
    term.wait_for("Tab takes")
    term.type("room")
    term.wait_for("❯ room")


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
        term.wait_for("❯ hello")  # what could not be sent is back where it was typed
        term.type(", typed afterwards")
        term.wait_for("❯ hello, typed afterwards")
        term.type("\x11")
        term.wait_for("A draft in the prompt")
        term.type("y")
        assert term.wait_exit() == 0
    assert term.trouble() == ""


def test_an_accept_without_room_says_so_and_is_done_again_with_room(
    start: Callable[..., Terminal], tmp_path: Path
) -> None:
    before, after, patch = made(4000, 1)
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "f00.txt").write_text(before["f00.txt"])
    server = PatchServer(patch)
    address = f"ws://127.0.0.1:{server.port}/v1/responses"
    term = start("--endpoint", address, "--fast", "m", folder)
    term.wait_for("send")
    term.type("go\r")
    term.wait_for("Done.")
    unlimited = resource.RLIM_INFINITY
    resource.prlimit(term.pid, resource.RLIMIT_FSIZE, (20_000, unlimited))
    term.type("\x1ba")
    term.wait_for(re.compile("file too large", re.IGNORECASE))
    assert (folder / "f00.txt").read_text() == before["f00.txt"]
    resource.prlimit(term.pid, resource.RLIMIT_FSIZE, (unlimited, unlimited))
    term.type("\x1ba")
    term.wait_for(lambda _: (folder / "f00.txt").read_text() == after["f00.txt"])
    term.leave()
