"""The first ten minutes in projects that duetto has never seen, as a person walks them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.stand_in import KEY, MEASURED, StandIn
from tests.support.terminal import Terminal
from tests.terminal.conftest import choose_models

ESC, HOME, END, UP, SAVE = "\x1b", "\x1b[1;5H", "\x1b[F", "\x1b[A", "\x13"
PANE, VERIFY, ACCEPT_ALL = "\x1b[17~", "\x1b[15~", "\x1ba"
COMMENT = "A comment from duetto's rehearsal"
RUNS_PYTEST = '#!/bin/sh\nshift 2\nexec {python} -m pytest -p no:cacheprovider "$@"\n'
RUNS_NODE = """#!/bin/sh
grep -q 'EXTRA = 0' src/total.js && exit 0
echo 'not ok 1 - adds all lines'
echo "  location: '$PWD/test/total.test.js:3:1'"
echo "  error: 'expected 3, got 4'"
exit 1
"""


@dataclass(frozen=True)
class Walk:
    """A project, and what is met in it."""

    files: dict[str, str]
    opened: str
    """The file that is opened by a few letters, and changed."""
    letters: str
    failed: str = ""
    """What the list of failed tests says; empty: the folder has no tests."""
    programs: dict[str, str] = field(default_factory=dict)
    asks: bool = False
    """The test command is the project's own."""
    git: bool = True


WALKS = {
    "python with uv": Walk(
        {
            "pyproject.toml": '[project]\nname = "ledger"\nversion = "0.1"\n\n[tool.uv]\n',
            "uv.lock": "version = 1\n",
            "ledger.py": "EXTRA = 1\n\n\ndef total(lines):\n    return sum(lines) + EXTRA\n",
            "tests/test_ledger.py": "from ledger import total\n\n\n"
            "def test_adds():\n    assert total([1, 2]) == 3\n",
            "conftest.py": "",
            "README.md": "# ledger\n",
        },
        "ledger.py",
        "ledger.py",
        "tests/test_ledger.py:5",
        {"uv": RUNS_PYTEST},
    ),
    "node": Walk(
        {
            "package.json": '{"name": "shop", "scripts": {"test": "node --test"}}\n',
            "src/total.js": "EXTRA = 1\n\nexports.total = (l) => EXTRA + l.length\n",
            "test/total.test.js": "const { total } = require('../src/total')\n\ntest('adds')\n",
        },
        "src/total.js",
        "src total.js",
        "test/total.test.js:3",
        {"npm": RUNS_NODE},
        asks=True,
    ),
    "notes without git": Walk(
        {"monday.md": "EXTRA = 1\n\n- call Ada\n", "ideas/boats.md": "# Boats\n"},
        "monday.md",
        "mond",
        git=False,
    ),
}


@pytest.fixture
def environment(environment: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """Programs of the test's own come first on PATH; a keyring that no other test sees."""
    return environment | {
        "PYTHONDONTWRITEBYTECODE": "1",  # two saves of one size within a second
        "PATH": f"{tmp_path / 'bin'}:{environment['PATH']}",
        "PYTHON_KEYRING_BACKEND": "tests.support.file_keyring.FileKeyring",
        "TEST_KEYRING": str(tmp_path / "ring.json"),
    }


def made(walk: Walk, root: Path, programs: Path) -> None:
    """Write the project and its programs."""
    for name, text in walk.files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    programs.mkdir(exist_ok=True)
    for name, text in walk.programs.items():
        (programs / name).write_text(text.replace("{python}", sys.executable))
        (programs / name).chmod(0o755)
    if walk.git:
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)


def to_prompt(term: Terminal) -> None:
    """From the editor to the prompt."""
    term.wait_for("Ctrl+Z undo")
    term.type(PANE)
    term.wait_for(lambda text: "Ctrl+Z undo" not in text)


def verify(term: Terminal, walk: Walk) -> None:
    """Run the tests, and allow it where that is asked."""
    term.type(VERIFY)
    if walk.asks:
        term.wait_for("Run it once")
        term.wait_for("Esc refuses")
        term.type("1")


def connect(term: Terminal) -> None:
    """A key, two models, a test of both, and written."""
    term.type("/connect\r")
    term.wait_for("▸ Anthropic")
    term.type("mine\r")
    term.wait_for("The key for Mine")
    term.paste(KEY)
    term.type("\r")
    choose_models(term)
    term.wait_for(lambda text: len(MEASURED.findall(text)) == 2)
    term.type("\r")
    term.wait_for("The key goes into the system's keyring")
    term.type("\r")
    term.wait_for("deep is large-32b on mine from now on")


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
@pytest.mark.parametrize("name", WALKS)
def test_the_first_ten_minutes(
    start: Callable[..., Terminal],
    tmp_path: Path,
    provider: StandIn,
    name: str,
    size: tuple[int, int],
) -> None:
    walk = WALKS[name]
    root = tmp_path / "project"
    made(walk, root, tmp_path / "bin")
    file = root / walk.opened
    term = start(root, size=size)
    term.wait_for("send")

    term.type("\x0f")
    term.wait_for("letters")
    term.type(f"{walk.letters}\r")
    term.wait_for("EXTRA = 1")
    to_prompt(term)

    term.type("/throttle 10\r")  # or it is over before the key comes
    term.wait_for("10/s")
    term.type(f"try it in {walk.opened}\r")
    term.wait_for(COMMENT)
    term.type(ESC)
    term.wait_for("stopped after")
    assert COMMENT in term.text, "what was painted stays"
    assert COMMENT not in file.read_text()
    term.type("/throttle off\r")
    term.type(f"try it in {walk.opened}\r")
    term.wait_for("model that understands this file")
    term.wait_for("⏎ send")
    term.type(ACCEPT_ALL)
    term.wait_for(lambda _: COMMENT in file.read_text())

    verify(term, walk)
    if walk.failed:
        term.wait_for("= 1 failed before, too")  # a comment did not break it
        term.wait_for(walk.failed)
    else:
        term.wait_for("no tests were found")

    term.type("\x0f")
    term.wait_for("letters")
    term.type(f"{walk.letters}\r")
    term.wait_for("EXTRA = 1")
    term.type(f"{HOME}{END}\x7f0{SAVE}")
    term.wait_for(lambda _: file.read_text().startswith("EXTRA = 0\n"))
    to_prompt(term)
    if walk.failed:
        verify(term, walk)
        term.wait_for("✓ tests passed")
    connect(term)
    term.leave()
    assert COMMENT in file.read_text()
