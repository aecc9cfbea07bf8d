"""A home for Codex, a bridge behind a tap, and Codex on a terminal (tmux) in front of it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tap import Note, Tap

CONFIG = """
model = "gpt-5.5"
model_provider = "bridge"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.bridge]
name = "bridge"
base_url = "http://127.0.0.1:{port}{path}"
wire_api = "responses"
supports_websockets = true
experimental_bearer_token = "{key}"
[analytics]
enabled = false
[features]
daemon_auto_start = false
[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
[tui.model_availability_nux]
"gpt-6.1-sol" = 1
[projects."{work}"]
trust_level = "trusted"
"""


class Codex:
    """Codex in a folder of its own, with a tap on its line to the bridge."""

    def __init__(self, binary: str, folder: Path, tap: Tap, about: tuple[str, str]) -> None:
        """``about``: the path of the base URL, and the key."""
        self.binary, self.tap = binary, tap
        path, key = about
        # CODEX_HOME must not lie under TMPDIR, or Codex refuses to make its links.
        home, self.work, scratch = (folder / name for name in ("home", "work", "tmp"))
        for made in (home, self.work, scratch):
            made.mkdir()
        config = CONFIG.format(port=tap.port, path=path, key=key, work=self.work)
        (home / "config.toml").write_text(config)
        self.env = {**os.environ, "CODEX_HOME": str(home), "TMPDIR": str(scratch)}

    def exec(self, prompt: str, model: str, *more: str) -> str:
        """One turn of ``codex exec``, with more flags; what it printed."""
        flags = ["exec", "--skip-git-repo-check", "--json", "-m", model, *more]
        done = subprocess.run(
            [self.binary, *flags, prompt],
            cwd=self.work, env=self.env, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        if done.returncode:
            raise AssertionError(f"exit {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    # what the tap saw

    def creates(self, since: int = 0) -> list[Note]:
        """The creates that ask for output and are not about the thread's title."""
        notes = self.tap.notes[since:]
        return [n for n in notes if is_create(n) and "concise, single-line" not in str(n.data)]

    def create(self, text: str, since: int = 0) -> Note:
        """The first create whose newest user message is this."""

        def wanted(note: Note) -> bool:
            said = prompts_of(note) if is_create(note) else []
            return bool(said) and said[-1] == text

        return self.tap.wait(wanted, f"a create with {text!r}", since=since)

    def then(self, after: Note, kind: str, sender: str = "server", timeout_s: float = 30) -> Note:
        """The first event of this type on the same connection after that note."""
        since = self.tap.notes.index(after) + 1

        def wanted(note: Note) -> bool:
            return (note.connection, note.sender) == (after.connection, sender) and note.says(kind)

        return self.tap.wait(wanted, kind, timeout_s, since)


class Screen:
    """Codex's own screen in a tmux server of its own."""

    def __init__(self, codex: Codex, *flags: str) -> None:
        self._socket = f"duetto-{os.getpid()}-{id(self)}"
        command = [codex.binary, *flags]
        names = {name: codex.env[name] for name in ("CODEX_HOME", "TMPDIR")}
        settings = [f"{name}={value}" for name, value in names.items()]
        self._tmux(
            "-f", "/dev/null", "new-session", "-d", "-s", "c", "-x", "110", "-y", "40",
            "-c", str(codex.work), "env", *settings, *command,
        )  # fmt: skip

    def _tmux(self, *arguments: str) -> str:
        # tmux keeps its socket in TMUX_TMPDIR; -L names it
        done = subprocess.run(
            ["tmux", "-L", self._socket, *arguments], capture_output=True, text=True, timeout=20
        )
        return done.stdout

    @property
    def text(self) -> str:
        """What stands on it."""
        return self._tmux("capture-pane", "-p", "-t", "c")

    def wait(self, words: str, timeout_s: float = 30.0) -> None:
        """Until these words stand on it. Raises TimeoutError."""
        until(lambda: words in self.text, f"{words!r} on the screen", timeout_s)

    def say(self, text: str) -> None:
        """Type a line and send it."""
        self._tmux("send-keys", "-t", "c", "-l", text)
        time.sleep(1.2)  # sooner, Enter would be taken for part of a paste
        self._tmux("send-keys", "-t", "c", "Enter")

    def key(self, name: str) -> None:
        """Press a key by tmux's name for it."""
        self._tmux("send-keys", "-t", "c", name)

    def close(self) -> None:
        """End Codex and the tmux server."""
        self._tmux("kill-server")


def until(done: Callable[[], object], what: str, timeout_s: float = 30.0) -> None:
    """Wait for it. Raises TimeoutError."""
    end_s = time.monotonic() + timeout_s
    while not done():
        if time.monotonic() > end_s:
            raise TimeoutError(f"{what} did not come within {timeout_s:g} s")
        time.sleep(0.05)


def is_create(note: Note) -> bool:
    """Whether it asks for output."""
    return note.says("response.create") and note.data.get("generate") is not False


def prompts_of(note: Note) -> list[str]:
    """The texts of a create's user messages."""
    found = []
    for item in note.data.get("input") or []:
        if isinstance(item, Mapping) and item.get("role") == "user":
            content = item.get("content")
            parts = content if isinstance(content, list) else [{"text": content}]
            found.append("".join(str(part.get("text", "")) for part in parts))
    return found


@contextlib.contextmanager
def codex_before(binary: str, base: str, key: str) -> Iterator[Codex]:
    """Codex before the bridge at this base URL, tapped."""
    where = urlsplit(base)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        with Tap(str(where.hostname), int(where.port or 0)) as tap:
            codex = Codex(binary, Path(folder), tap, (where.path, key))
            try:
                yield codex
            finally:
                if os.environ.get("COUNTERPARTS_TRACE"):
                    print(tap.dump(), file=sys.stderr)


@contextlib.contextmanager
def on_screen(codex: Codex, *flags: str) -> Iterator[Screen]:
    """Codex on a terminal until the block ends; a failure shows the screen."""
    screen = Screen(codex, *flags)
    try:
        yield screen
    except (AssertionError, TimeoutError) as error:
        raise type(error)(f"{error}; the screen shows:\n{screen.text.rstrip()}") from error
    finally:
        screen.close()
