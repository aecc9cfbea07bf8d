"""Commands of the model: asked about, running, ended, in the background; and the modes."""

from __future__ import annotations

from msgspec.structs import replace

from tests.support.gallery import LOW, NARROW, Scene, Show
from tests.support.prompt_rows import keys
from tests.support.scripted_session import ScriptedSession
from tui.engine.notices import Ask, DelegateView

DETAIL = (
    "In the workspace, outside any sandbox: it may write wherever you can, and use the network.\n"
    "Asked because pytest is not known to only read."
)
DECEIVING = (
    "cd build && rm -rf ../dist && python - <<'EOF'\n"
    + "".join(f"print('step {number} of the release')\n" for number in range(1, 40))
    + "EOF\necho \x1b[2J\u202edone"
)
RED = """\
============================= test session starts ==============================
collected 4 items

tests/test_cache.py ..F.                                                 [100%]

=================================== FAILURES ===================================
  File "tests/test_cache.py", line 14, in test_put_twice
E   assert 1 == 2
=========================== short test summary info ============================
FAILED tests/test_cache.py::test_put_twice - assert 1 == 2
========================= 1 failed, 3 passed in 0.12s ==========================
"""


def begun() -> ScriptedSession:
    """A turn that has looked around."""
    session = ScriptedSession()
    session.say("user", "the cache loses values when two workers put; mend it, and prove it")
    session.say("tool", "42 lines", title="read_file ledger/cache.py", speaker="fast")
    session.say("text", "First I see what the tests say.", speaker="fast")
    session.open("ledger/cache.py")
    session.status.busy = True
    session.measured(300, 0.3)
    return session


def asked() -> ScriptedSession:
    """A command waits, a second one behind it."""
    session = begun()
    session.asks_to_run("pytest -q tests/test_cache.py", DETAIL)
    session.asks_to_run("git stash", DETAIL)
    return session


def deceiving() -> ScriptedSession:
    """A command that is longer than the screen, with signs that would act on the terminal."""
    session = begun()
    session.asks_to_run(DECEIVING, DETAIL)
    return session


def running() -> ScriptedSession:
    """One runs before the answer, one behind it."""
    session = begun()
    server = session.runs("python -m http.server 8000", background=True)
    session.stream(server, "Serving HTTP on 0.0.0.0 port 8000\n")
    session.now_s += 61
    block = session.runs("pytest -q tests")
    session.stream(block, "".join(f"tests/test_{name}.py ....\n" for name in "abcdefghij"))
    session.now_s += 3
    return session


def red() -> ScriptedSession:
    """It failed, and the model goes on; then it is green."""
    session = begun()
    block = session.runs("pytest -q tests/test_cache.py")
    session.stream(block, RED)
    session.ran(block, "exit 1 after 0.4 s", "failed")
    session.say("text", "`put` is not locked. Now it is.", speaker="fast")
    block = session.runs("pytest -q tests/test_cache.py")
    session.stream(block, "....\n4 passed in 0.10s\n")
    session.ran(block, "exit 0 after 0.3 s")
    session.say("text", "Green.", speaker="fast")
    session.status.busy = False
    return session


def background() -> ScriptedSession:
    """Several, one of which has ended."""
    session = running()
    block = session.runs("npm run build", background=True)
    session.ran(block, "exit 2 after 12.0 s", "failed")
    session.runs("tail -f /var/log/ledger.log", background=True)
    return session


def delegated() -> ScriptedSession:
    """The tray: one works, one asks, one came home; and a command of the model."""
    session = background()
    ask = Ask(7, "Run this?", DETAIL, ("Run it", "No"), "pytest -q \x1b[2J", takes_words=True)
    works = DelegateView(
        1, "port the parser to the new grammar", "slow-1", 0.0, tokens=1834, usd=0.0412, files=3
    )
    session.status.delegates = [
        replace(works, ask=ask),
        replace(works, number=2, ask=None, last="Now the tests of the writer"),
        replace(works, number=3, state="home", ended="5 hunks in 2 files wait for you"),
    ]
    return session


def planning() -> ScriptedSession:
    """Nothing may be changed; a limit has stopped the turn."""
    session = begun()
    session.say("note", "stopped after 20 rounds: Enter lets it go on", state="cut")
    session.status.busy = False
    session.status.mode, session.status.can_go_on = "plan", True
    return session


def confined() -> ScriptedSession:
    """Nothing is asked."""
    session = red()
    session.status.mode, session.status.sandboxed = "sandbox", True
    session.status.sandbox = "bubblewrap: no network"
    return session


async def refused(show: Show) -> None:
    """Words for the model."""
    await show.press("f6", "alt+n", "w", *keys("only the cache, not all tests"))


async def listed(show: Show) -> None:
    """The list of all of them."""
    await show.press("f6")
    for key in ("pageup", "pagedown"):  # rows that were never in sight are guessed
        await show.press(key, key)
        await show.settle()
    show.app.bench.turn_actions.tasks()
    await show.settle()


SCENES = (
    Scene("command-waits", asked, tuple("and")),
    Scene("command-question", asked, ("f6", "alt+n"), LOW),
    Scene("command-question-long", deceiving, ("f6", "alt+n"), LOW),
    Scene("command-question-narrow", asked, ("alt+n",), NARROW),
    Scene("command-refused", asked, size=LOW, begin=refused),
    Scene("command-runs", running, ("alt+1",)),
    Scene("command-ended", red),
    Scene("command-tasks", background, size=LOW, begin=listed),
    Scene("tray", delegated, size=LOW, begin=listed),
    Scene("mode-plan", planning, ("f6",), LOW),
    Scene("mode-sandbox", confined, ("f6",), LOW),
)
