"""Hunks that wait for something else than a decision: a place, or a conflict to be looked at."""

from __future__ import annotations

from tests.support.review_screen import reviewing, seen, whole
from tests.support.scripted_app import settled


async def test_an_ambiguous_hunk_is_placed() -> None:
    async with reviewing(begin=False) as (session, screen, pilot):
        session.files["twice.py"] = "x = 1\ny = 0\nx = 1\n"
        session.turn_of(
            "*** Begin Patch\n*** Update File: twice.py\n@@\n-x = 1\n+x = 2\n*** End Patch\n"
        )
        await settled(session, pilot)
        await pilot.pause(0.1)
        assert any("L1 (1/2)" in row for row in seen(screen))
        assert "a place" in whole(screen)
        await pilot.press("right", "enter")
        await settled(session, pilot)
        assert session.workspace.open("twice.py").text() == "x = 1\ny = 0\nx = 2\n"
        assert pilot.app.screen is screen, "what was placed is now to be decided on"
        assert session.workspace.hunk(1).decidable


async def test_placing_with_a_decides_nothing() -> None:
    async with reviewing(begin=False) as (session, _, pilot):
        session.files["twice.py"] = "x = 1\ny = 0\nx = 1\n"
        session.turn_of(
            "*** Begin Patch\n*** Update File: twice.py\n@@\n-x = 1\n+x = 2\n*** End Patch\n"
        )
        await settled(session, pilot)
        await pilot.pause(0.1)
        await pilot.press("a")
        await settled(session, pilot)
        assert session.workspace.open("twice.py").text() == "x = 2\ny = 0\nx = 1\n"
        assert session.workspace.hunk(1).decidable


async def test_an_ambiguous_hunk_is_shown_at_the_place_that_is_chosen() -> None:
    async with reviewing((80, 24), begin=False) as (session, screen, pilot):
        names = "".join(f"def {name}\n    go\n    x = 1\n" for name in "abc")
        session.files["thrice.py"] = names
        session.turn_of(
            "*** Begin Patch\n*** Update File: thrice.py\n@@\n     go\n-    x = 1\n+    x = 2\n"
            "*** End Patch\n"
        )
        await settled(session, pilot)
        await pilot.pause(0.1)
        found = []
        for _ in range(3):
            rows = seen(screen)
            at = next(i for i, row in enumerate(rows) if "−     x = 1" in row)
            found.append((rows[at - 2].split()[-1], rows[at - 1].split()[-1]))
            await pilot.press("right")
        assert found == [("a", "go"), ("b", "go"), ("c", "go")]


async def test_a_conflict_is_shown_where_it_is_with_what_can_be_done() -> None:
    """The user's line, below it what the model wanted of the old one."""
    async with reviewing((100, 30), begin=False) as (session, screen, pilot):
        session.files["two.py"] = (
            "def one():\n    return 1\n\n\ndef two():\n    return 2\n\n\n" + "z = 0\n" * 9
        )
        session.open("two.py")
        session.begin(
            "*** Begin Patch\n*** Update File: two.py\n@@\n def one():\n-    return 1\n"
            "+    return 111\n \n \n def two():\n-    return 2\n+    return 222\n*** End Patch\n"
        )
        while "return 111" not in session.workspace.open("two.py").text():
            session.feed(4)
        lines = session.workspace.open("two.py").lines
        row = lines.index("    return 1")
        session.workspace.edit("two.py", (row, 12), (row, 12), "7")
        while session.streams:
            session.feed(200)
        await settled(session, pilot)
        await pilot.pause(0.1)
        assert session.states() == ["conflict", "conflict"]
        said = whole(screen)
        assert "2 hunks · 2 in conflict" in said
        rows = seen(screen)
        at = next(y for y, text in enumerate(rows) if "return 17" in text)
        wanted = next(y for y, text in enumerate(rows) if "+     return 111" in text)
        assert abs(wanted - at) <= 4
        assert "r reject" in said
