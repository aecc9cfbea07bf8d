from __future__ import annotations

import time

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tables import each
from tui.core.text.patterns import HEAVIEST, pattern_weight


@each(
    "bomb",
    [
        "((a{1000}){1000}){1000}",
        "a{1000000000}",
        "(?:a{0,300}){300}",
        "(?:[ab]{300}){300}",
        "(((a{99}){99}){99}",
        "(?:\\){999}){999}",
    ],
)
def test_what_takes_all_memory_is_too_heavy(bomb: str) -> None:
    assert pattern_weight(bomb) > HEAVIEST


@each(
    "plain",
    [
        r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}",
        r"def (\w+)\(.*\):$",
        "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        r".{0,1000}foo.{0,1000}",
        r"\{1000000\}",
        "[{1000000}]",
        ")(",
        "",
    ],
)
def test_what_people_write_is_light(plain: str) -> None:
    assert pattern_weight(plain) < 3000


@pytest.mark.slow
@settings(max_examples=200)
@given(st.text("ab()[]{}0123456789,\\*+?|^$.", max_size=60))
def test_what_is_light_compiles_soon(pattern: str) -> None:
    if pattern_weight(pattern) > HEAVIEST:
        return
    started = time.process_time()
    try:
        regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError):
        return
    finally:
        assert time.process_time() - started < 1.0
