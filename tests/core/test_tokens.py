"""The estimate of tokens is near what tokenizers say, and costs the same for any length."""

from __future__ import annotations

import pytest

from tui.core.tokens import WHOLE_CHARS, WITHIN, tokens

PYTHON = '''
class Cache:
    """Keeps the newest entries."""

    def __init__(self, size: int = 128) -> None:
        self._items: OrderedDict[str, bytes] = OrderedDict()
        self._size = size

    def get(self, key: str) -> bytes | None:
        if key not in self._items:
            return None
        self._items.move_to_end(key)
        return self._items[key]
'''
PROSE = (
    "The conversation is kept on the server, and only what is new is sent with each request. "
    "Where the connection breaks, everything is said again from the beginning, so that the "
    "answer does not depend on what the server still remembers of it.\n"
)
JSON = (
    '{"name": "duetto", "version": "1.4.0", "keywords": ["terminal", "editor"], '
    '"repository": {"type": "git", "directory": "packages/core"}, "private": true, "size": 20481}'
)
CHINESE = (
    "每个请求只发送新的内容。如果连接中断，则从头开始重新发送所有内容，"
    "因此答案不取决于服务器记住了什么。"
)


@pytest.mark.parametrize(
    ("text", "counted"),
    [(PYTHON, 94), (PROSE, 48), (JSON, 55), (CHINESE, 29)],
    ids=["python", "prose", "json", "chinese"],
)
def test_is_near_what_tokenizers_count(text: str, counted: int) -> None:
    # the median of the five that the module names
    assert tokens(text) == pytest.approx(counted, rel=2 * WITHIN)


def test_nothing_has_no_tokens_and_any_text_may_be_asked_for() -> None:
    assert tokens("") == 0
    assert tokens("a\udc80b") >= 1
    assert tokens("\0" * 10) >= 1


def test_a_long_text_is_told_from_samples_that_cost_as_much_for_any_length() -> None:
    long = PYTHON * (3 * WHOLE_CHARS // len(PYTHON))
    assert tokens(long) == pytest.approx(tokens(PYTHON) * (len(long) / len(PYTHON)), rel=0.02)


def test_parts_have_together_what_the_whole_has() -> None:
    assert tokens(PYTHON) + tokens(PROSE) == pytest.approx(tokens(PYTHON + PROSE), abs=2)
