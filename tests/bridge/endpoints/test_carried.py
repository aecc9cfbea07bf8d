"""Thoughts that travel through a client go back to who made them, and to nobody else."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.bridge.endpoints.carried import PREFIX, is_sealed, seal, unseal

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.text(), st.text(), st.dictionaries(st.text(), _JSON, max_size=4))
def test_what_was_sealed_comes_back_unchanged(kind, model, payload):
    text = seal(kind, model, payload)
    assert unseal(kind, model, text) == payload
    assert set(text) <= set(string.ascii_letters + string.digits + "-_.")


def test_another_kind_and_another_model_get_nothing():
    text = seal("anthropic", "claude-x", {"blocks": []})
    assert unseal("openai-chat", "claude-x", text) is None
    assert unseal("anthropic", "claude-y", text) is None
    assert unseal("anthropic", "claude-x", text) == {"blocks": []}


@pytest.mark.parametrize("text", [None, 7, "", "gAAAAABo", PREFIX, PREFIX + "%%", PREFIX + "é"])
def test_what_nobody_sealed_is_nothing(text):
    assert unseal("anthropic", "m", text) is None
    assert is_sealed(text) is (isinstance(text, str) and text.startswith(PREFIX))


@given(st.integers(0, 200), st.text(alphabet="AZaz09-_.", max_size=9))
def test_a_torn_one_is_nothing_and_no_fault(cut, more):
    text = seal("anthropic", "m", {"blocks": [{"type": "thinking", "thinking": "a" * 60}]})
    torn = text[:cut] + more
    assert unseal("anthropic", "m", torn) in (None, unseal("anthropic", "m", text))
