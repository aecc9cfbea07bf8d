"""Each kind of endpoint in turn, for what holds for all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.endpoint_kinds import KINDS, Stand, standing
from tests.support.endpoint_servers_plain import installed

PLUG_IN = {"plain-words": "tests.support.plain_words_kind:make"}


@pytest.fixture(params=KINDS)
async def there(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Stand]:
    """An endpoint behind the bridge, of each kind."""
    with installed(tmp_path / "site", monkeypatch, PLUG_IN):
        async with standing(request.param) as stand:
            yield stand
