"""`Workspace.with_hunks`: the text with exactly these hunks, in any combination."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.test_decisions import SEEDS, Reviewer, benches, still
from tests.support.notations import edited
from tests.support.patches import Disk, edits_of, patch_of
from tui.core.document.file_record import FileRecord
from tui.core.document.hunk import Hunk, Kind
from tui.core.steps import finished


def standing(disk: Disk, path: str) -> list[Hunk]:
    record = disk.workspace.documents.records[path]
    return [] if record.gone else [*record.live]


@given(st.data(), st.lists(st.sampled_from("abcdef"), min_size=1, max_size=14))
@settings(max_examples=60)
def test_any_hunks_are_as_if_only_those_had_come(data: st.DataObject, lines: list[str]) -> None:
    lines = [f"{number} {line}" for number, line in enumerate(lines)]
    disk = Disk({"a.txt": "\n".join([*lines, ""]).encode()})
    edits = data.draw(edits_of(len(lines), apart=1))
    disk.land(patch_of(lines, edits, 1, "a.txt"))
    hunks = disk.workspace.hunks
    if len(hunks) != len(edits) or any(hunk not in standing(disk, "a.txt") for hunk in hunks):
        return
    before = disk.text("a.txt")
    chosen = data.draw(st.sets(st.sampled_from(range(len(edits))))) if edits else set()
    wanted = edited(lines, [edits[at] for at in sorted(chosen)])
    ids = data.draw(st.permutations([hunks[at].id for at in chosen]))
    assert disk.workspace.with_hunks("a.txt", ids) == "".join(f"{x}\n" for x in wanted).encode()
    assert disk.text("a.txt") == before


@given(benches(), SEEDS, st.data())
@settings(max_examples=40)
def test_all_and_none_are_the_texts_that_are_known(
    disk: Disk, seed: int, data: st.DataObject
) -> None:
    """Hunks on hunks, decided at random: all of them are the text, the accepted ones the disk's."""
    reviewer = Reviewer(disk, seed, saves=True)
    for _ in range(data.draw(st.integers(0, 3))):
        reviewer.decide()
    workspace = disk.workspace
    known = still(disk)
    for path, record in workspace.documents.records.items():
        here = standing(disk, path)
        if record.gone:
            continue
        every = workspace.with_hunks(path, [hunk.id for hunk in here])
        assert every == record.buffer.encode()
        decided = [hunk.id for hunk in here if not hunk.undecided]
        planned = workspace.disk_plan(path).data
        assert (workspace.with_hunks(path, decided) or None) == (planned or None)
        some = [hunk.id for hunk in here if data.draw(st.booleans())]
        text = workspace.with_hunks(path, some)
        assert text == workspace.with_hunks(path, some[::-1])
    assert still(disk) == known


@given(benches(), SEEDS, st.data())
@settings(max_examples=40)
def test_what_is_left_out_is_as_if_it_were_rejected(
    disk: Disk, seed: int, data: st.DataObject
) -> None:
    """Of hunks that lie on each other, too, if what lies on one goes with it."""
    workspace = disk.workspace
    here = standing(disk, "a.txt")
    out = data.draw(st.sets(st.sampled_from(here))) if here else set()
    for hunk in here:
        if out.intersection(workspace.documents.layers[hunk.id].below):
            out.add(hunk)
    kept = [hunk.id for hunk in here if hunk not in out]
    text = workspace.with_hunks("a.txt", kept)
    workspace.reject([hunk.id for hunk in out])
    assert (text or b"") == workspace.documents.records["a.txt"].buffer.encode()


def test_what_the_user_typed_is_there_and_the_deletion_is_a_hunk_too() -> None:
    disk = Disk({"a.txt": b"one\ntwo\nthree\n"})
    disk.land("*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+TWO\n*** End Patch\n")
    disk.workspace.edit("a.txt", (0, 0), (0, 0), "my ")
    assert disk.workspace.with_hunks("a.txt", []) == b"my one\ntwo\nthree\n"
    assert disk.workspace.with_hunks("a.txt", [1]) == b"my one\nTWO\nthree\n"
    disk.land("*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n")
    assert disk.workspace.with_hunks("a.txt", [1]) == b"my one\nTWO\nthree\n"
    assert disk.workspace.with_hunks("a.txt", [1, 2]) is None
    disk.land("*** Begin Patch\n*** Add File: n.txt\n+new\n*** End Patch\n")
    assert disk.workspace.with_hunks("n.txt", [3]) == b"new\n"
    assert disk.workspace.with_hunks("n.txt", []) is None


@given(benches(), SEEDS, st.data())
@settings(max_examples=40)
def test_what_differs_from_the_disk_is_the_screen_or_what_was_typed(
    disk: Disk, seed: int, data: st.DataObject
) -> None:
    reviewer = Reviewer(disk, seed, saves=True)
    for _ in range(data.draw(st.integers(0, 3))):
        reviewer.decide()
    workspace = disk.workspace
    still = finished(workspace.keeping_still())
    waiting = still.waiting
    assert all(hunk.undecided for hunk in waiting)
    screen, typed = still.files(), still.files(())
    moved = {hunk.path for hunk in waiting if hunk.kind in (Kind.MOVE, Kind.DELETE)}
    for path, record in workspace.documents.records.items():
        if path in moved or record.gone:
            continue
        here = [hunk for hunk in standing(disk, path) if hunk in waiting]
        if here or path in screen:
            assert screen.get(path, record.disk) == workspace.with_hunks(
                path, [hunk.id for hunk in standing(disk, path)]
            )
        assert (typed.get(path, record.disk) or None) == (workspace.disk_plan(path).data or None)
    some = [hunk.id for hunk in waiting if data.draw(st.booleans())]
    for path, bytes_now in still.files(some).items():
        record = workspace.documents.records.get(path)
        if record is not None and path not in moved:
            decided = [hunk.id for hunk in standing(disk, path) if not hunk.undecided]
            assert bytes_now == workspace.with_hunks(path, [*decided, *some_of(record, some)])


def some_of(record: FileRecord, ids: list[int]) -> list[int]:
    return [hunk.id for hunk in record.live if hunk.id in ids]


def test_a_file_that_is_moved_or_deleted_differs_in_both_places() -> None:
    disk = Disk({"a.txt": b"one\n", "b.txt": b"two\n", "c.txt": b"three\n"})
    disk.land(
        "*** Begin Patch\n*** Update File: a.txt\n*** Move to: n.txt\n"
        "@@\n-one\n+ONE\n*** End Patch\n"
    )
    disk.land("*** Begin Patch\n*** Delete File: b.txt\n*** End Patch\n")
    edit, move, deletion = finished(disk.workspace.keeping_still()).waiting
    ids = {hunk.kind: hunk.id for hunk in (edit, move, deletion)}
    still = finished(disk.workspace.keeping_still())
    assert still.files() == {"a.txt": None, "n.txt": b"ONE\n", "b.txt": None}
    assert still.files([ids[Kind.MOVE]]) == {"a.txt": None, "n.txt": b"one\n"}
    assert still.files([ids[Kind.EDIT]]) == {"a.txt": b"ONE\n"}
    assert still.files([ids[Kind.DELETE]]) == {"b.txt": None}
    assert still.files([]) == {}
    disk.workspace.open("c.txt")
    disk.workspace.edit("c.txt", (0, 0), (0, 0), "my ")
    assert finished(disk.workspace.keeping_still()).files(()) == {"c.txt": b"my three\n"}
