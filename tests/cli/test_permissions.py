"""Files and folders that may not be read, truly: root drops what lets it read them all the same."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import Duetto, clean_environment, sentence

pytestmark = pytest.mark.slow

PATCH = b"*** Begin Patch\n*** Update File: a.py\n@@\n-hi\n+ho\n*** End Patch\n"
DROP = (
    "import ctypes, os, sys\n"
    "if os.geteuid() == 0:\n"
    "    for capability in (1, 2):\n"  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    "        assert ctypes.CDLL(None).prctl(24, capability, 0, 0, 0) == 0\n"
    "os.execv(sys.argv[1], sys.argv[1:])\n"
)


@pytest.fixture
def shut(tmp_path: Path) -> Iterator[Path]:
    """A workspace of which nothing but ``a.py`` may be read."""
    work = tmp_path / "work"
    (work / "closed").mkdir(parents=True)
    (work / "closed" / "b.py").write_text("b\n")
    for name in ("a.py", "c.py", "bad.toml", "p.patch"):
        (work / name).write_text("hi\n")
        (work / name).chmod(0o644 if name == "a.py" else 0)
    (work / "closed").chmod(0)
    yield work
    for folder in (work, work / "closed"):
        folder.chmod(0o755)


@pytest.fixture
def duetto(shut: Path, tmp_path: Path) -> Duetto:
    environment = clean_environment(tmp_path / "home")
    return Duetto(shut, environment, prefix=(sys.executable, "-c", DROP))


@pytest.mark.parametrize(
    "line",
    [
        ["exec", "hi", "-C", "closed"],
        ["exec", "hi", "--config", "bad.toml"],
        ["apply", "p.patch"],
        ["apply", "--root", "closed", "a.py"],
    ],
    ids=" ".join,
)
def test_what_may_not_be_read_is_said(duetto: Duetto, line: list[str]) -> None:
    said = sentence(duetto.run(*line), 2).lower()
    assert any(words in said for words in ("permission denied", "may not be read", "not readable"))


def test_the_rest_of_the_workspace_goes_on(duetto: Duetto) -> None:
    done = duetto.run("exec", "hi")
    assert (done.returncode, done.stderr) == (0, b"")
    assert duetto.run("apply", "--check", stdin=PATCH).returncode == 0
    refused = duetto.run("apply", stdin=PATCH.replace(b"a.py", b"c.py"))
    assert refused.returncode == 1
    assert b"permission denied" in refused.stderr


def test_a_folder_that_may_not_be_written(duetto: Duetto, shut: Path) -> None:
    shut.chmod(0o555)
    refused = duetto.run("apply", stdin=PATCH)
    assert refused.returncode == 1
    assert b"permission denied" in refused.stderr
    assert (shut / "a.py").read_text() == "hi\n"


def test_a_home_that_may_not_be_read(duetto: Duetto, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text("schema = 1\n")
    (home / "config.toml").chmod(0)
    assert "permission denied" in sentence(duetto.run("exec", "hi"), 2).lower()
    (home / "config.toml").unlink()
    home.chmod(0o555)
    done = duetto.run("exec", "hi")
    assert done.returncode == 0
    assert done.stderr.startswith(b"duetto: This session is not kept: ")
    assert done.stderr.count(b"\n") == 1
    home.chmod(0o755)


def test_a_port_that_is_not_ours(duetto: Duetto) -> None:
    """A privileged one (refused by the system, or taken), never a traceback."""
    dropped = DROP.replace("(1, 2)", "(1, 2, 10)")
    done = Duetto(duetto.folder, duetto.environment, (sys.executable, "-c", dropped)).run(
        "bridge", "--port", "80"
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode in (0, 1)
