"""A server of the Messages API behind the bridge."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.support.endpoint_kinds import Stand
from tests.support.messages_upstream import messages


@pytest.fixture
async def claude() -> AsyncIterator[Stand]:
    async with messages() as stand:
        yield stand
