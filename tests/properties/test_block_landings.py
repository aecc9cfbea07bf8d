"""SEARCH/REPLACE, unified diffs and whole files: any file, any text, any pieces, any cut."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.patches import Disk
from tui.core.edit_stream import Format
from tui.core.patches.landing import Landing

LINES = st.sampled_from(["a", "b", "  a", "b ", "", "c", "\td", "long line 1", "long line 2", "}"])
TEXTS = st.lists(LINES, max_size=14)
NEW = st.lists(st.one_of(LINES, st.sampled_from(["new", "=======", "..."])), max_size=8)
ENDINGS = st.sampled_from(["\n", "\n", "\r\n"])


@st.composite
def files(draw: st.DrawFn) -> str:
    """A text with equal lines, any endings, perhaps none at the end."""
    text = "".join(line + draw(ENDINGS) for line in draw(TEXTS))
    return text if draw(st.booleans()) else text.rstrip("\r\n")


def rows_of(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def block(old: list[str], new: list[str]) -> str:
    body = ["a.txt", "<<<<<<< SEARCH", *old, "=======", *new, ">>>>>>> REPLACE"]
    return "\n".join(body) + "\n"


def start(text: str, fmt: Format) -> tuple[Disk, Landing]:
    disk = Disk({"a.txt": text.encode()})
    return disk, Landing(disk.workspace, turn=1, call_id="x", channel="text", fmt=fmt)


@given(st.data(), files())
@settings(max_examples=60)
def test_a_whole_file_is_what_it_says_and_a_unique_block_lands(data, text):
    rows, new = rows_of(text), data.draw(NEW)
    disk, landing = start(text, "whole_file")
    landing.feed("a.txt\n`````\n" + "".join(f"{one}\n" for one in new) + "`````\n")
    landing.finish(cut=False)
    if landing.placed_all and "a.txt" in disk.workspace.buffers:
        assert rows_of(disk.text("a.txt")) == new
    first = data.draw(st.integers(0, len(rows)))
    last = data.draw(st.integers(first, len(rows)))
    old = rows[first:last]
    places = [at for at in range(len(rows)) if rows[at : at + len(old)] == old]
    disk, landing = start(text, "search_replace")
    fresh = data.draw(st.lists(st.sampled_from(["new", "", "a", "}"]), max_size=6))
    landing.feed(block(old, fresh))
    landing.finish(cut=False)
    reason = "".join(hunk.reason for hunk in landing.hunks)
    if old and len(places) == 1 and "already applied" not in reason:
        assert rows_of(disk.text("a.txt")) == rows[:first] + fresh + rows[last:], reason
    elif len(places) > 1 and old and fresh != old:
        assert "ambiguous" in reason
        assert disk.text("a.txt").encode() == text.encode()
