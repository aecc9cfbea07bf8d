"""Thoughts between tags, cut anywhere."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui.bridge.endpoints.openai_chat.stream import ThinkTagParser


def split(*pieces: str, begun: bool = False) -> tuple[str, str]:
    tags = ThinkTagParser(begun=begun)
    told = [part for piece in pieces for part in tags.feed(piece)] + tags.end()
    thought = "".join(text for is_thought, text in told if is_thought)
    return thought, "".join(text for is_thought, text in told if not is_thought)


def cut(text: str, places: list[int]) -> list[str]:
    at = sorted({place % (len(text) + 1) for place in places})
    return [text[start:end] for start, end in zip([0, *at], [*at, len(text)], strict=True)]


WORDS = st.text(alphabet="ab </>thinkoug\n", max_size=30)


@given(thought=WORDS, text=WORDS, places=st.lists(st.integers(0, 200)), begun=st.booleans())
def test_cut_anywhere_it_says_the_same(
    thought: str, text: str, places: list[int], begun: bool
) -> None:
    whole = f"{'' if begun else '<think>'}{thought}</think>{text}"
    told_thought, told_text = split(*cut(whole, places), begun=begun)
    known = split(whole, begun=begun)
    assert (told_thought.strip(), told_text) == (known[0].strip(), known[1])
    if not any(tag in thought for tag in ("</think>", "</thinking>", "</thought>")):
        assert (told_thought.strip(), told_text.strip()) == (thought.strip(), text.strip())


@given(text=st.text(), places=st.lists(st.integers(0, 200)))
def test_text_without_tags_stays_as_it_is(text: str, places: list[int]) -> None:
    if not text.lstrip().startswith("<think") and not text.lstrip().startswith("<thought"):
        assert split(*cut(text, places)) == ("", text)
