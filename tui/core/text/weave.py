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

from tui.core.steps import Work
from tui.core.text.change_set import Change, Position, TextReader, change_at
from tui.core.text.woven_pieces import (
    START,
    FoldedPieces,
    PieceBlock,
    SharedRow,
    WovenEdit,
    WovenPiece,
    after,
    between,
    packed,
    pieces_of,
    place_of,
)

_MOST = 64
"""Pieces of a block: more, and it is split."""
_LINE_END = "the end of the last line"
_NOBODY = (None, _LINE_END)
"""The keys of edits that nobody made: what the text began as, and what ends its last line."""
_NEWLINES = ("\n", "\r")
_FEW, _TOGETHER = 8, 8
"""Blocks that are not worth it to be folded, and those that become one then."""


class Weave:
    """One text, and what was done to it."""

    def __init__(self, end: Position, newline: str = "\n") -> None:
        """``end`` is where the text ends that it begins with."""
        self._base = WovenEdit(None, 0)
        pieces = [WovenPiece(self._base, (), end, None)]
        self._edits: dict[Hashable, WovenEdit | PieceBlock] = {}
        """By their keys; a block that is folded has its edits."""
        self._corrections: list[WovenEdit] = []
        self._line_end: WovenPiece | None = None
        """The end of the last line, which had none: on while something stands behind that line.

        Not where that brings a line end of its own; its `needs` are edits that do not count for
        that, as they were made while it was there.
        """
        if end[1]:
            edit = self._edits[_LINE_END] = WovenEdit(_LINE_END, 0)
            edit.on, edit.needs, edit.tied = False, {}, True
            self._line_end = piece = WovenPiece(edit, (), (1, 0), newline)
            piece.seen = False
            edit.pieces.append(piece)
            self._corrections.append(edit)
            pieces.append(piece)
        self._blocks = [PieceBlock(pieces)]
        self._starts = [START]
        """Where the first blocks begin, as far as that is known."""
        self._count = 0
        self._near = (0, 0, START)
        """Block, index and beginning of a piece near which the next change may be."""
        self._cold = 0
        """So many blocks were folded, where that could be, as changes went on below."""

    @property
    def end(self) -> Position:
        """Where the text ends."""
        return after(self._start_of(len(self._blocks) - 1), self._blocks[-1].extent)

    @property
    def edits(self) -> Collection[WovenEdit]:
        """All of them."""
        return [edit for key in list(self._edits) if (edit := self.edit(key))]

    def edit(self, key: Hashable) -> WovenEdit | None:
        """What was done under a key; None: nothing."""
        found = self._edits.get(key)
        if isinstance(found, PieceBlock):
            assert found.pieces  # this has its edits as objects again
            found = self._edits[key]
            assert isinstance(found, WovenEdit)
        return found

    def end_lines(self, newline: str) -> None:
        """All lines end in another way now, those that are gone, too: that is nobody's edit."""
        for block in self._blocks:
            for piece in block.pieces:
                piece.end_lines(newline)

    def fold_above(self) -> None:
        """Keep blocks above that in which changes go on as bytes; it costs the new ones."""
        while self._cold + _TOGETHER < self._near[0]:
            self._fold(self._cold, self._cold + _TOGETHER)
            self._cold += 1

    def folding(self) -> Work[None]:
        """Keep all blocks as bytes, where there are many; nobody may hold an edit meanwhile."""
        self._near, number = (0, 0, START), 0
        many = len(self._blocks) > _FEW
        while many and number < len(self._blocks):
            end = number
            for block in self._blocks[number : number + _TOGETHER]:
                if block.folded:
                    break
                end += 1
            if end > number:
                self._fold(number, end)
                yield _MOST * (end - number)
            number += 1

    def _fold(self, first: int, last: int) -> None:
        """Make blocks one that is bytes, if what is in it is nowhere else and follows nothing."""
        blocks = self._blocks[first:last]
        pieces = [piece for block in blocks for piece in block.pieces]
        edits = dict.fromkeys(one for piece in pieces for one in (piece.by, *piece.gone))
        edits.pop(self._base, None)
        self._base.pieces.clear()  # which nobody reads
        within = {*blocks, None}
        for edit in edits:
            if edit.tied or not within.issuperset(piece.block for piece in edit.pieces):
                return
        folded = PieceBlock(pieces)
        own = list(edits)
        data, keys = packed(self._base, own, pieces), [edit.key for edit in own]
        folded.fold(FoldedPieces(self._base, self._edits, keys, data), folded.extent)
        for edit in edits:
            edit.pieces.clear()  # no cycle of what goes is left
            self._edits[edit.key] = folded
        self._blocks[first:last] = [folded]
        del self._starts[first + 1 :]
        number, index, start = self._near
        self._near = (number - len(blocks) + 1, index, start) if number >= last else (0, 0, START)

    def change(self, change: Change, key: Hashable, *, ahead: bool = False) -> None:
        """The text was changed; what is done under one key is one edit.

        What is put in stands behind what is gone from there, or ``ahead`` of it.
        """
        edit = self.edit(key)
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
            goes_on = change.start[1] > 0 and not change.new_text.startswith(_NEWLINES)
            place = number, index = self._open(change.start)
            if not ahead:
                whole = not change.start[1] and change.new_text.endswith("\n")
                place = self._behind_gone(place, in_line=goes_on, whole=whole)
            elif not goes_on and self._line_end in self._blocks[number].pieces[index : index + 1]:
                place = number, index + 1
        self._near = (*place, change.start)
        if change.new_text:
            extent = between(change.start, change.new_end)
            piece = WovenPiece(edit, (), extent, change.new_text)
            edit.pieces.append(piece)
            place = self._insert(place, piece)
            self._near = (*place, change.start)
            self._note_beside_end(place, piece, whole=not change.start[1])

    def switching(self, edits: Iterable[WovenEdit]) -> list[Change]:
        """What it changes in the text to switch edits off or on: in order, made at once."""
        switched = self._with_corrections(edits)
        return self._changes(pieces_of(switched))

    def switch(self, edits: Iterable[WovenEdit]) -> None:
        """Have them off, or on again."""
        switched = self._with_corrections(edits)
        pieces = pieces_of(switched)
        for edit in switched:
            edit.on = not edit.on
        for piece in pieces:
            piece.seen = not piece.seen
        for block in {piece.block for piece in pieces if piece.block}:
            self._changed(self._blocks.index(block))
        self._near = (0, 0, START)

    def correct(self, key: Hashable, needs: dict[WovenEdit, bool]) -> None:
        """What was done under a key is there as long as other edits are on, or off."""
        if edit := self.edit(key):
            edit.needs = needs
            self._corrections.append(edit)
            for one in (edit, *needs):
                one.tied = True

    def join(self, key: Hashable, other: Hashable) -> None:
        """What was done under another key was done under this one; both are on, or off."""
        edit, joined = self.edit(key), self.edit(other)
        if joined is None:
            return
        del self._edits[other]
        if edit is None:
            joined.key, self._edits[key] = key, joined
            return
        edit.began = min(edit.began, joined.began)
        edit.went_on, edit.tied = max(edit.went_on, joined.went_on), edit.tied or joined.tied
        known = set(edit.pieces)
        for piece in joined.pieces:
            piece.by = edit if piece.by is joined else piece.by
            gone = (edit if one is joined else one for one in piece.gone)
            piece.gone = tuple(dict.fromkeys(gone))
            if piece.by is edit and edit in piece.gone:
                self._remove(piece)
            elif piece not in known:
                edit.pieces.append(piece)
        for one in self._corrections:
            if one.needs and joined in one.needs:
                one.needs[edit] = one.needs.pop(joined)

    def forget(self, key: Hashable) -> None:
        """An edit that is off does not come back."""
        if (edit := self.edit(key)) is None:
            return
        del self._edits[key]
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
        edit = self.edit(key)
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
            end = after(end, last.extent)
        instead = set(filter(within, last.gone))
        for piece in self._from(number, index) if instead else ():
            if piece.seen and piece.by in instead:
                end = after(end, piece.extent)
            elif piece.seen or not instead & {piece.by, *piece.gone}:
                break
        return self._begins(*placed[0], edit), end

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
        number, index, at = (0, 0, START) if start == START else self._find(start)
        for piece in self._from(number, index - 1):
            if piece.seen:
                found.add(piece.by)
                if at >= end:
                    break
                at = after(at, piece.extent)
            else:
                found.update(piece.gone)
        placed = list(self._placed(edit.pieces))
        for piece in self._from(*placed[0][:2], placed[-1][2]) if placed[1:] else ():
            found.update((piece.by, *piece.gone))
        for _, _, piece, _ in placed:
            found.update((piece.by, *piece.gone))
        return {one for one in found if one.on and one.key not in _NOBODY} - {edit}

    def ended(self) -> tuple[int, WovenEdit] | None:
        """The row of the last line that had no end, and the edit for which it has one now."""
        if (end := self._line_end) is None or not end.seen:
            return None
        number, index, _, (row, _) = next(self._placed([end]))
        behind = next((one for one in self._from(number, index) if one.by.on), None)
        return None if behind is None else (row, behind.by)

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
        before = next(filter(_is_seen, self._back_from(*first[:2])), None)
        behind = next(filter(_is_seen, self._from(*last[:2])), None)
        around = before.by if before and behind and before.by is behind.by else edit
        if around not in known and around.began == around.went_on:
            return False  # one text of theirs, in which it stands: that is whole without it
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
        now, then = rows = SharedRow(found), SharedRow(found)
        for block in self._blocks:
            for piece in block.pieces:
                if (piece.by is base or piece is self._line_end) and not piece.gone:
                    if piece.seen and piece.rows and (now.holds or then.holds):
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
                        row.take(own, others, piece.extent if seen else START)
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
        if by is not self._base and piece is not self._line_end and by.on and by not in edits:
            found.append(by)
        return found, gone

    def without(self, edits: Collection[WovenEdit], text: str) -> str:
        """The text, which is this one, as it would be with some edits off (those that are on)."""
        edits = self._with_line_end({*edits})
        reader, at = TextReader(text, START), START
        parts: list[str] = []
        for block in self._blocks:
            if block.folded:  # so none of these edits is in it
                at = after(at, block.extent)
                parts.append(reader.until(at))
                continue
            for piece in block.pieces:
                said = ""
                if piece.seen:
                    at = after(at, piece.extent)
                    said = reader.until(at)
                if piece.is_seen(edits):
                    parts.append(said if piece.seen else piece.text)
        return "".join(parts)

    # Inside.

    def _find(self, at: Position) -> tuple[int, int, Position]:
        """The first piece of the text that ends at a place or behind it; where it begins."""
        number, index, start = self._near
        blocks = self._blocks
        if at <= start:
            number, index, start = 0, 0, START
            while (end := after(start, blocks[number].extent)) < at:
                number, start = number + 1, end
        pieces = blocks[number].pieces
        while True:
            while index < len(pieces):
                piece = pieces[index]
                if piece.seen:
                    end = after(start, piece.extent)
                    if end >= at:
                        return number, index, start
                    start = end
                index += 1
            number, index = number + 1, 0
            while (end := after(start, blocks[number].extent)) < at:
                number, start = number + 1, end
            pieces = blocks[number].pieces

    def _open(self, at: Position) -> tuple[int, int]:
        """Where a piece belongs that begins at a place: right behind what stands before it."""
        if at == START:
            return 0, 0
        number, index, start = self._find(at)
        piece = self._blocks[number].pieces[index]
        extent = between(start, at)
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
            pieces = block.pieces
            half = len(pieces) // 2
            while half < len(pieces) - 1 and (pieces[half].gone or pieces[half].by != self._base):
                half += 1  # what belongs to one edit stays in one block
            self._blocks.insert(number + 1, PieceBlock(pieces[half:]))
            del pieces[half:]
            if index >= half:
                return number + 1, index - half
        return number, index

    def _goes_on(self, change: Change, edit: WovenEdit) -> bool:
        """Put a text into a piece of the same edit, where it is at its end or in the midst."""
        if change.start == START:
            return False
        number, index, start = self._find(change.start)
        block = self._blocks[number]
        piece = block.pieces[index]
        if piece.by is not edit or piece.gone:
            return False
        piece.put_in(between(start, change.start), change.new_text)
        self._changed(number)
        self._near = (number, index, start)
        return True

    def _remove(self, piece: WovenPiece) -> None:
        """Take out a piece that is not in the text."""
        if piece.block is not None:
            piece.block.pieces.remove(piece)
            piece.block = None
            self._near = (0, 0, START)

    def _behind_gone(
        self, place: tuple[int, int], *, in_line: bool, whole: bool
    ) -> tuple[int, int]:
        """The same place, behind pieces that are gone; before those that the next is there for.

        ``in_line``: before the end of the last line, if it is one of them. ``whole``: these are
        whole rows, so before what is gone from the beginning of the row below.
        """
        number, index = place
        gone: list[tuple[WovenPiece, tuple[int, int]]] = []
        while True:
            pieces = self._blocks[number].pieces
            if index < len(pieces):
                piece = pieces[index]
                if piece.seen or (in_line and piece is self._line_end):
                    break
                gone.append((piece, (number, index)))
                index += 1
            elif number + 1 < len(self._blocks):
                number, index = number + 1, 0
            else:
                return number, index
        if in_line and not piece.seen:
            return number, index
        found = number, index
        while whole and gone and gone[-1][0].cols:
            _, found = gone.pop()
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
            stop = after(start, piece.extent)
            if stop > end:
                stop = end
                block.pieces.insert(index, behind := piece.cut(between(start, end)))
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
        self._take_line_end(edit)
        return number, index

    def _begins(
        self, number: int, index: int, first: WovenPiece, start: Position, edit: WovenEdit
    ) -> Position:
        """Where an edit begins: one that would end the last line, where something else does."""
        end = self._line_end
        if end is None or not end.seen or first.seen or first.by is not edit:
            return start
        stands = next(filter(_is_seen, self._back_from(number, index)), None)
        if stands is not end or not first.text.startswith(_NEWLINES):
            return start
        return next(self._placed([end]))[3]

    def _take_line_end(self, edit: WovenEdit) -> None:
        """What takes the last line out takes its end out, too, though it be not in the text."""
        end = self._line_end
        if end is None or end.seen or edit in end.gone:
            return
        at = place_of(end, self._blocks)
        line = next((piece for piece in self._back_from(*at) if piece.by.on), None)
        if line is None or edit not in line.gone:
            return
        stands = next(filter(_is_seen, self._back_from(*at)), None)
        if stands is None or not stands.cols:
            end.gone += (edit,)
            edit.pieces.append(end)

    def _note_beside_end(self, place: tuple[int, int], piece: WovenPiece, *, whole: bool) -> None:
        """Note who puts in what is not the last line's end, though it reads so, beside that.

        ``whole``: it begins a line.
        """
        end = self._line_end
        if end is None or end.by.needs is None:
            return
        near = (self._back_from(*place), self._from(*place)) if end.seen else ()
        blank = whole and piece.text.startswith(_NEWLINES)
        if any(next(filter(_is_seen, one), None) is end for one in near) or (
            blank and place > place_of(end, self._blocks)
        ):
            end.by.needs[piece.by], piece.by.tied = False, True

    def _with_line_end(self, edits: set[WovenEdit]) -> set[WovenEdit]:
        """Edits that are switched, and the last line's end where that is to come or go."""
        end = self._line_end
        if not edits or end is None:
            return edits
        edits.discard(end.by)
        at, known = place_of(end, self._blocks), end.by.needs or {}

        def stays(one: WovenPiece) -> bool:
            return one.by.on is not (one.by in edits)

        line = next(filter(stays, self._back_from(*at)), None)
        behind = next(filter(stays, self._from(*at)), None)
        needed = (
            line is not None
            and behind is not None
            and (line.cols > 0 or line.by in known)
            and (behind.by in known or not behind.text.startswith(_NEWLINES))
        )
        return edits if needed is end.by.on else {*edits, end.by}

    def _with_corrections(self, edits: Iterable[WovenEdit]) -> set[WovenEdit]:
        """Edits that are switched, and those that correct what these leave."""
        switched = set(edits)
        for one in self._corrections:
            fits = all(
                (edit.on is not (edit in switched)) is on for edit, on in (one.needs or {}).items()
            )
            if fits is not one.on:
                switched.add(one)
        return self._with_line_end(switched)

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

    def _placed(
        self, pieces: Iterable[WovenPiece]
    ) -> Iterator[tuple[int, int, WovenPiece, Position]]:
        """Pieces in order, each with its block and index and where it begins or would."""
        wanted: dict[PieceBlock, set[WovenPiece]] = {}
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
                    start = after(start, piece.extent)

    def _start_of(self, number: int) -> Position:
        """Where a block begins."""
        starts = self._starts
        while len(starts) <= number:
            starts.append(after(starts[-1], self._blocks[len(starts) - 1].extent))
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


def _is_seen(piece: WovenPiece) -> bool:
    return piece.seen


class StillWeave:
    """A weave as it stood at one moment; it has the same bytes where that has bytes."""

    __slots__ = ("_blocks", "_count", "_facts", "_keys")

    def __init__(self, weave: Weave) -> None:
        self._count, self._keys = weave._count, list(weave._edits)
        known = [edit for edit in weave._edits.values() if isinstance(edit, WovenEdit)]
        numbers: dict[WovenEdit, int] = {one: at for at, one in enumerate([weave._base, *known])}
        number = numbers.__getitem__
        self._facts = [
            (
                *(edit.key, edit.on, edit.began, edit.went_on, edit.tied),
                None
                if edit.needs is None
                else {numbers[other]: on for other, on in edit.needs.items()},
            )
            for edit in known
        ]
        self._blocks = [
            (block.extent, block.folded)
            if block.folded
            else [
                (
                    *(numbers[piece.by], tuple(map(number, piece.gone))),
                    *(piece.extent, piece.seen, piece.text if piece.is_told else None),
                )
                for piece in block.pieces
            ]
            for block in weave._blocks
        ]

    def weave(self) -> Weave:
        """It, as it was."""
        weave = Weave(START)
        weave._count = self._count
        edits, weave._blocks = [weave._base], []
        nowhere = PieceBlock([])
        weave._edits = dict.fromkeys(self._keys, nowhere)
        for key, on, began, went_on, tied, _ in self._facts:
            edits.append(edit := WovenEdit(key, began))
            edit.on, edit.went_on, edit.tied = on, went_on, tied
            weave._edits[key] = edit
        for edit, (*_, needs) in zip(edits[1:], self._facts, strict=True):
            if needs is not None:
                edit.needs = {edits[number]: on for number, on in needs.items()}
                weave._corrections.append(edit)
        for said in self._blocks:
            if isinstance(said, tuple):
                weave._blocks.append(block := PieceBlock([]))
                block.fold(said[1].of(weave._base, weave._edits), said[0])
                weave._edits.update(dict.fromkeys(said[1].keys, block))
                continue
            found = []
            for by, gone, extent, seen, text in said:
                found.append(
                    piece := WovenPiece(edits[by], tuple(edits[n] for n in gone), extent, text)
                )
                piece.seen = seen
                if piece.by.key == _LINE_END:
                    weave._line_end = piece
                for edit in (piece.by, *piece.gone):
                    edit.pieces.append(piece)
            weave._blocks.append(PieceBlock(found))
        return weave
