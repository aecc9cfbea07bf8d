"""The pieces of which a text is woven, and the edits that put them in or took them out.

They stand in blocks. One at which nobody looks is kept as bytes: very many hunks wait so.
"""

from __future__ import annotations

import marshal
from collections.abc import Collection, Hashable, Iterable

from tui.core.text.buffer import ended
from tui.core.text.change_set import Position, TextReader, end_of, offset_in

START = (0, 0)


def after(start: Position, extent: Position) -> Position:
    """Where a text of some extent ends that begins there."""
    if extent[0]:
        return (start[0] + extent[0], extent[1])
    return (start[0], start[1] + extent[1])


def between(start: Position, end: Position) -> Position:
    """The extent of what is between two places."""
    if start[0] == end[0]:
        return (0, end[1] - start[1])
    return (end[0] - start[0], end[1])


class WovenEdit:
    """All that somebody did to a text that goes, and comes back, together."""

    __slots__ = ("began", "key", "needs", "on", "pieces", "tied", "went_on")

    def __init__(self, key: Hashable, began: int) -> None:
        self.key = key
        self.on = True
        self.pieces: list[WovenPiece] = []
        """Those that it put in or took out; some may be in the weave no more."""
        self.began = self.went_on = began
        """When its first and its last change was made, as a number of changes."""
        self.needs: dict[WovenEdit, bool] | None = None
        """It is on as long as others are on, or off: it corrects what these leave."""
        self.tied = False
        """Its own or another one's `needs` name edits as objects."""


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
        self.block: PieceBlock | None = None
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

    def end_lines(self, newline: str) -> None:
        """Its lines end in another way; it is as long as before."""
        if self._said is not None:
            self._said = ended(self.text, newline)

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
            self._said = TextReader(text, START).until(at)
            rest = text[len(self._said) :]
        behind = WovenPiece(self.by, self.gone, between(at, self.extent), rest)
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
        self.tail = START
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
                self.parts, self.tail = [self.text], START
            part = self.parts[-1]
            offset = offset_in(part, START, between(self.tail, at))
            self.parts[-1] = part[:offset] + text + part[offset:]
        self.extent = after(after(at, end_of(START, text)), between(at, self.extent))


class PieceBlock:
    """Some pieces that follow each other; as bytes until somebody asks for one."""

    __slots__ = ("_extent", "_pieces")

    def __init__(self, pieces: list[WovenPiece]) -> None:
        self._pieces: list[WovenPiece] | FoldedPieces = pieces
        self._extent: Position | None = None
        for piece in pieces:
            piece.block = self

    @property
    def pieces(self) -> list[WovenPiece]:
        """They, as objects."""
        if isinstance(self._pieces, FoldedPieces):
            self._pieces = self._pieces.unfold()
            for piece in self._pieces:
                piece.block = self
        return self._pieces

    @property
    def folded(self) -> FoldedPieces | None:
        """The bytes that it is."""
        return self._pieces if isinstance(self._pieces, FoldedPieces) else None

    @property
    def extent(self) -> Position:
        """Of those that are in the text."""
        if self._extent is None:
            extent = START
            for piece in self.pieces:
                if piece.seen:
                    extent = after(extent, piece.extent)
            self._extent = extent
        return self._extent

    def changed(self) -> None:
        """It has another extent."""
        self._extent = None

    def fold(self, fold: FoldedPieces, extent: Position) -> None:
        """Become bytes."""
        for piece in self.pieces:
            piece.block = None
        self._pieces, self._extent = fold, extent


class SharedRow:
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


class FoldedPieces:
    """Pieces as bytes, with all that is known of their edits but the keys."""

    __slots__ = ("_base", "_data", "_edits", "keys")

    def __init__(
        self,
        base: WovenEdit,
        edits: dict[Hashable, WovenEdit | PieceBlock],
        keys: list[Hashable],
        data: bytes,
    ) -> None:
        """``edits``: where those of a weave are found by their keys."""
        self._base, self._edits = base, edits
        self.keys, self._data = keys, data

    def of(self, base: WovenEdit, edits: dict[Hashable, WovenEdit | PieceBlock]) -> FoldedPieces:
        """The same in another weave."""
        return FoldedPieces(base, edits, self.keys, self._data)

    def unfold(self) -> list[WovenPiece]:
        """Have them, and their edits, as objects again."""
        import zlib

        facts, said = marshal.loads(zlib.decompress(self._data))
        own = [self._base]
        for key, (on, began, went_on) in zip(self.keys, facts, strict=True):
            edit = self._edits[key] = WovenEdit(key, began)
            edit.on, edit.went_on = on, went_on
            own.append(edit)
        pieces = []
        for by, gone, extent, seen, text in said:
            piece = WovenPiece(own[by], tuple(own[number] for number in gone), extent, text)
            piece.seen = seen
            for edit in {piece.by, *piece.gone} - {self._base}:
                edit.pieces.append(piece)
            pieces.append(piece)
        return pieces


def packed(base: WovenEdit, own: list[WovenEdit], pieces: list[WovenPiece]) -> bytes:
    """What a fold keeps of pieces and their edits."""
    import zlib  # only very many edits need it

    numbers = {edit: at for at, edit in enumerate([base, *own])}
    facts = [(edit.on, edit.began, edit.went_on) for edit in own]
    said = [
        (
            *(numbers[piece.by], tuple(numbers[edit] for edit in piece.gone)),
            *(piece.extent, piece.seen, piece.text if piece.is_told else None),
        )
        for piece in pieces
    ]
    return zlib.compress(marshal.dumps((facts, said)), 1)


def pieces_of(edits: Collection[WovenEdit]) -> list[WovenPiece]:
    """The pieces that come or go when edits are switched."""
    found = dict.fromkeys(piece for edit in edits for piece in edit.pieces if piece.block)
    return [piece for piece in found if piece.is_seen(edits) is not piece.seen]


def place_of(piece: WovenPiece, blocks: list[PieceBlock]) -> tuple[int, int]:
    """The number of a piece's block, and its index there."""
    assert piece.block is not None
    return blocks.index(piece.block), piece.block.pieces.index(piece)
