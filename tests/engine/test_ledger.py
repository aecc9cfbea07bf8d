"""What a request holds, in lines."""

from __future__ import annotations

from tui.core.conversation import HistoryEntry, user_item
from tui.core.files import file_block
from tui.core.steps import finished
from tui.engine.request_parts import InputPrices, RequestPart, TokenLedger, ledger_lines

TEXT = "one two three\n" * 20


def entry(kind: str, text: str) -> HistoryEntry:
    return HistoryEntry(kind, user_item(text))


def test_each_file_is_a_part_however_often_it_was_said() -> None:
    quoted = file_block("a.py", TEXT, state="open") + "\n" + file_block("b.py", TEXT, state="open")
    entries = [
        entry("context", quoted),
        entry("prompt", "go"),
        entry("note", "The user edited meanwhile: ..."),
        entry("note", "Attached by the user: @diff\n+one"),
        entry("note", "Map of the project\na.py"),
        entry("context", file_block("a.py", TEXT, state="attached", from_="3", to="9")),
        entry("context", file_block("a.py", "two", state="attached", from_="2", to="2")),
        entry("context", file_block("a.py", "@@ -1 +1 @@", tag="changed")),
    ]
    ledger = TokenLedger()
    parts = finished(ledger.parts({"instructions": "Be brief."}, [], entries, 2))
    found = {part.called: part for part in parts}
    assert [*found] == [
        "instructions",
        "tools",
        "a.py",
        "b.py",
        "your prompts",
        "report of changes",
        "@diff",
        "map of the project",
        "a.py:3-9",
        "a.py:2",
    ]
    assert found["b.py"].sent == found["b.py"].tokens > 60
    assert found["@diff"].sent == 0
    assert found["instructions"].sent > 0
    again = finished(ledger.parts({"instructions": "Be brief."}, [], entries, 8))
    assert all(part.sent == part.tokens for part in again)


def test_lines_say_the_price_of_what_is_new_and_of_what_was_sent() -> None:
    parts = [RequestPart("instructions", "", 1000, 1000), RequestPart("open file", "a.py", 50, 0)]
    lines = ledger_lines(parts, InputPrices(0.00001, 0.000001), ["a.py"])
    assert lines == [
        "1,000  $0.0010  instructions",
        "   50  $0.0005  a.py, open, pinned, new",
        "1,050  $0.0015  in all, 50 new",
    ]
    assert ledger_lines(parts[:1], InputPrices()) == ["1,000  instructions", "1,000  in all"]
