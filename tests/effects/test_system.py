"""Freed memory goes back to the system where the C library knows how, and nothing breaks else."""

from __future__ import annotations

import ctypes
import sys
from types import SimpleNamespace

import pytest

from tests.support.tables import each
from tui.effects import system


def test_the_c_library_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    library = SimpleNamespace(malloc_trim=lambda pad: asked.append(pad.value))
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    monkeypatch.setattr(sys, "platform", "linux")
    system.give_back()
    assert asked == [0]


@each("platform", ["linux", "darwin", "win32"])
def test_without_such_a_library_nothing_happens(
    monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace())
    monkeypatch.setattr(sys, "platform", platform)
    system.give_back()
