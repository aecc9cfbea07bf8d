"""Feeding edit streams in pieces, and what they said with the pieces of prose joined."""

from __future__ import annotations

from collections.abc import Iterable

from tui.core.edit_stream import Channel, Parser, parser_for
from tui.core.edit_stream.events import Ev, Failure, Prose


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def joined(events: Iterable[Ev]) -> list[Ev]:
    """The events with neighbouring prose as one."""
    out: list[Ev] = []
    for event in events:
        if isinstance(event, Prose) and out and isinstance(out[-1], Prose):
            out[-1] = Prose(out[-1].text + event.text)
        else:
            out.append(event)
    return out


def run(parser: Parser, deltas: Iterable[str], *, cut: bool = False) -> list[Ev]:
    """All events of a stream; `tail` is asked after each piece, as frames do."""
    events: list[Ev] = []
    for delta in deltas:
        events += parser.feed(delta)
        parser.tail()
    return joined(events + parser.finish(cut))


def read(text: str, channel: Channel = "custom", *, cut: bool = False) -> list[Ev]:
    """The events of a text that comes whole."""
    return run(parser_for("apply_patch", channel), [text], cut=cut)


def failure(text: str, channel: Channel = "custom", *, cut: bool = False) -> str:
    """``line: message`` of the failure; empty if there is none."""
    found = [event for event in read(text, channel, cut=cut) if isinstance(event, Failure)]
    assert len(found) < 2
    return f"{found[0].line}: {found[0].message}" if found else ""
