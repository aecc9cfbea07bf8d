"""A kind of endpoint that another package brings is there beside ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.endpoint_servers_plain import installed

PLUG_IN = {"plain-words": "tests.support.plain_words_kind:make"}


@pytest.fixture
def plain_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with installed(tmp_path / "site", monkeypatch, PLUG_IN):
        yield
