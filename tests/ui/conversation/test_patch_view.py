"""The card of a patch with very many hunks: what a frame looks at does not follow their number."""

from __future__ import annotations

import pytest

from tui.core.edits.hunk import Decision, Hunk, Stage
from tui.core.edits.roster import Roster
from tui.core.turn import Block, BlockKind
from tui.ui.conversation import patch_view
from tui.ui.conversation.patch_view import PatchView
from tui.ui.conversation.views import Scene


def card(count: int, files: int) -> tuple[PatchView, Roster]:
    roster = Roster()
    for number in range(count):
        path = f"{number * files // count}.py"
        roster.add(Hunk(number + 1, 1, "call", path, stage=Stage.LANDED, added=1))
    scene = Scene(hunks=roster.of_call, files=roster.files_of, reviews=lambda: roster.reviews)
    view = PatchView(Block(BlockKind.PATCH, 1, "apply_patch", call_id="call"), 0, scene, None)
    return view, roster


def text(view: PatchView) -> list[str]:
    """All rows, each page made."""
    return [
        "".join(piece for piece, _ in line.pieces).rstrip()
        for number in range(len(view.pages))
        for line in view.lines(number)
    ]


@pytest.mark.parametrize("files", [1, 1_500])
@pytest.mark.parametrize("state", ["open", "done"])
def test_a_frame_looks_at_no_more_hunks_than_can_be_in_sight(
    files: int, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, roster = card(3_000, files)
    view.block.state = "open" if state == "open" else "done"
    looked: list[int] = []
    signature = patch_view._signature

    def counted(hunk: Hunk) -> tuple[object, ...]:
        looked.append(hunk.id)
        return signature(hunk)

    monkeypatch.setattr(patch_view, "_signature", counted)
    view.sync()
    for page in view.pages:
        view.make(page.number)
    looked.clear()
    roster.hunks[-1].decision = Decision.ACCEPTED
    assert view.sync() is not None
    assert len(looked) <= 2 * patch_view._MOST_MADE * patch_view._PAGE_HUNKS
    assert sum(page.rows is not None for page in view.pages) <= patch_view._MOST_MADE


@pytest.mark.parametrize("files", [1, 7, 130])
def test_pages_show_each_hunk_and_each_file_once_and_their_heights_are_known(files: int) -> None:
    view, _ = card(260, files)
    view.block.state = "done"
    view.sync()
    rows = text(view)
    assert len(view.pages) > 4
    assert sum("pending" in row for row in rows) == 260
    assert sum("✎" in row for row in rows) == files
    assert sum(page.height for page in view.pages) == len(rows)
    view.toggle("0.py")
    view.sync()
    assert sum("pending" in row for row in text(view)) == 260 - 260 // files - (260 % files > 0)
