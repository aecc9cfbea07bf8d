"""Writes that are killed at one of their steps: run as a program, each step in a child of its own.

``python -m tests.support.killed_writes FOLDER KIND`` makes a workspace ``FOLDER/N/work`` for step N
= 1, 2, 3 ..., changes the files of `BEFORE` to those of `AFTER` there, and is killed by SIGKILL
right before its N-th change of the disk; until one gets through. Prints the number of steps.
"""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tui.engine.unfinished import Way

BEFORE = {
    "a.py": b"one\ntwo\nthree\n",
    "sub/b.py": b"four\r\nfive\r\n",
    "foreign.txt": b"first\n" + b"theirs\n" * 3000,
    "linked.txt": b"first\n" + b"shared\n" * 3000,
    "gone.txt": b"old\n",
    "still.txt": b"still\n",
}
"""Two are written in place: ``linked.txt`` has another name outside, and ``foreign.txt`` an owner
that cannot be given to another file (where the tests are not root's, it is one like all others)."""
OWNER = 1001
AFTER = {
    "a.py": b"one\nTWO\nthree\n",
    "sub/b.py": b"four\r\nFIVE\r\n",
    "foreign.txt": b"another first\n" + b"theirs\n" * 3000,
    "linked.txt": b"another first\n" + b"shared\n" * 3000,
    "new/deep/made.py": b"hello\n",
    "still.txt": b"still\n",
}
PATCH = """*** Begin Patch
*** Update File: a.py
@@
 one
-two
+TWO
*** Update File: sub/b.py
@@
 four
-five
+FIVE
*** Update File: linked.txt
@@
-first
+another first
*** Update File: foreign.txt
@@
-first
+another first
*** Add File: new/deep/made.py
+hello
*** Delete File: gone.txt
*** End Patch
"""
MIDDLE = 26
"""A step of an accept at which some files are new, one is half written, and others are old."""
STEPS = "write fsync replace rename link unlink rmdir mkdir ftruncate fchmod fchown posix_fallocate"


def make(top: Path) -> Path:
    """The workspace as it is before."""
    work = top / "work"
    for path, data in BEFORE.items():
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_bytes(data)
    os.link(work / "linked.txt", top / "other_name.txt")
    if os.geteuid() == 0:
        os.chown(work / "foreign.txt", OWNER, OWNER)
    return work


def state(work: Path) -> dict[str, bytes]:
    """All files that lie there."""
    files = [path for path in work.rglob("*") if path.is_file()]
    return {path.relative_to(work).as_posix(): path.read_bytes() for path in files}


def kill_at(number: int) -> None:
    """End this process right before its so manyth change of the disk.

    And let it give no file to another owner, as if it were not root's.
    """
    left, lock = number, threading.Lock()

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            with lock:
                left -= 1
                last = left == 0
            if last:
                if real is os_write and len(arguments[1]) > 1:  # half of it gets through
                    os_write(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            if real is os_fchown:
                raise PermissionError(errno.EPERM, "not yours to give")
            return real(*arguments, **named)

        return step

    os_write, os_open, os_fchown = os.write, os.open, os.fchown
    for name in STEPS.split():
        setattr(os, name, counted(getattr(os, name)))
    making = counted(os_open)

    def opened(*arguments: Any, **named: Any) -> int:
        made = len(arguments) > 1 and arguments[1] & os.O_CREAT
        return (making if made else os_open)(*arguments, **named)

    os.open = opened


def by_session(top: Path, work: Path) -> None:
    """Accept all hunks in a session with the real files."""
    from tests.support.fakes import World
    from tui.core.patches.landing import Landing
    from tui.effects.files import Files
    from tui.effects.listing import Listing
    from tui.effects.write_ahead_log import WriteAheadLog
    from tui.engine import intents
    from tui.engine.session import Session, SessionOptions

    world = World()
    ports = world.ports
    ports.files = Files(work, Listing(work))
    ports.journal = journal = WriteAheadLog(top / "state", str(work))
    session = Session(ports, world.roles, SessionOptions(linked=True))
    landing = Landing(session.workspace, turn=1, call_id="call_1")
    landing.feed(PATCH)
    landing.finish(cut=False)
    session.submit(intents.Accept())
    journal.close()
    assert not session.drain().troubles


def by_apply(top: Path, work: Path) -> None:
    """``duetto apply``."""
    from tui.cli.main import run

    patch = top / "patch"
    patch.write_text(PATCH)
    os.environ["DUETTO_HOME"] = str(top)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    assert run(["apply", "--linked", "--root", str(work), str(patch)]) == 0


def by_settling(top: Path, work: Path, way: Way = "finish") -> None:
    """Finish what was killed in the middle, or take it back."""
    from tui.effects.files import Files
    from tui.effects.listing import Listing
    from tui.effects.write_ahead_log import WriteAheadLog
    from tui.engine.unfinished import look, settle

    files, journal = Files(work, Listing(work)), WriteAheadLog(top / "state", str(work))
    for one, findings in look(files, journal, journal.unfinished()):
        refusals = settle(
            files, journal, (one, findings), {each.step.path: way for each in findings}
        )
        assert not refusals
    journal.close()


KINDS: dict[str, Callable[[Path, Path], None]] = {
    "session": by_session,
    "apply": by_apply,
    "settling": by_settling,
    "taking back": partial(by_settling, way="undo"),
}


def child_killed(number: int, work: Callable[[], None]) -> bool:
    """Do this in a child that is killed at its so manyth step; False: it came to its end."""
    child = os.fork()
    if child == 0:
        kill_at(number)
        work()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or status == 0, f"step {number}: {status}"
    return os.WIFSIGNALED(status)


def main(folder: Path, kind: str) -> None:
    """Kill one child at every step."""
    for late in ("tui.cli.apply", "tests.support.fakes", "tui.core.edit_stream.parser"):
        importlib.import_module(late)  # once, not in every child
    number, killed = 0, True
    while killed:
        number += 1
        top = folder / str(number)
        work = make(top)
        if kind in ("settling", "taking back"):
            assert child_killed(MIDDLE, partial(by_session, top, work))
        killed = child_killed(number, partial(KINDS[kind], top, work))
    print(number - 1)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
