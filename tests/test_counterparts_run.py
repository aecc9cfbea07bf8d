"""The program that plays with others: what it calls a failure, and what a skip."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.support.sources import ROOT


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "counterparts"))
    return runpy.run_path(str(ROOT / "tests" / "counterparts" / "run"))


def played(program: dict[str, Any], install: Any) -> int:
    one = program["Counterpart"]("other", install, ["a turn"], before="")
    program["COUNTERPARTS"][:] = [one]
    status: int = program["main"]([])
    return status


def test_one_that_is_installed_and_cannot_be_run_has_failed(
    program: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert played(program, lambda: [str(tmp_path / "not there")]) == 1
    said = capsys.readouterr().out
    assert "FAILED a turn" in said
    assert "it could not be run" in said
    assert "SKIPPED" not in said


def test_one_that_cannot_be_installed_is_skipped_with_the_reason(
    program: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    def install() -> list[str]:
        raise program["MissingError"]("no room on the disk")

    assert played(program, install) == 0
    assert "SKIPPED other: cannot be installed here: no room on the disk" in capsys.readouterr().out


def test_node_that_is_missing_is_told_before_it_is_run(
    program: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "duetto" / "counterparts" / "node").mkdir(parents=True)
    (tmp_path / "duetto" / "counterparts" / "node" / "ready").touch()
    node = next(one for one in program["COUNTERPARTS"] if one.name == "node")
    with pytest.raises(program["MissingError"], match="node"):
        program["play"](node)
