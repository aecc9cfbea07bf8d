"""No rule is left out at a character that it matches at."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.lexers import get_lexer_by_name

from tests.support.colour_samples import SAMPLES
from tests.support.tables import each
from tui.ui.highlight.checkpoints import _ALL, ByState, _first, quick
from tui.ui.highlight.colours import language

LANGUAGES = ("Python", "JavaScript", "HTML", "Markdown", "YAML", "Rust", "C", "CSS", "Ruby")


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_rule_is_tried_wherever_it_matches(name: str) -> None:
    known = language(name)
    while not known.step(float("inf")):
        pass
    made = known._made
    assert made is not None
    text = "".join(SAMPLES.values())[:3_000] + "\n\t ~`@$%^&|é漢\x00"
    left_out = 0
    for fitting, rules in map(made.by_character.__getitem__, made._tokens):
        for pos in range(0, len(text), 7):
            tried = fitting.get(text[pos], rules)
            left_out += len(rules) - len(tried)
            if len(tried) < len(rules):
                skipped = [rule for rule in rules if not any(rule is one for one in tried)]
                assert not any(match_at(text, pos) for match_at, _, _ in skipped), text[pos:]
    assert left_out


@each(
    "pattern, begins",
    [
        ("ab|cd", "ac"),
        ("a?b", "ab"),
        ("(?=x)[0-9]+", "0123456789"),
        (r"\b(a|b)c", "ab"),
        ("(?i)k", "all"),  # the Kelvin sign is a K, too
        ("(?i:x)y", "xX"),
        ("[^a]", "all but a"),
        ("a*", "all"),
        (r"(a?)\1", "all"),
        ("(?>ab|c)", "ac"),
    ],
)
def test_what_a_pattern_begins_with(pattern: str, begins: str) -> None:
    wanted = {"all": _ALL, "all but a": _ALL - {ord("a")}}.get(begins) or frozenset(
        map(ord, begins)
    )
    found = _first(re.compile(pattern))
    assert found == wanted or (begins == "all" and {ord("k"), ord("K")} <= found)


PATTERNS = st.recursive(
    st.sampled_from(["a", "B", ".", r"\w", r"\s", "[^ab]", "[a-c]", "^", r"\b", "é", "K"]),
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("(?:{})*".format, inner),
        st.builds("(?:{})??".format, inner),
        st.builds("(?!{})".format, inner),
    ),
    max_leaves=6,
)


@given(PATTERNS, st.booleans(), st.text("abB kK\né", min_size=1, max_size=4))
def test_what_matches_begins_with_it(pattern: str, folds: bool, text: str) -> None:
    compiled = re.compile(pattern, re.IGNORECASE if folds else 0)
    if text.isascii() and compiled.match(text):
        assert ord(text[0]) in _first(compiled)


def test_what_is_no_expression_is_always_tried() -> None:
    rules = [(lambda text, pos: None, None, None), (re.compile("a").match, None, None)]
    fitting, every = ByState({"root": rules})["root"]
    assert (fitting["b"], fitting["a"], every) == (rules[:1], rules, rules)


@pytest.mark.parametrize("name", ["python", "javascript", "html", "rust", "bash", "yaml", "json"])
def test_a_quick_lexer_gives_the_same_tokens(name: str) -> None:
    text = "".join(SAMPLES.values())[:4_000]
    stock = get_lexer_by_name(name, stripnl=False, ensurenl=False)
    assert [*quick(stock).get_tokens(text)] == [*stock.get_tokens(text)]
