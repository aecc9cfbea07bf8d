"""What prompts attach, what is pinned, and what of the open files is left out of requests."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from tui.core.attachments import (
    ATTACHED,
    MADE,
    MADE_FOR_PROMPT,
    MOST_FILES,
    Mention,
    folders_in,
    in_folder,
    mentions,
    names_image,
    pasted_paths,
)
from tui.core.context import TOTAL_LIMIT_CHARS, FileInContext
from tui.core.files import ascii_shown, checked_path, counted, is_image_name, why_private
from tui.engine.notices import Trouble
from tui.engine.open_files import SEND, OpenFiles
from tui.engine.ports import Ports
from tui.errors import EditRefused, ImageRefused

if TYPE_CHECKING:
    from tui.core.compaction import KnownFacts
    from tui.core.images import Image
    from tui.core.outline import Symbol
    from tui.core.session_record import AllAttached
    from tui.core.text.buffer import Buffer, Mark
    from tui.engine.images import Images

Maker = Callable[[], Awaitable[str]]
"""Makes what is attached by a name that is no file; empty: there is nothing."""


_BYTES_PER_TOKEN = 3.6
"""Of files that are not open: they are not read for it."""
_COUNTED_LINES = 5_000
"""Longer texts are told by their size on the disk."""
_MOST_OFFERED = 8


class Attached(NamedTuple):
    """A file, or some lines of it."""

    path: str
    lines: tuple[int, int] | None = None

    def __str__(self) -> str:
        return str(Mention(self.path, self.lines))


class Attachments:
    """Stay in the conversation until they are dropped: their text is sent once, then changes."""

    def __init__(self, open_files: OpenFiles, ports: Ports) -> None:
        self.makers: dict[str, Maker] = {}
        """By the names of `MADE`; ``selection`` is made here."""
        self.pins: list[str] = []
        """Files that stay through a new conversation, and words that are to be kept in mind."""
        self.dropped: set[str] = set()
        """What is not sent: names of files, and of lines of them."""
        self._open_files, self._ports = open_files, ports
        self.turn: Callable[[], int] = int
        """The number of the one that runs, or ran last."""
        self.rewound_turns: Callable[[], Collection[int]] = tuple
        """Those that were taken out of the conversation: what they attached is out with them."""
        self._parts: dict[Attached, int] = {}
        """Each with the turn that named it."""
        self._marks: dict[Attached, tuple[Buffer, Mark, Mark]] = {}
        """Where lines begin and end that were attached, for they move with their text."""
        self._moved: dict[Attached, tuple[int, int]] = {}
        """Where they were at the end of an earlier start."""
        self._made: list[str] = []
        self._outline: tuple[tuple[int, int], list[Symbol]] | None = None
        """Of which text, and its symbols."""
        self._sizes: dict[str, tuple[tuple[int, int], int]] = {}
        """Name -> identity and revision of the buffer, and the tokens of the text then."""

    @cached_property
    def images(self) -> Images:
        """Those that prompts name."""
        from tui.engine.images import Images  # after the first paint

        return Images(self._open_files.state, self._ports)

    def forget(self) -> None:
        """A new conversation: what is pinned stays attached."""
        self._parts = {one: 0 for one in self._parts if self._pinned(one)}
        for one in self._marks.keys() - self._parts.keys():
            self._unmark(one)
        self._made = [_pinned_words(pin) for pin in self.pins if not self._is_file(pin)]
        self.dropped = set()

    def rewound(self, notes: Collection[str]) -> None:
        """Only these are told now: words that are pinned are told again, if they went."""
        pinned = [_pinned_words(pin) for pin in self.pins if not self._is_file(pin)]
        self._made += [one for one in pinned if one not in notes and one not in self._made]

    def kept(self) -> AllAttached:
        """All of it, as it is kept of a session."""
        from tui.core.session_record import AllAttached  # after the first paint

        return AllAttached(
            tuple((one.path, *(one.lines or (0, 0)), n) for one, n in self._parts.items()),
            tuple(self.pins),
            tuple(sorted(self.dropped)),
            tuple(one for one in self._made if not one.startswith(MADE_FOR_PROMPT)),
            tuple(self._now(one).lines or (0, 0) for one in self._parts),
        )

    def bring_back(self, kept: AllAttached) -> None:
        """Have what an earlier start had; `open_all` opens the files before a request."""
        self._parts = {
            Attached(path, (first, last) if first else None): turn
            for path, first, last, turn in kept.parts
        }
        moved = zip(self._parts, kept.lines, strict=False)  # older sessions have none of these
        self._moved = {one: lines for one, lines in moved if one.lines is not None}
        self.pins, self.dropped, self._made = [*kept.pins], {*kept.dropped}, [*kept.untold]

    def begin_as(self, other: Attachments) -> None:
        """Whatever a prompt can name there can be named here, too."""
        self.makers, self.dropped = other.makers, {*other.dropped}
        self._made = [one for one in other._made if not one.startswith(MADE_FOR_PROMPT)]
        if "images" in other.__dict__:
            self.images.begin_as(other.images)

    async def open_all(self) -> list[str]:
        """Have the attached files at hand; those that cannot be, go, and are returned."""
        workspace, gone = self._open_files.workspace, list[str]()
        for part in [*self._parts]:
            try:
                workspace.open(part.path)
            except EditRefused:
                del self._parts[part]
                gone.append(str(part))
            await asyncio.sleep(0)
        self.pins = [pin for pin in self.pins if pin not in gone]
        return gone

    def facts(self, images: Iterable[Image]) -> list[KnownFacts]:
        """What is pinned, and all images, for who makes the conversation shorter."""
        from tui.core.compaction import KnownFacts  # with the first compaction

        pinned = KnownFacts("Pinned by the user", [*self.pins])
        return [pinned, KnownFacts("Images that the user attached", [*map(str, images)])]

    def in_context(self, paths: Iterable[str]) -> list[FileInContext]:
        """These buffers, and what is attached beside them, as the model is told of them."""
        workspace, open_files = self._open_files.workspace, self._open_files
        paths = dict.fromkeys(
            path for path in paths if path in workspace.buffers and path not in self.dropped
        )
        out = self.rewound_turns()
        parts = {
            one: turn
            for one, turn in self._parts.items()
            if (turn not in out or self._pinned(one)) and not self._is_dropped(one)
        }
        attached = [
            self._in_context(Attached(path, lines))
            for path, lines in parts
            if path not in paths
            and (lines is None or Attached(path) not in parts)
            and path in workspace.buffers
            and not workspace.documents.records[path].gone
        ]
        return [*map(open_files.open_file, paths), *attached]

    def _now(self, part: Attached) -> Attached:
        """The same with its lines as they are now: they move with their text."""
        lines = self._moved.get(part, part.lines)
        buffer = self._open_files.workspace.buffers.get(part.path)
        if lines is None or buffer is None:
            return Attached(part.path, lines)
        known = self._marks.get(part)
        if known is None or known[0] is not buffer:
            end = min(lines[1], buffer.line_count) - 1
            first = buffer.mark(min(lines[0] - 1, end), right=True)
            known = buffer, first, buffer.mark(end, len(buffer.lines[end]))
            self._marks[part] = known
        _, first, last = known
        return Attached(part.path, (min(first.line, last.line) + 1, last.line + 1))

    def _unmark(self, part: Attached) -> None:
        """Let its lines move no more: they are those that it is called by."""
        self._moved.pop(part, None)
        if known := self._marks.pop(part, None):
            known[0].release(*known[1:])

    def _in_context(self, part: Attached) -> FileInContext:
        file = self._open_files.open_file(part.path)
        return replace(file, attached=True, lines=self._now(part).lines, called=str(part))

    def take_made(self) -> list[str]:
        """The texts that were made for this prompt, each to be sent once."""
        made, self._made = self._made, []
        return made

    async def gather(self, texts: Iterable[str]) -> None:
        """Attach what prompts name; what cannot be attached is told in a sentence."""
        wanted = dict.fromkeys(one for text in texts for one in mentions(text))
        told, refused = list[str](), dict[str, str]()
        self.images.begin()
        for mention in wanted:
            try:
                told += await self.attach(mention)
            except ImageRefused as error:
                self.images.fault(str(error))
            except EditRefused as error:
                refused[f"@{ascii_shown(str(mention))}"] = str(error)
        if refused:
            were = "were" if len(refused) > 1 else "was"
            self._refuse(f"{', '.join(refused)} {were} not attached", "; ".join(refused.values()))
        if told:
            self._open_files.state.note(0, f"Attached: {', '.join(told)}")

    async def attach(self, mention: Mention) -> list[str]:
        """Attach one thing; returns it in words, with its tokens. Raises EditRefused.

        An image goes with the next request, if the model sees.
        """
        name = mention.name
        if mention.lines is None and name in MADE:
            return await self._make(name)
        files = self._ports.files
        try:
            path = checked_path(name, files.root, files.named_root)
        except EditRefused as error:
            if is_image_name(name):
                await self._outside_image(name, error)
                return []
            if name in (".", "./"):
                await self._open_files.catalogue.prepare()
                if paths := self._listed(name):
                    return await self._folder("./", paths)
                raise EditRefused("there is no file in the workspace") from None
            if mention.like_a_path:
                raise
            return []
        await self._open_files.catalogue.prepare([path])
        buffers = self._open_files.workspace.buffers
        if path not in buffers and (paths := self._listed(path)) and path not in paths:
            return await self._folder(name, paths)
        if is_image_name(path) and mention.lines is None:
            return await self._image(path)
        if (part := await self._meant(mention, path)) is not None:
            told = await self._file(part, ask=True)
            return [told] if told else []
        if mention.like_a_path:
            raise EditRefused(f"there is no file '{name}'")
        return []

    async def _meant(self, mention: Mention, path: str) -> Attached | None:
        """The file, or lines of one, that a name means; None: it means nothing here."""
        buffers = self._open_files.workspace.buffers
        if path in buffers or await asyncio.to_thread(self._is_there, path):
            return Attached(path, mention.lines)
        whole = str(mention._replace(name=path))  # a file may be called as lines are named
        if mention.lines is not None and await asyncio.to_thread(self._is_there, whole):
            return Attached(whole)
        return self._symbol(mention.name)

    def drop(self, name: str) -> bool:
        """Leave a file out of what is sent until it is added or named; False: it is not there.

        Of a folder all files that are attached.
        """
        inside = {*self._listed(name)}
        found = {str(one) for one in self._parts if name in (str(one), one.path)}
        moved = [str(one) for one in self._parts if str(self._now(one)) == name]
        if moved and not found:  # as the request that said these lines anew called them
            name, found = moved[0], {moved[0]}
        found |= {str(one) for one in self._parts if one.path in inside}
        self.pins = [pin for pin in self.pins if pin != name and pin not in found]
        if not found and name not in self._open_files.workspace.buffers:
            return False
        self.dropped |= found if inside else {name}
        return True

    def take_back(self, name: str) -> bool:
        """Send again what was left out, of a folder all of it; False: nothing was."""
        inside = {name, *self._listed(name)}
        again = {one for one in self.dropped if not inside.isdisjoint((one, _file_of(one)))}
        self.dropped -= again
        return bool(again)

    def unpin(self, words: str) -> bool:
        """Have words kept in mind no longer; False: they are not pinned, or name a file."""
        if words not in self.pins or self._is_file(words):
            return False
        self.pins.remove(words)
        if (told := _pinned_words(words)) in self._made:
            self._made.remove(told)
        else:
            self._made.append(f"{ATTACHED}no longer to be kept in mind:\n{words}")
        return True

    async def pin(self, words: str) -> str:
        """Keep a file attached, or words in mind; returns what to say. Raises EditRefused."""
        called = words.removeprefix("@")
        named = self._known(called, whole=True) if " " in called else ""  # or it is words
        mention = Mention(named) if named else (mentions(f"@{called}") or [Mention("")])[0]
        whole = bool(named) or str(mention) == called.replace('"', "")
        if whole and mention.name in MADE and words.startswith("@"):
            raise EditRefused("it is made anew for each prompt: name it in one")
        if whole and mention.name not in MADE:
            before = set(self._parts)
            if is_image_name(mention.name):
                raise EditRefused("an image cannot be pinned: name it in a prompt")
            told = await self.attach(mention)
            inside = {*self._listed(mention.name)}
            wanted = [one for one in self._parts if one not in before or one.path in inside]
            wanted = wanted or [one for one in self._parts if one.path == mention.name]
            self.pins += [str(one) for one in wanted if str(one) not in self.pins]
            if told:
                return f"Pinned: {', '.join(told)}"
            if inside:
                raise EditRefused("no file in it can be sent")
        if words in self.pins:
            return f"It is pinned already: {words}"
        self.pins.append(words)
        self._made.append(_pinned_words(words))
        return f"Pinned, and told to the model with your next prompt: {words}"

    def tokens_of(self, one: FileInContext) -> int:
        """Tokens of a text as it is now; looked at again only when it changed."""
        buffer = one.buffer
        state = (id(buffer), buffer.revision)
        known = self._sizes.get(one.name)
        if known is None or known[0] != state:
            from tui.core.tokens import tokens  # after the first paint

            first, last = one.lines or (1, buffer.line_count)
            known = (state, tokens("\n".join(buffer.lines[first - 1 : last])))
            self._sizes[one.name] = known
        return known[1]

    def sizes(self, paths: Iterable[str]) -> dict[str, int]:
        """About how many tokens each of these files has; what is open is counted as it stands."""
        buffers, found, rest = self._open_files.workspace.buffers, dict[str, int](), list[str]()
        for path in paths:
            if is_image_name(path):
                continue  # its tokens have nothing to do with its bytes
            buffer = buffers.get(path)
            if buffer is not None and buffer.line_count <= _COUNTED_LINES:
                found[path] = self.tokens_of(FileInContext(buffer))
            else:
                rest.append(path)
        sizes = self._ports.sizes(rest)
        return found | {path: round(size / _BYTES_PER_TOKEN) for path, size in sizes.items()}

    def offered(self, letters: str) -> list[tuple[str, str]]:
        """What else can be attached that begins with these letters: each with what it is."""
        found = [(name, words) for name, words in MADE.items() if name.startswith(letters)]
        if letters:
            found += folders_in(letters, self._open_files.catalogue.paths())
            found += self._offered_symbols(letters)
        return found

    def _offered_symbols(self, letters: str) -> list[tuple[str, str]]:
        """Those of the active file; of one name the first, which is what the name attaches."""
        from tui.core.outline import extent_in  # after the first paint

        known, found = self._symbols(), dict[str, str]()
        for one in known:
            if one.name in found or not one.name.startswith(letters):
                continue
            if not one.name.isidentifier() or len(found) == _MOST_OFFERED:
                continue
            path = self._open_files.status.active_path
            buffer = self._open_files.workspace.buffers[path]
            first, last = extent_in(known, buffer.lines, one.name) or (one.line, one.line)
            part = FileInContext(buffer, lines=(first + 1, last + 1))
            where = f"{one.kind} in line {one.line + 1} of the active file".strip()
            found[one.name] = f"~{counted(self.tokens_of(part), 'token')}, {where}"
        return [*found.items()]

    def pasted(self, text: str) -> list[str]:
        """The files and folders whose paths were pasted; empty: it is something else.

        They are of the workspace, and of images anywhere. One that is not listed has to be named
        by a whole path: a word is a word.
        """
        files, found = self._ports.files, list[str]()
        for path, whole in pasted_paths(text, files.root, files.named_root):
            known = self._known(path, whole=whole)
            if not known:
                return []
            found.append(known)
        return found

    async def named_images(self, words: str) -> list[str]:
        """How images are named in a prompt: files, or where no words are the one on the clipboard.

        Raises EditRefused: there is none, or it cannot be sent.
        """
        if not words.strip():
            return [await self.images.paste()]
        paths = self.pasted(words) or [words.strip().removeprefix("@").strip("\"'")]
        for path in paths:
            await self.images.look(path)
        return paths

    def shown_images(self, draft: str) -> list[str]:
        """See `Images.shown`; nobody is asked where a draft can hardly name one."""
        return self.images.shown(draft) if names_image(draft) else []

    def _known(self, path: str, *, whole: bool) -> str:
        """A pasted path as it is attached; empty: there is nothing like that."""
        paths = self._open_files.catalogue.paths()
        at = bisect_left(paths, path)
        if at < len(paths) and paths[at] == path:
            return path if whole or "/" in path or "." in path else ""
        if not whole:
            return ""
        if in_folder(path, paths):
            return f"{path.rstrip('/')}/"
        outside = path.startswith("/")
        place = path if outside else f"{self._ports.files.root}/{path}"
        return path if self.images.is_there(place) else ""

    def _symbols(self) -> list[Symbol]:
        """Those of the active file, looked for again when it changed."""
        path = self._open_files.status.active_path
        buffer = self._open_files.workspace.buffers.get(path)
        if buffer is None or buffer.line_count > _COUNTED_LINES // 2:
            return []
        state = (id(buffer), buffer.revision)
        if self._outline is None or self._outline[0] != state:
            from tui.core.outline import symbols  # after the first paint

            found = symbols(path, buffer.lines, lambda row, col: False)
            self._outline = state, [one for one in found if one is not None]
        return self._outline[1]

    async def _folder(self, name: str, paths: Sequence[str]) -> list[str]:
        found, looked, left_out, chars = dict[str, int](), 0, 0, 0
        for path in paths:
            if len(found) == MOST_FILES or chars > TOTAL_LIMIT_CHARS:
                break
            looked += 1
            try:
                await self._file(Attached(path), ask=False)
            except EditRefused:
                left_out += 1
                continue
            # a link is the file that it leads to
            shown = self._open_files.open_file(self._open_files.workspace.open(path).path)
            if shown.name not in found:
                found[shown.name] = self.tokens_of(shown)
                chars += sum(map(len, shown.buffer.lines))
            await asyncio.sleep(0)
        if (rest := len(paths) - looked) or left_out:
            kinds = [f"{MOST_FILES} files are attached at once, {rest} more are there"] * bool(rest)
            kinds += [f"the text of {left_out} of its files cannot be sent"] * bool(left_out)
            self._refuse(f"Not all of {name} was attached", ", and ".join(kinds))
        size = f"{counted(len(found), 'file')}, about {counted(sum(found.values()), 'token')}"
        return [f"{name} ({size})"] if found else []

    async def _file(self, part: Attached, *, ask: bool) -> str:
        path, open_files = part.path, self._open_files
        await open_files.catalogue.prepare([path])
        reason = open_files.privacy(path)
        if ask:
            await self._permitted(path, reason)
        elif reason:
            raise EditRefused(f"it is private: {reason}")
        path = open_files.workspace.open(path).path  # one file has one name
        part = part._replace(path=path)
        if open_files.workspace.documents.quotable(path) is None:
            if ask and part.lines is None and await asyncio.to_thread(self._shows, path):
                await self._image(path)
                return ""
            why = open_files.workspace.read_only(path) or "it is not text"
            raise EditRefused(why.partition(", so it is read-only")[0])
        if part.lines is not None:
            self._unmark(part)  # the lines are meant that have these numbers now
            _check_lines(open_files.workspace.buffers[path], part.lines)
        out = self.rewound_turns()
        if path in self.dropped:  # of what was left out only this comes back
            self._parts = {one: turn for one, turn in self._parts.items() if one.path != path}
        if part not in self._parts or self._parts[part] in out:
            self._parts[part] = self.turn()
        self.dropped -= {path, str(part)}
        shown = self._in_context(part)
        return f"{part} (about {counted(self.tokens_of(shown), 'token')})"

    async def _outside_image(self, name: str, error: EditRefused) -> None:
        """One that the user named by its whole path, or dropped. Raises ImageRefused."""
        if not name.startswith(("/", "~/")):
            raise ImageRefused(f"{error}: name it by its whole path") from error
        await self._permitted(name, why_private(name))
        await self.images.take_outside(name)

    async def _image(self, path: str) -> list[str]:
        """Have an image of the workspace, or one that was pasted, go with the next request."""
        found = await asyncio.to_thread(self._ports.files.read, path)
        if found.data is None and not found.refusal and self.images.has_pasted(path):
            await self.images.take_pasted(path)
            return []
        await self._open_files.catalogue.prepare([path])
        await self._permitted(path, self._open_files.privacy(path))
        await self.images.take_found(path, found)
        return []

    async def _permitted(self, path: str, reason: str) -> None:
        """Ask where there is a reason to. Raises EditRefused."""
        if reason and not await self._open_files.consents.ask(SEND, path, reason):
            refused = ImageRefused if is_image_name(path) else EditRefused
            raise refused(f"{path} is private: {reason}")

    async def _make(self, name: str) -> list[str]:
        if name == "selection":
            return [await self._file(self._selection(), ask=True)]
        maker = self.makers.get(name)
        text = await maker() if maker is not None else ""
        if not text:
            nothing = {
                "diff": "nothing differs from HEAD",
                "failures": "no run of the tests has failed here (/verify runs them)",
            }
            raise EditRefused(nothing.get(name, "there is nothing"))
        from tui.core.tokens import tokens  # after the first paint

        head = f"{MADE_FOR_PROMPT}{name}\n"  # one that never went was of an older state
        self._made = [one for one in self._made if not one.startswith(head)]
        self._made.append(f"{head}{text}")
        return [f"@{name} (about {counted(tokens(text), 'token')})"]

    def _selection(self) -> Attached:
        path = self._open_files.status.active_path
        found = self._open_files.open_file(path).selection if path else None
        if found is None or found[0] == found[1]:
            raise EditRefused("nothing is selected in the editor")
        (first, _), (last, col) = sorted(found)
        return Attached(path, (first + 1, max(last + (col > 0), first + 1)))

    def _symbol(self, name: str) -> Attached | None:
        """What is called so in the open files, the active one first."""
        from tui.core.outline import extent  # after the first paint

        status, buffers = self._open_files.status, self._open_files.workspace.buffers
        paths = dict.fromkeys([status.active_path, *status.open_paths, *buffers])
        for path in paths:
            buffer = buffers.get(path)
            rows = None if buffer is None else extent(path, buffer.lines, name)
            if rows is not None:
                return Attached(path, (rows[0] + 1, rows[1] + 1))
        return None

    def _listed(self, name: str) -> list[str]:
        """The files of a folder."""
        paths = self._open_files.catalogue.paths()
        return in_folder(name, paths)

    def _shows(self, path: str) -> bool:
        """Whether a file whose name does not say so is an image."""
        from tui.core.images import size_of_image  # where something is no text

        try:
            return size_of_image(self._ports.files.read(path).data or b"") is not None
        except ValueError:
            return True

    def _is_there(self, path: str) -> bool:
        found = self._ports.files.read(path)
        if found.refusal:
            raise EditRefused(found.refusal)
        return found.data is not None

    def _pinned(self, part: Attached) -> bool:
        return str(part) in self.pins

    def _is_dropped(self, part: Attached) -> bool:
        return not self.dropped.isdisjoint((part.path, str(part)))

    def _is_file(self, pin: str) -> bool:
        return any(pin == str(one) for one in self._parts)

    def _refuse(self, what: str, why: str) -> None:
        state = self._open_files.state
        state.trouble(Trouble(what, why, severity="warning", noted=True))
        state.note(0, f"{what}: {why}")


def _check_lines(buffer: Buffer, lines: tuple[int, int]) -> None:
    """Raises EditRefused: there is nothing in them; the editor numbers an empty last one, too."""
    first, last = lines[0], min(lines[1], buffer.line_count)
    if first > last:
        raise EditRefused(f"{buffer.path} ends at line {buffer.line_count}")
    if not any(buffer.lines[first - 1 : last]):
        where = f"line {first}" if first == last else f"lines {first}-{last}"
        raise EditRefused(f"nothing is in {where} of {buffer.path}")


def unquoted(name: str) -> str:
    """What is attached is called so, where it may be written as in a prompt."""
    called = name.removeprefix("@")
    written = mentions(f"@{called}") if called.startswith('"') else []
    return str(written[0]) if written else called


def _file_of(part: str) -> str:
    """Whose lines these are."""
    return part.rpartition(":")[0]


def _pinned_words(words: str) -> str:
    return f"{ATTACHED}to be kept in mind from now on:\n{words}"
