"""Thoughts that travel through a client go back to who made them, and to nobody else."""

from __future__ import annotations

from tests.support.tables import each
from tui.bridge.endpoints.encrypted_content import PREFIX, is_sealed, seal, unseal


@each("text", [None, 7, "", "gAAAAABo", PREFIX, PREFIX + "%%", PREFIX + "é"])
def test_what_nobody_sealed_is_nothing(text):
    assert unseal("anthropic", "m", text) is None
    assert is_sealed(text) is (isinstance(text, str) and text.startswith(PREFIX))


def test_what_was_changed_on_the_way_is_nothing():
    sealed = seal("anthropic", "m", {"a": 1})
    assert unseal("anthropic", "m", sealed) == {"a": 1}
    assert unseal("anthropic", "m", sealed + "!!!!") is None
