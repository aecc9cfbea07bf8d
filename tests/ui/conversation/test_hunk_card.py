from __future__ import annotations

from tui.core.edits.hunk import UNDONE, Decision, Hunk, Kind, Stage
from tui.core.edits.roster import Roster
from tui.core.text.buffer import Mark
from tui.ui.conversation.hunk_card import Focus, Part, card_lines, empty_lines, look


def hunk(number: int, stage: Stage, line: int | None = None, path: str = "src/cache.py") -> Hunk:
    made = Hunk(number, 1, "c", path, stage=stage, added=2, removed=1)
    if line is not None:
        made.start = Mark(line)
    return made


def parts(hunks: list[Hunk], skip: int = 0) -> list[Part]:
    roster = Roster()
    for one in hunks:
        roster.add(one)
    files = roster.files_of("c").items()
    return [Part(path, file, skip, file.total, earlier=skip > 0) for path, file in files]


def shown(hunks: list[Hunk], focus: Focus | None = None, *, cut: bool = False) -> list[str]:
    lines = card_lines(parts(hunks), 60, focus or Focus()) if hunks else empty_lines(cut)
    return ["".join(text for text, _ in line.pieces).rstrip() for line in lines]


def test_a_card_counts_what_is_decided() -> None:
    first, second = hunk(1, Stage.LANDED, 0), hunk(2, Stage.LANDED, 10)
    first.decision = Decision.ACCEPTED
    rows = shown([first, second])
    assert rows[0].startswith(" ✎ src/cache.py")
    assert "2 hunks  +4 −2  1/2" in rows[0]
    assert "1 ✓ accepted L1" in rows[1]
    assert "2 ● pending  L11" in rows[2]


def test_every_stage_has_a_look() -> None:
    assert len({look(hunk(1, stage)).word for stage in Stage}) == len(Stage)


def test_keys_are_shown_on_the_focused_hunk_only() -> None:
    rows = shown([hunk(1, Stage.LANDED, 0), hunk(2, Stage.LANDED, 5)], Focus(2))
    assert "a accept" not in rows[1]
    assert "a accept  r reject  e edit" in rows[2]


def test_reasons_and_flags_are_under_the_hunk_and_inert() -> None:
    refused = hunk(1, Stage.REFUSED)
    refused.reason = "its context\x1b[2J is nowhere"
    refused.flags.append("odd")
    rows = shown([refused])
    assert any("⚑ odd" in row for row in rows)
    assert any("its context␛[2J is nowhere" in row for row in rows)


def test_candidates_can_be_chosen() -> None:
    ambiguous = hunk(1, Stage.CANDIDATES)
    ambiguous.candidates = (3, 9)
    reading = shown([ambiguous], Focus(1))
    assert "? where?   2 candidates, reading context" in reading[1]
    assert len(reading) == 2
    assert "choose" not in reading[1]
    ambiguous.reason = "ambiguous: it fits at lines 4 and 10"
    rows = shown([ambiguous], Focus(1, 1))
    assert "← → choose  Enter places" in rows[1]
    assert rows[2].split() == ["2", "candidates:", "L4", "[L10]"]
    assert "[" not in shown([ambiguous])[2]


def test_the_chosen_one_of_many_candidates_is_in_sight() -> None:
    ambiguous = hunk(1, Stage.CANDIDATES)
    ambiguous.candidates, ambiguous.reason = tuple(range(0, 200, 10)), "ambiguous"
    for number in range(20):
        row = shown([ambiguous], Focus(1, number))[2]
        assert f"[L{number * 10 + 1}]" in row
        assert len(row) < 60


def test_the_text_of_a_dropped_hunk_can_be_read() -> None:
    dropped = hunk(1, Stage.DROPPED)
    dropped.base, dropped.agent = "old\n", "new\x1b[2J\nmore\n"
    assert "Enter text  e copy" in shown([dropped], Focus(1))[1]
    assert not any("more" in row for row in shown([dropped], Focus(1)))
    rows = shown([dropped], Focus(1, 0, True))
    assert [row.strip() for row in rows[2:]] == ["−old", "+new␛[2J", "+more"]
    dropped.agent = "x\n" * 100
    assert "61 more lines" in shown([dropped], Focus(1, 0, True))[-1]


def test_one_card_for_several_files() -> None:
    rows = shown([hunk(1, Stage.LANDED, 0), hunk(2, Stage.LANDING, 4, "b.py")])
    assert [row for row in rows if "✎" in row][1].startswith(" ✎ b.py")


def test_a_new_file_says_so() -> None:
    made = hunk(1, Stage.LANDED, 0)
    made.kind = Kind.ADD
    assert "new file" in shown([made])[0]


def test_a_patch_without_hunks_says_what_it_is() -> None:
    assert shown([]) == [" ✎ reading the patch…"]
    assert shown([], cut=True) == [" ✎ patch stopped before it named a file"]


def test_an_undone_hunk_says_so_in_its_row() -> None:
    undone = hunk(1, Stage.LANDED, 0)
    undone.decision, undone.words = Decision.REJECTED, UNDONE
    rows = shown([undone])
    assert "↶ undone" in rows[1]
    assert len(rows) == 2


def test_while_a_long_patch_comes_its_first_hunks_are_one_row() -> None:
    hunks = [Hunk(n, 1, "c", "a.py", stage=Stage.LANDED, added=1) for n in range(1, 301)]
    assert len(shown(hunks)) == 301
    lines = card_lines(parts(hunks, 297), 60, Focus())
    rows = ["".join(text for text, _ in line.pieces) for line in lines]
    assert len(rows) == 5
    assert "300 hunks  +300" in rows[0]
    assert rows[1].strip() == "⋯ 297 earlier hunks"
    assert rows[2].strip().startswith("298 ● pending")
