"""What was asked before, kept in the state folder over runs: one private file for all workspaces.

A line of JSON each: ``["/home/u/ledger", 1780000000, "the prompt"]``. Lines are only ever added, in
one write, so that two duettos at once lose nothing; what is broken is passed over. A file that has
grown too large is replaced by its newest part, under a lock. What cannot be written is a prompt
that is not there in the next run, no more.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tui.core.conversation import PastPrompt
from tui.core.inert_text import PROSE, inert
from tui.shared_files import locked, replace_file

LARGEST_FILE, KEPT_BYTES = 4_000_000, 2_000_000
"""A file that is larger is cut to so much of its end."""
LONGEST_CHARS = 100_000
"""A prompt that is longer is kept for the run only."""
MOST = 1_000
"""Prompts that are read."""
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_log = logging.getLogger("tui.prompt_history")


class PromptHistory:
    """The file, for one workspace; a thread of its own writes it."""

    def __init__(self, state_dir: Path, root: str) -> None:
        """``root`` is the workspace's absolute path."""
        self.file = state_dir / "prompts.jsonl"
        self._root = root
        self._unsaved: list[bytes] = []
        self._alone = threading.Lock()
        self._writer: ThreadPoolExecutor | None = None

    def load(self) -> list[PastPrompt]:
        """What was asked, oldest first, each text once where it was asked last. Never raises.

        What was asked in this workspace comes last, nearest to the draft.
        """
        found: dict[str, PastPrompt] = {}
        for line in self._read().split(b"\n"):
            entry = self._entry(line)
            if entry is None:
                continue
            before = found.get(entry.text)
            if before is None or entry.here or not before.here:
                found.pop(entry.text, None)
                found[entry.text] = entry
        kept = list(found.values())
        here = [entry for entry in kept if entry.here][-MOST:]
        return [entry for entry in kept if not entry.here][-MOST:] + here

    def keep(self, text: str) -> None:
        """Have a prompt written, without waiting for it. Never raises."""
        if len(text) > LONGEST_CHARS:
            return
        entry = json.dumps([self._root, int(time.time()), text])
        with self._alone:
            # whatever a fault left at the end of the file ends before it
            self._unsaved.append(b"\n" + entry.encode("ascii") + b"\n")
            if self._writer is None:
                self._writer = ThreadPoolExecutor(1, "prompt history")
        self._writer.submit(self._save)

    def close(self) -> None:
        """Wait until what was kept is written, or cannot be."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.submit(self._save).result()
            writer.shutdown()

    def _save(self) -> None:
        with self._alone:
            unsaved, self._unsaved = self._unsaved, []
        if not unsaved:
            return
        try:
            self._add(b"".join(unsaved))
        except OSError as error:
            _log.warning("%s cannot be written: %s", self.file, error.strerror)
            with self._alone:  # the next one may find room
                self._unsaved = (unsaved + self._unsaved)[-MOST:]

    def _add(self, data: bytes) -> None:
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # a line lost to a cut at this very moment is better than one that is lost for sure
        with locked(self.file, surely=False):
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | _NOFOLLOW
            with open(os.open(self.file, flags, 0o600), "ab", buffering=0) as file:
                about = os.fstat(file.fileno())
                if not stat.S_ISREG(about.st_mode):
                    raise OSError(0, "it is not a file")
                if stat.S_IMODE(about.st_mode) != 0o600:
                    os.fchmod(file.fileno(), 0o600)
                file.write(data)
                size = about.st_size + len(data)
            if size > LARGEST_FILE:
                self._cut()

    def _cut(self) -> None:
        """Replace the file by its newest part, whole."""
        newest = self._read()[-KEPT_BYTES:].partition(b"\n")[2]
        replace_file(self.file, newest, synced=True)

    def _read(self) -> bytes:
        """The end of the file; nothing, if it cannot be read."""
        with contextlib.suppress(OSError):
            flags = os.O_RDONLY | os.O_NONBLOCK | _NOFOLLOW
            with open(os.open(self.file, flags), "rb") as file:
                about = os.fstat(file.fileno())
                if stat.S_ISREG(about.st_mode):
                    file.seek(max(about.st_size - 2 * LARGEST_FILE, 0))
                    return file.read(2 * LARGEST_FILE)
        return b""

    def _entry(self, line: bytes) -> PastPrompt | None:
        """A line; None if it is broken.

        Whoever can write the file must not act on the terminal by it: what a terminal could obey
        is written as an escape.
        """
        if not line.startswith(b"["):
            return None
        try:
            root, _, text = json.loads(line)
        except (ValueError, TypeError, RecursionError):
            return None
        if not isinstance(root, str) or not isinstance(text, str) or not text.strip():
            return None
        here = root == self._root
        return PastPrompt(inert(text, PROSE), here, inert(os.path.basename(root)))
