"""A text and all that was put in and taken out of it since, each of which can be switched off.

The text is woven of pieces, in the order of their places. A piece is there while the edit that
put it in is on, and none of those that took it out is: so any edits come off, and on again, in
any order, and with all of them off the text is the one that it began as. Cost follows the pieces
near a change; what nobody touched is one piece, of which only the extent is known.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from itertools import islice
from operator import itemgetter
from typing import Any

from tui.core.steps import Work
from tui.core.text.change_set import Change, Position, TextReader, change_at, end_of, offset_in

_MOST = 64
"""Pieces of a block: more, and it is split."""
_START = (0, 0)


def _after(start: Position, extent: Position) -> Position:
    """Where a text of some extent ends that begins there."""
    if extent[0]:
        return (start[0] + extent[0], extent[1])
    return (start[0], start[1] + extent[1])


def _between(start: Position, end: Position) -> Position:
    """The extent of what is between two places."""
    if start[0] == end[0]:
        return (0, end[1] - start[1])
    return (end[0] - start[0], end[1])


class WovenEdit:
    """All that somebody did to a text that goes, and comes back, together."""

    __slots__ = ("began", "key", "needs", "on", "pieces", "went_on")

    def __init__(self, key: Hashable, began: int) -> None:
        self.key = key
        self.on = True
        self.pieces: list[WovenPiece] = []
        """Those that it put in or took out; some may be in the weave no more."""
        self.began = self.went_on = began
        """When its first and its last change was made, as a number of changes."""
        self.needs: dict[WovenEdit, bool] | None = None
        """It is on as long as others are on, or off: it corrects what these leave."""

    @property
    def fits(self) -> bool:
        """True if all that it needs is so."""
        return all(edit.on is on for edit, on in (self.needs or {}).items())


class WovenPiece:
    """A piece of text that the same edits put in and took out."""

    __slots__ = ("_said", "block", "by", "cols", "gone", "rows", "seen")

    def __init__(
        self, by: WovenEdit, gone: tuple[WovenEdit, ...], extent: Position, text: str | None
    ) -> None:
        self.by = by
        self.gone = gone
        """The edits that took it out."""
        self.rows, self.cols = extent
        """How many line ends it has, and how many characters behind the last."""
        self.seen = True
        """It is in the text."""
        self.block: _PieceBlock | None = None
        self._said: str | _Growing | None = text
        """None: nobody has touched it, and what it says stands nowhere but in the text."""

    @property
    def extent(self) -> Position:
        """Where it would end if it began at the start."""
        return (self.rows, self.cols)

    @property
    def text(self) -> str:
        """What it says; nothing of what nobody has touched."""
        if isinstance(self._said, _Growing):
            self._said = self._said.text
        return self._said or ""

    @property
    def is_told(self) -> bool:
        """True if it is known what it says."""
        return self._said is not None

    def tell(self, text: str) -> None:
        """It is touched, and this is what it says."""
        if self._said is None:
            self._said = text

    def share(self, texts: Iterable[str]) -> None:
        """Keep one of these texts, where it says that: each is kept once."""
        text = self.text
        self._said = next((other for other in texts if other == text), self._said)

    def is_seen(self, switched: Collection[WovenEdit] = ()) -> bool:
        """Whether it is in the text once these edits are switched."""
        if self.by.on is (self.by in switched):
            return False
        return not any(edit.on is not (edit in switched) for edit in self.gone)

    def put_in(self, at: Position, text: str) -> None:
        """Its own edit puts in more: at its end, or in the midst of it."""
        if not isinstance(said := self._said, _Growing):
            said = self._said = _Growing(said or "", self.extent)
        said.put_in(at, text)
        self.rows, self.cols = said.extent

    def cut(self, at: Position) -> WovenPiece:
        """Take off what is behind its beginning."""
        rest = None
        if self._said is not None:
            text = self.text
            self._said = TextReader(text, _START).until(at)
            rest = text[len(self._said) :]
        behind = WovenPiece(self.by, self.gone, _between(at, self.extent), rest)
        behind.seen = self.seen
        self.rows, self.cols = at
        for edit in (self.by, *self.gone):
            edit.pieces.append(behind)
        return behind


class _Growing:
    """A text that comes in many small parts."""

    __slots__ = ("extent", "parts", "tail")

    def __init__(self, text: str, extent: Position) -> None:
        self.parts = [text]
        self.extent = extent
        self.tail = _START
        """Where the last part begins."""

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self.parts)

    def put_in(self, at: Position, text: str) -> None:
        """Put in more: at its end, or in the midst of it."""
        if at == self.extent:
            self.tail = at
            self.parts.append(text)
        else:
            if at < self.tail:
                self.parts, self.tail = [self.text], _START
            part = self.parts[-1]
            offset = offset_in(part, _START, _between(self.tail, at))
            self.parts[-1] = part[:offset] + text + part[offset:]
        self.extent = _after(_after(at, end_of(_START, text)), _between(at, self.extent))


class _PieceBlock:
    """Some pieces that follow each other."""

    __slots__ = ("_extent", "pieces")

    def __init__(self, pieces: list[WovenPiece]) -> None:
        self.pieces = pieces
        self._extent: Position | None = None
        for piece in pieces:
            piece.block = self

    @property
    def extent(self) -> Position:
        """Of those that are in the text."""
        if self._extent is None:
            extent = _START
            for piece in self.pieces:
                if piece.seen:
                    extent = _after(extent, piece.extent)
            self._extent = extent
        return self._extent

    def changed(self) -> None:
        """It has another extent."""
        self._extent = None


class Weave:
    """One text, and what was done to it."""

    def __init__(self, end: Position) -> None:
        """``end`` is where the text ends that it begins with."""
        self._base = WovenEdit(None, 0)
        self._blocks = [_PieceBlock([WovenPiece(self._base, (), end, None)])]
        self._edits: dict[Hashable, WovenEdit] = {}
        self._corrections: list[WovenEdit] = []
        self._starts = [_START]
        """Where the first blocks begin, as far as that is known."""
        self._count = 0
        self._near = (0, 0, _START)
        """Block, index and beginning of a piece near which the next change may be."""

    def __iter__(self) -> Iterator[WovenPiece]:
        for block in self._blocks:
            yield from block.pieces

    @property
    def end(self) -> Position:
        """Where the text ends."""
        return _after(self._start_of(len(self._blocks) - 1), self._blocks[-1].extent)

    @property
    def edits(self) -> Collection[WovenEdit]:
        """All of them."""
        return self._edits.values()

    def edit(self, key: Hashable) -> WovenEdit | None:
        """What was done under a key; None: nothing."""
        return self._edits.get(key)

    def change(self, change: Change, key: Hashable, *, ahead: bool = False) -> None:
        """The text was changed; what is done under one key is one edit.

        What is put in stands behind what is gone from there, or ``ahead`` of it.
        """
        edit = self._edits.get(key)
        self._count += 1
        if edit is not None and not edit.on:
            self.forget(key)  # it begins anew
            edit = None
        if edit is None:
            edit = self._edits[key] = WovenEdit(key, self._count)
        edit.went_on = self._count
        if change.old_text:
            place = self._take_out(change, edit)
        elif self._goes_on(change, edit):
            return
        else:
            place = self._open(change.start)
            place = place if ahead else self._behind_gone(place)
        self._near = (*place, change.start)
        if change.new_text:
            extent = _between(change.start, change.new_end)
            piece = WovenPiece(edit, (), extent, change.new_text)
            edit.pieces.append(piece)
            self._near = (*self._insert(place, piece), change.start)

    def switching(self, edits: Iterable[WovenEdit]) -> list[Change]:
        """What it changes in the text to switch edits off or on: in order, made at once."""
        switched = self._with_corrections(edits)
        return self._changes(self._switched(switched))

    def switch(self, edits: Iterable[WovenEdit]) -> None:
        """Have them off, or on again."""
        switched = self._with_corrections(edits)
        pieces = self._switched(switched)
        for edit in switched:
            edit.on = not edit.on
        for piece in pieces:
            piece.seen = not piece.seen
        for block in {piece.block for piece in pieces if piece.block}:
            self._changed(self._blocks.index(block))
        self._near = (0, 0, _START)

    def correct(self, key: Hashable, needs: dict[WovenEdit, bool]) -> None:
        """What was done under a key is there as long as other edits are on, or off."""
        if edit := self._edits.get(key):
            edit.needs = needs
            self._corrections.append(edit)

    def rename(self, key: Hashable, other: Hashable) -> None:
        """What is known by a key, if anything is, is known by another one from now on."""
        if edit := self._edits.pop(key, None):
            edit.key = other
            self._edits[other] = edit

    def forget(self, key: Hashable) -> None:
        """An edit that is off does not come back."""
        if (edit := self._edits.pop(key, None)) is None:
            return
        for piece in edit.pieces:
            if piece.by is not edit:
                piece.gone = tuple(one for one in piece.gone if one is not edit)
            else:
                self._remove(piece)
        for one in [*self._corrections]:
            if one.needs and one.needs.pop(edit, False):  # so it does not come back, either
                self._corrections.remove(one)
                self.forget(one.key)

    def forget_gone(self, key: Hashable) -> None:
        """What an edit put in and others took out does not come back."""
        edit = self._edits.get(key)
        for piece in edit.pieces if edit is not None else ():
            if piece.by is edit and not piece.seen:
                self._remove(piece)

    def blocked(self, edit: WovenEdit, others: Callable[[WovenEdit], bool]) -> Position | None:
        """Where others changed, since an edit, what it is about; None: nowhere."""

        def later(one: WovenEdit) -> bool:
            return one.on and one.went_on > edit.began and others(one)

        def own(piece: WovenPiece) -> bool:
            """It is there, or not, whatever others do."""
            if not others(piece.by) and not piece.by.on:
                return True
            return any(one.on and not others(one) for one in piece.gone)

        placed = list(self._placed(edit.pieces))
        for _, _, piece, start in placed:
            if (piece.by is edit or not edit.on) and any(map(later, piece.gone)):
                return start
        there = [place for place in placed if (place[2].by is edit) is edit.on]
        if there:
            for piece in self._from(*there[0][:2], there[-1][2]) if there[1:] else ():
                if piece.seen and later(piece.by) and edit not in piece.gone:
                    return there[0][3]
        elif placed:
            before = next((one for one in self._back_from(*placed[0][:2]) if not own(one)), None)
            behind = next((one for one in self._from(*placed[-1][:2]) if not own(one)), None)
            if before is None or behind is None:
                return None
            hosts = {before.by} & {behind.by} - {self._base}
            gone = set(filter(later, before.gone)) & set(behind.gone)
            torn = not edit.on and any(others(host) and not host.on for host in hosts)
            if gone or torn:
                return placed[0][3]
        return None

    def range(
        self, edit: WovenEdit, within: Callable[[WovenEdit], bool]
    ) -> tuple[Position, Position] | None:
        """From the first to the last of what an edit put in or took out; None: nothing is left.

        ``within``: what these put in the place of the last of it belongs to that.
        """
        placed = list(self._placed(edit.pieces))
        if not placed:
            return None
        number, index, last, end = placed[-1]
        if last.seen:
            end = _after(end, last.extent)
        instead = set(filter(within, last.gone))
        for piece in self._from(number, index) if instead else ():
            if piece.seen and piece.by in instead:
                end = _after(end, piece.extent)
            elif piece.seen or not instead & {piece.by, *piece.gone}:
                break
        return placed[0][3], end

    def in_order(self, edits: Iterable[WovenEdit]) -> list[WovenEdit]:
        """Edits as they begin in the text, without those of which nothing is left."""
        owners: dict[WovenPiece, list[WovenEdit]] = {}
        for edit in edits:
            for piece in edit.pieces:
                owners.setdefault(piece, []).append(edit)
        placed = self._placed(owners)
        return list(dict.fromkeys(edit for _, _, piece, _ in placed for edit in owners[piece]))

    def edits_near(self, edit: WovenEdit, start: Position, end: Position) -> set[WovenEdit]:
        """Others that are on and did something in a range, right behind it, or in an edit."""
        found: set[WovenEdit] = set()
        number, index, at = (0, 0, _START) if start == _START else self._find(start)
        for piece in self._from(number, index - 1):
            if piece.seen:
                found.add(piece.by)
                if at >= end:
                    break
                at = _after(at, piece.extent)
        placed = list(self._placed(edit.pieces))
        for piece in self._from(*placed[0][:2], placed[-1][2]) if placed[1:] else ():
            found.update((piece.by, *piece.gone))
        for _, _, piece, _ in placed:
            found.update((piece.by, *piece.gone))
        return {one for one in found if one.on} - {self._base, edit}

    def intact(self, edit: WovenEdit) -> bool:
        """True if others neither took out of what an edit put in, nor put in between."""
        placed = [place for place in self._placed(edit.pieces) if place[2].by is edit]
        if not all(piece.seen for _, _, piece, _ in placed):
            return False
        inner = self._from(*placed[0][:2], placed[-1][2]) if placed[1:] else ()
        known = (edit, self._base)
        return all(
            piece.by in known or piece.by.needs is not None or not piece.seen for piece in inner
        )

    def is_written_beside(self, edit: WovenEdit) -> bool:
        """True if others put in text in the row where an edit begins, or where it ends."""
        placed = [place for place in self._placed(edit.pieces) if place[2].by is edit]
        if not placed:
            return False
        first, last = placed[0], placed[-1]
        known = (edit, self._base)
        for piece in self._back_from(*first[:2]):
            if piece.seen and piece.by not in known and piece.by.needs is None:
                return piece.cols > 0 or not piece.rows
            if piece.seen and piece.rows:
                break
        if not last[2].cols and last[2].rows:
            return False
        for piece in self._from(*last[:2]):
            if piece.seen and piece.by not in known and piece.by.needs is None:
                return not piece.text.startswith(("\n", "\r"))
            if piece.seen and piece.rows:
                break
        return False

    def is_alone(self, edit: WovenEdit) -> bool:
        """True if nothing of another edit is torn when it is switched off."""
        return self.intact(edit) or not any(piece.seen for piece in edit.pieces if piece.by is edit)

    def torn(self, edits: Collection[WovenEdit]) -> Work[set[WovenEdit]]:
        """Which of some edits would leave a torn text if all of them were taken off.

        These are those into which edits that stay put something, or out of which they took
        something, and those that share a row with what such an edit did later.
        """
        found: set[WovenEdit] = set()
        stand_before: dict[WovenEdit, int] = {}
        base, stay = self._base, 0
        now, then = rows = _SharedRow(found), _SharedRow(found)
        for block in self._blocks:
            for piece in block.pieces:
                if piece.by is base and not piece.gone:
                    if piece.rows and (now.holds or then.holds):
                        now.end()
                        then.end()
                    continue
                others, gone = self._others(piece, edits)
                own = [one for one in (piece.by, *piece.gone) if one in edits]
                if gone:
                    found.update(own)
                stay += piece.seen and piece.by in others
                for edit in own:
                    if stand_before.setdefault(edit, stay) < stay:
                        found.add(edit)
                for row, seen in zip(rows, (piece.seen, piece.is_seen(edits)), strict=True):
                    if seen or gone:
                        row.take(own, others, piece.extent if seen else _START)
            yield len(block.pieces)
        now.end()
        then.end()
        return found

    def _others(
        self, piece: WovenPiece, edits: Collection[WovenEdit]
    ) -> tuple[list[WovenEdit], bool]:
        """Who else put a piece in or took it out, and stays; whether one of them took it out."""
        found = [one for one in piece.gone if one.on and one not in edits]
        gone = bool(found)
        by = piece.by
        if by is not self._base and by.on and by not in edits:
            found.append(by)
        return found, gone

    def without(self, edits: Collection[WovenEdit], text: str) -> str:
        """The text, which is this one, as it would be with some edits off (those that are on)."""
        reader, at = TextReader(text, _START), _START
        parts: list[str] = []
        for block in self._blocks:
            for piece in block.pieces:
                said = ""
                if piece.seen:
                    at = _after(at, piece.extent)
                    said = reader.until(at)
                if piece.is_seen(edits):
                    parts.append(said if piece.seen else piece.text)
        return "".join(parts)

    # Inside.

    def _find(self, at: Position) -> tuple[int, int, Position]:
        """The first piece of the text that ends at a place or behind it; where it begins."""
        number, index, start = self._near
        if at <= start:
            number, index, start = 0, 0, _START
        blocks = self._blocks
        pieces = blocks[number].pieces
        while True:
            while index < len(pieces):
                piece = pieces[index]
                if piece.seen:
                    end = _after(start, piece.extent)
                    if end >= at:
                        return number, index, start
                    start = end
                index += 1
            number, index = number + 1, 0
            while (end := _after(start, blocks[number].extent)) < at:
                number, start = number + 1, end
            pieces = blocks[number].pieces

    def _open(self, at: Position) -> tuple[int, int]:
        """Where a piece belongs that begins at a place: right behind what stands before it."""
        if at == _START:
            return 0, 0
        number, index, start = self._find(at)
        piece = self._blocks[number].pieces[index]
        extent = _between(start, at)
        if extent != piece.extent:
            self._insert((number, index + 1), piece.cut(extent), whole=False)
        return number, index + 1

    def _insert(
        self, place: tuple[int, int], piece: WovenPiece, *, whole: bool = True
    ) -> tuple[int, int]:
        """Put a piece in; returns where it is. ``whole``: a block that is full is split."""
        number, index = place
        block = self._blocks[number]
        block.pieces.insert(index, piece)
        piece.block = block
        self._changed(number)
        if whole and len(block.pieces) > _MOST:
            half = len(block.pieces) // 2
            self._blocks.insert(number + 1, _PieceBlock(block.pieces[half:]))
            del block.pieces[half:]
            if index >= half:
                return number + 1, index - half
        return number, index

    def _goes_on(self, change: Change, edit: WovenEdit) -> bool:
        """Put a text into a piece of the same edit, where it is at its end or in the midst."""
        if change.start == _START:
            return False
        number, index, start = self._find(change.start)
        block = self._blocks[number]
        piece = block.pieces[index]
        if piece.by is not edit or piece.gone:
            return False
        piece.put_in(_between(start, change.start), change.new_text)
        self._changed(number)
        self._near = (number, index, start)
        return True

    def _remove(self, piece: WovenPiece) -> None:
        """Take out a piece that is not in the text."""
        if piece.block is not None:
            piece.block.pieces.remove(piece)
            piece.block = None
            self._near = (0, 0, _START)

    def _behind_gone(self, place: tuple[int, int]) -> tuple[int, int]:
        """The same place, behind pieces that are gone; before those that the next is there for."""
        number, index = place
        gone: list[tuple[WovenPiece, tuple[int, int]]] = []
        while True:
            pieces = self._blocks[number].pieces
            if index < len(pieces):
                piece = pieces[index]
                if piece.seen:
                    break
                gone.append((piece, (number, index)))
                index += 1
            elif number + 1 < len(self._blocks):
                number, index = number + 1, 0
            else:
                return number, index
        found = number, index
        owners = {piece.by}
        while gone and not owners.isdisjoint(gone[-1][0].gone):
            one, found = gone.pop()
            owners.add(one.by)
        return found

    def _take_out(self, change: Change, edit: WovenEdit) -> tuple[int, int]:
        """Take a range out of the text; returns the place behind it."""
        number, index = self._open(change.start)
        start, end = change.start, change.old_end
        reader = TextReader(change.old_text, start)
        while start < end:
            block = self._blocks[number]
            if index == len(block.pieces):
                number, index = number + 1, 0
                continue
            piece = block.pieces[index]
            index += 1
            if not piece.seen:
                continue
            stop = _after(start, piece.extent)
            if stop > end:
                stop = end
                block.pieces.insert(index, behind := piece.cut(_between(start, end)))
                behind.block = block
            start = stop
            piece.tell(reader.until(stop))
            self._changed(number)
            if piece.by is edit:
                index -= 1
                del block.pieces[index]
                piece.block = None
            else:
                piece.gone += (edit,)
                piece.seen = False
                edit.pieces.append(piece)
        return number, index

    def _with_corrections(self, edits: Iterable[WovenEdit]) -> set[WovenEdit]:
        """Edits that are switched, and those that correct what these leave."""
        switched = set(edits)
        for one in self._corrections:
            fits = all(
                (edit.on is not (edit in switched)) is on for edit, on in (one.needs or {}).items()
            )
            if fits is not one.on:
                switched.add(one)
        return switched

    def _from(
        self, number: int, index: int, last: WovenPiece | None = None
    ) -> Iterator[WovenPiece]:
        """The pieces behind one, up to a last one."""
        index += 1
        for block in islice(self._blocks, number, None):
            for piece in islice(block.pieces, index, None):
                if piece is last:
                    return
                yield piece
            index = 0

    def _back_from(self, number: int, index: int) -> Iterator[WovenPiece]:
        """The pieces before one, the nearest first."""
        for block in reversed(self._blocks[: number + 1]):
            yield from reversed(block.pieces[:index])
            index = len(self._blocks[number - 1].pieces) if number else 0
            number -= 1

    def _switched(self, edits: Collection[WovenEdit]) -> list[WovenPiece]:
        """The pieces that come or go when edits are switched."""
        found = dict.fromkeys(piece for edit in edits for piece in edit.pieces if piece.block)
        return [piece for piece in found if piece.is_seen(edits) is not piece.seen]

    def _placed(
        self, pieces: Iterable[WovenPiece]
    ) -> Iterator[tuple[int, int, WovenPiece, Position]]:
        """Pieces in order, each with its block and index and where it begins or would."""
        wanted: dict[_PieceBlock, set[WovenPiece]] = {}
        for piece in pieces:
            if piece.block is not None:
                wanted.setdefault(piece.block, set()).add(piece)
        for number, block in sorted(
            ((self._blocks.index(block), block) for block in wanted), key=itemgetter(0)
        ):
            start = self._start_of(number)
            for index, piece in enumerate(block.pieces):
                if piece in wanted[block]:
                    yield number, index, piece, start
                if piece.seen:
                    start = _after(start, piece.extent)

    def _start_of(self, number: int) -> Position:
        """Where a block begins."""
        starts = self._starts
        while len(starts) <= number:
            starts.append(_after(starts[-1], self._blocks[len(starts) - 1].extent))
        return starts[number]

    def _changed(self, number: int) -> None:
        """A block has other pieces, or others of them are in the text."""
        self._blocks[number].changed()
        del self._starts[number + 1 :]

    def _changes(self, pieces: Iterable[WovenPiece]) -> list[Change]:
        """What it changes in the text that pieces come or go."""
        runs: list[tuple[Position, list[str], list[str]]] = []
        last = (-1, -1)
        for number, index, piece, start in self._placed(pieces):
            if not runs or self._stands_between(last, (number, index)):
                runs.append((start, [], []))
            _, old, new = runs[-1]
            (old if piece.seen else new).append(piece.text)
            last = (number, index)
        return [change_at(start, "".join(old), "".join(new)) for start, old, new in runs]

    def _stands_between(self, one: tuple[int, int], other: tuple[int, int]) -> bool:
        """True if something is in the text between two pieces that come or go."""
        (number, index), (last, end) = one, other
        while (number, index + 1) < (last, end):
            index += 1
            pieces = self._blocks[number].pieces
            if index == len(pieces):
                number, index = number + 1, -1
            elif pieces[index].seen:
                return True
        return False


class _SharedRow:
    """A row that is read piece by piece: which edits share it with what others did later."""

    __slots__ = ("_found", "_others", "_own")

    def __init__(self, found: set[WovenEdit]) -> None:
        self._found = found
        self._own: list[WovenEdit] = []
        self._others: list[WovenEdit] = []

    @property
    def holds(self) -> bool:
        """True if something of an edit is in it."""
        return bool(self._own or self._others)

    def take(self, own: list[WovenEdit], others: list[WovenEdit], extent: Position) -> None:
        """The next piece, that these edits put in or took out."""
        self._own += own
        self._others += others
        if extent[0]:
            self.end()
            if extent[1]:
                self._own += own
                self._others += others

    def end(self) -> None:
        """The row ends here."""
        if self._own and self._others:
            last = max(one.went_on for one in self._others)
            self._found.update(one for one in self._own if one.began < last)
        self._own.clear()
        self._others.clear()


class FoldedWeave:
    """A weave as it stood at one moment: as bytes, if it has very many pieces.

    What its edits are known by is pointed to.
    """

    __slots__ = ("_data", "_keys")

    def __init__(self, weave: Weave) -> None:
        edits = [weave._base, *weave.edits]
        numbers: dict[WovenEdit, int] = {one: at for at, one in enumerate(edits)}
        number, self._keys = numbers.__getitem__, [edit.key for edit in edits]
        facts = [
            (
                *(edit.on, edit.began, edit.went_on),
                None
                if edit.needs is None
                else {numbers[other]: on for other, on in edit.needs.items()},
            )
            for edit in edits
        ]
        pieces = [
            (
                *(numbers[piece.by], tuple(map(number, piece.gone))),
                *(piece.extent, piece.seen, piece.text if piece.is_told else None),
            )
            for piece in weave
        ]
        self._data: Any = (weave._count, facts, pieces)

    def pack(self) -> FoldedWeave:
        """Make it small; returns it."""
        import pickle  # hardly a session needs them
        import zlib

        self._data = zlib.compress(pickle.dumps(self._data, 5), 1)
        return self

    def weave(self) -> Weave:
        """It, as it was."""
        import pickle
        import zlib

        packed = isinstance(self._data, bytes)
        count, facts, pieces = pickle.loads(zlib.decompress(self._data)) if packed else self._data
        weave = Weave(_START)
        weave._count = count
        edits = [weave._base]
        for key, (on, began, went_on, _) in zip(self._keys[1:], facts[1:], strict=True):
            edits.append(edit := WovenEdit(key, began))
            edit.on, edit.went_on = on, went_on
            weave._edits[key] = edit
        for edit, (*_, needs) in zip(edits, facts, strict=True):
            if needs is not None:
                edit.needs = {edits[number]: on for number, on in needs.items()}
                weave._corrections.append(edit)
        found = []
        for by, gone, extent, seen, text in pieces:
            found.append(
                piece := WovenPiece(edits[by], tuple(edits[n] for n in gone), extent, text)
            )
            piece.seen = seen
            for edit in (piece.by, *piece.gone):
                edit.pieces.append(piece)
        half = _MOST // 2
        weave._blocks = [_PieceBlock(found[at : at + half]) for at in range(0, len(found), half)]
        return weave
