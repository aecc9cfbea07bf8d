"""The probe of the sandbox: it finds what is open, and nothing is open in one that works."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tui.cli import doctor_sandbox
from tui.cli.doctor_sandbox import sandbox_findings
from tui.core.programs import Confinement, Launch, Sandbox
from tui.effects.commands.sandbox import Bubblewrap, NoSandbox, Tool, find_sandbox
from tui.settings import Paths


class Leaky:
    """It confines nothing."""

    sandbox = Sandbox(works=True, words="a sieve")

    def launch(self, argv: Sequence[str], folder: str, confined: Confinement) -> Launch:
        return Launch(tuple(argv))


def findings(tool: Tool, monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[tuple[str, str]]:
    monkeypatch.setattr(doctor_sandbox, "find_sandbox", lambda *_: tool)
    paths = Paths.find({"DUETTO_HOME": str(folder)})
    return [(one.state, one.text) for one in sandbox_findings(folder, paths, probe=True)]


def test_without_a_sandbox_it_says_what_happens_instead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = NoSandbox("no sandbox: bubblewrap is not installed")
    (found,) = findings(tool, monkeypatch, tmp_path)
    assert found == (
        "note",
        "no sandbox: bubblewrap is not installed; commands are asked about",
    )


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")
def test_the_probe_finds_every_way_out_of_a_sieve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    _, *tried = findings(Leaky(), monkeypatch, tmp_path)
    held = [text for state, text in tried if state == "ok"]
    # its environment has no key, and what leaves a command's group in order is left alone
    assert held == ["held: find a key in the environment"]
    assert not list(tmp_path.glob(".duetto-*"))


@pytest.mark.slow
def test_the_probe_finds_none_in_bubblewrap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not isinstance(find_sandbox(str(tmp_path)), Bubblewrap):
        pytest.skip("bubblewrap is not here, or does not work")
    paths = Paths.find({"DUETTO_HOME": str(tmp_path / "home")})
    _, *tried = sandbox_findings(tmp_path, paths, probe=True)
    assert {one.state for one in tried} == {"ok"}
    assert len(tried) == 15
