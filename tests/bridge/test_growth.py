"""What is done with a whole request takes as long as the request is, whatever it holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.loop_turns import growth
from tests.support.tables import each
from tui.bridge.endpoints.tools import Toolbox
from tui.bridge.rehearsal.request import parse_request
from tui.core.files import file_blocks

pytestmark = pytest.mark.slow


def tools(count: int) -> list[dict[str, Any]]:
    return [{"type": "function", "name": f"f{number}"} for number in range(count)]


def allowed(count: int) -> object:
    box = Toolbox({"tools": tools(count)}, [])
    return box.offered(box.choice({"type": "allowed_tools", "tools": tools(count)}))


def parsed(text: str) -> object:
    return parse_request({}, [{"type": "message", "role": "user", "content": text}])


WORK: dict[str, tuple[int, Callable[[int], object]]] = {
    "tools": (1000, lambda count: Toolbox({"tools": tools(count)}, [])),
    "tools that are allowed": (1000, allowed),
    "beginnings of files": (1000, lambda count: parsed('<file a="b">\n' * count)),
    "files that are shorter than they say": (
        1000,
        lambda count: list(file_blocks('<file path="x" chars="99999999">\n' * count)),
    ),
}


@each("name", WORK)
def test_four_times_as_much_takes_four_times_as_long(name: str) -> None:
    size, work = WORK[name]
    assert growth(work, size) < 9
