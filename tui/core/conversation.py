"""The conversation: its blocks as a front end shows them, its items as a server is sent them.

A request may be a *continuation* (``previous_response_id`` and only the new items) when the
parent ended well on this connection, everything beside the input is as it was, and the new
input starts with what the parent saw and said (PROTOCOL.md section 5). Else it says all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from itertools import compress, islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct, field

from tui.core.attachments import MADE_FOR_PROMPT
from tui.core.run_report import RunReport
from tui.core.steps import Work, finished
from tui.core.text.pieces import Pieces
from tui.core.wire.events import CALL_OUTPUTS as CALL_OUTPUTS

if TYPE_CHECKING:
    from tui.core.images import Image

Item = dict[str, object]
EntryKind = Literal["prompt", "context", "note", "output", "answer", "cut", "summary"]
"""``summary``: what stands for all that was said before it (`core.compaction`)."""

_UNCOMPARED = frozenset({"client_metadata", "prompt_cache_key"})
"""Members of a request that may change on a chain."""
_BEHIND_FAMILY = "\t"


class HistoryEntry(Struct):
    """One item of the conversation."""

    kind: EntryKind
    item: Item
    origin: str = ""
    """Endpoint, a tab, and the model that said it; empty for what we say."""
    tokens: int = 0
    """An estimate of the item in `counted`."""
    counted: Item | None = None
    turn: int = 0
    """The last one that had begun."""
    image: Image | None = None
    """What it shows; its bytes are in the item."""

    @property
    def text(self) -> str:
        """What we say in it; empty for what a model said."""
        content = self.item.get("content")
        parts = content if isinstance(content, list) else []
        return "".join(str(part.get("text", "")) for part in parts if not self.origin)


def user_item(text: str) -> Item:
    """A message of the user."""
    return {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": text}],
    }


class History:
    """All items of a conversation and the chain that the server holds."""

    def __init__(self) -> None:
        self.entries: list[HistoryEntry] = []
        self.past: list[HistoryEntry] = []
        """Those that are not sent any more, as a summary stands for them; what stood for others at
        the beginning of this start is one of them."""
        self.left_out: list[HistoryEntry] = []
        """Those that the user does not want to be sent any more."""
        self.rewritten = 0
        """Grows when an entry goes, or says something else; to add one is no such thing."""
        self.turn = 0
        """The one that runs, or ran last."""
        self._shown = _Shown("")
        self._seen: tuple[int, int, list[HistoryEntry]] = (0, 0, [])
        """When it was looked for images, among how many entries, and those that bring some."""
        self._blind: set[str] = set()
        """Origins of models that are shown no images."""
        self._parent = ""
        self._covered = 0
        """Entries that the parent saw or said."""
        self.sent = 0
        """Entries that a request had, with which the next one begins."""
        self._signature = ""
        self._sent_signature = ""
        self._warm_signature = ""
        """Of the prewarm under way; empty once anything else was sent."""

    @property
    def is_compacted(self) -> bool:
        """Its beginning is a summary of what was said before."""
        return bool(self.entries) and self.entries[0].kind == "summary"

    def begin_with(self, entries: list[HistoryEntry]) -> None:
        """These were said before all others."""
        self.entries[:0] = entries
        self.rewritten += 1
        self._shown = _Shown("")

    def prompt(self, text: str) -> None:
        """The user says something."""
        self._add("prompt", user_item(text))

    def context(self, text: str) -> None:
        """We quote files and tell what changed; outdated by the next full request."""
        if text:
            self._add("context", user_item(text))

    def note(self, text: str) -> None:
        """We tell what happened; unlike a quoted file it stays true."""
        if text:
            self._add("note", user_item(text))

    def image(self, image: Image, item: Item) -> None:
        """The user attached an image; its message says what it is."""
        self._add("note", item).image = image

    @property
    def images(self) -> list[Image]:
        """Those that are in it, in their order."""
        return [one.image for one in self._with_images() if one.image is not None]

    def _with_images(self) -> list[HistoryEntry]:
        """The entries that bring them; what was looked at is not looked at again."""
        rewritten, count, found = self._seen
        if rewritten != self.rewritten or count > len(self.entries):
            count, found = 0, []
        if count < len(self.entries):
            found = [*found, *(e for e in islice(self.entries, count, None) if e.image is not None)]
            self._seen = self.rewritten, len(self.entries), found
        return found

    def shows_images(self, origin: str, *, shown: bool) -> None:
        """Whether this model is shown images; else what is said of them stands for each."""
        if shown is (origin not in self._blind):
            return
        (self._blind.discard if shown else self._blind.add)(origin)
        if self.images and self._shown.origin == origin:
            self._shown = _Shown("")
            self.break_chain()

    def count_images(self, tokens: Callable[[Image], int]) -> None:
        """Have each image count as it does for who is asked next."""
        for entry in self._with_images():
            count = 0 if entry.image is None else tokens(entry.image)
            if entry.tokens != count or entry.counted is not entry.item:
                entry.tokens, entry.counted = count, entry.item
                self.rewritten += 1

    def leave_out_image(self, name: str) -> int:
        """Have no images of this name sent any more; returns how many there were."""
        entries = self._with_images()
        found = [one for one in entries if one.image is not None and one.image.name == name]
        for entry in found:
            assert entry.image is not None
            entry.item, entry.image = user_item(entry.image.left_out), None
        if found:
            self._put([*self.entries])
        return len(found)

    def output(self, item: Item, origin: str) -> None:
        """The model finished an item."""
        self._add("output", item, origin)

    def answer(self, call: Item, output: object, *, failed: bool = False) -> HistoryEntry:
        """A call is answered; `amend` may put right what the entry says until it is sent."""
        return self._add("answer", answer_item(call, output, failed=failed))

    def amend(self, entry: HistoryEntry, item: Item) -> None:
        """Put right what one of the last entries answers its call."""
        self.rewritten += 1
        entry.item = item
        at = len(self.entries) - 1
        while at >= 0 and self.entries[at] is not entry:
            at -= 1
        if 0 <= at < len(self._shown.items):
            self._shown.items[at] = item

    def cut_call(self, call: Item, report: str) -> HistoryEntry:
        """A call that the server never finished: replayed only when all is said again."""
        self._add("cut", call)
        return self._add("cut", answer_item(call, report, failed=True))

    def _add(self, kind: EntryKind, item: Item, origin: str = "") -> HistoryEntry:
        entry = HistoryEntry(kind, item, origin, turn=self.turn)
        self.entries.append(entry)
        return entry

    def leave_out(self, goes: Callable[[HistoryEntry], bool], instead: Item | None = None) -> bool:
        """Take these out of what is sent, or have them say this instead; False: there are none."""
        kept, gone = list[HistoryEntry](), list[HistoryEntry]()
        for entry in self.entries:
            if not goes(entry):
                kept.append(entry)
                continue
            gone.append(entry)
            if instead is not None:
                item = {**entry.item, **instead}
                kept.append(HistoryEntry(entry.kind, item, entry.origin, turn=entry.turn))
        if gone:
            self.left_out += gone
            self._put(kept)
            self.sent = 0
        return bool(gone)

    def rewind(self, turn: int, call_id: str = "") -> list[HistoryEntry]:
        """Take out all from a turn on (or what follows the answer of a call in it).

        Returns what goes; `go_forward` puts it back.
        """
        entries = self.entries
        if any(one.turn >= turn for one in self.past):  # what was said stands there again
            entries, self.past = self.whole(), []
        ours, last = ("prompt", "context", "note"), len(entries)
        first = next(
            (n for n, one in enumerate(entries) if one.turn >= turn and one.kind in ours), last
        )
        answers = (
            n
            for n, one in enumerate(entries)
            if call_id and one.kind in ("answer", "cut") and one.item.get("call_id") == call_id
        )
        if call_id:
            first = max(answers, default=last - 1) + 1
            while first < last and entries[first].kind == "answer":
                first += 1
        self.sent = min(self.sent, first)
        gone = entries[first:]
        self._put(entries[:first])
        return gone

    def go_forward(self, entries: list[HistoryEntry], note: HistoryEntry | None) -> None:
        """Put back what was taken out; the note that said so goes."""
        self._put([one for one in self.entries if one is not note] + entries)

    def has_begin_of(self, turn: int) -> bool:
        """False if a summary stands for what was said before a turn, and that is not at hand."""
        begin = next(iter(self.past or self.entries), None)
        return begin is None or begin.kind != "summary" or turn > begin.turn

    def remember(self, entries: list[HistoryEntry]) -> None:
        """This is what the summary at the beginning stands for; an earlier one may begin it."""
        turn = entries[-1].turn  # of which the end may stand behind the summary
        known = [one.item for one in self.entries if one.turn == turn]
        fresh = [one for one in entries if one.turn != turn or one.item not in known]
        self.past = fresh + self.past[1:]

    def whole(self) -> list[HistoryEntry]:
        """All that is at hand, as it was said, whether or not a summary stands for it."""
        if not self.past:
            return [*self.entries]
        known = set(map(id, self.past))
        rest = (one for one in self.entries if one.kind != "summary" and id(one) not in known)
        return [*self.past, *rest]

    def _put(self, entries: list[HistoryEntry]) -> None:
        self.rewritten += 1
        self.entries[:] = entries
        self._shown = _Shown("")
        self.break_chain()

    def withdraw(self, count: int = 1) -> list[str]:
        """Take the last prompts out again, at most ``count``, and return their texts in order.

        Those that the model has begun to answer stay. What was made for them goes, too: it is made
        anew.
        """
        texts: list[str] = []
        last = len(self.entries) - 1
        while last >= 0 and len(texts) < count:
            entry = self.entries[last]
            if entry.kind == "prompt":
                texts.insert(0, entry.text)
                del self.entries[last], self._shown.items[last : last + 1]
            elif entry.kind not in ("context", "note"):
                break
            last -= 1
        while texts and last >= 0 and self.entries[last].kind in ("context", "note"):
            if self.entries[last].text.startswith(MADE_FOR_PROMPT):
                del self.entries[last], self._shown.items[last : last + 1]
            last -= 1
        self.sent = min(self.sent, len(self.entries))
        if texts:
            self.rewritten += 1
            self.break_chain()
        return texts

    def warm(self, head: Mapping[str, object], origin: str) -> dict[str, object]:
        """The request that prepares the server for the first prompt (PROTOCOL.md section 2.2).

        Its input is empty: a server that forgets a prewarm's input loses nothing.
        """
        self.break_chain()
        self._warm_signature = _signature(head, origin)
        return {**head, "input": [], "generate": False}

    def warmed(self, response_id: str) -> None:
        """The server is prepared: what is said next continues from there."""
        if response_id and self._warm_signature:
            self._parent, self._covered = response_id, 0
            self._signature, self._warm_signature = self._warm_signature, ""

    def continues(self, head: Mapping[str, object], origin: str) -> bool:
        """True if a request with these members beside the input may be a continuation."""
        return bool(self._parent) and _signature(head, origin) == self._signature

    def restart(self, context: str, left_out: tuple[str, ...] = ()) -> None:
        """Prepare to say all: outdated quotations go, ``context`` stands before the prompt.

        Notes that begin as one of ``left_out`` go, too.
        """
        self.rewritten += 1
        self.break_chain()
        self.sent = 0
        stays = [_stays(entry, left_out) for entry in self.entries]
        if not all(stays):
            self.entries = [*compress(self.entries, stays)]
            self._shown.items = [*compress(self._shown.items, stays)]
        if context:
            end = len(self.entries)
            prompts = (n for n in reversed(range(end)) if self.entries[n].kind == "prompt")
            at = next(prompts, end)
            entry = HistoryEntry("context", user_item(context), turn=self.turn)
            self.entries.insert(at, entry)
            if at < len(self._shown.items):
                self._shown.items.insert(at, entry.item)

    def standing(self, left_out: tuple[str, ...] = ()) -> list[HistoryEntry]:
        """What `restart` would leave."""
        return [entry for entry in self.entries if _stays(entry, left_out)]

    def compact(self, count: int, instead: list[HistoryEntry]) -> None:
        """Have these stand for the first ``count`` entries; all is said again."""
        self.rewritten += 1
        self.break_chain()
        gone, self.entries[:count] = self.entries[:count], instead
        if any(one.kind != "summary" for one in gone):  # else only the summary is another one
            known, first = set(map(id, self.past)), not self.past
            self.past += [
                one
                for one in gone
                if id(one) not in known
                and (first if one.kind == "summary" else one.kind != "context")
            ]
        self._shown = _Shown("")
        self.sent = 0

    def break_chain(self) -> None:
        """The server no longer holds what was said."""
        self._parent, self._covered = "", 0
        self._warm_signature = ""

    def lost(self, endpoint: str) -> None:
        """The connection to this endpoint is gone, and what it held with it."""
        if self._signature.startswith(f"{endpoint}{_BEHIND_FAMILY}"):
            self.break_chain()

    def preparing(self, origin: str) -> Work[None]:
        """Have all items as a request shows them to this model, with pauses."""
        if self._shown.origin != origin:
            self._shown = _Shown(origin, sees=origin not in self._blind)
        yield from self._shown.taking(self.entries)

    def unprepared(self, origin: str) -> int:
        """How many items `preparing` would have to look at."""
        known = len(self._shown.items) if self._shown.origin == origin else 0
        return len(self.entries) - known

    def request(self, head: Mapping[str, object], origin: str) -> dict[str, object]:
        """The next request: a continuation where that is allowed."""
        request = dict(head)
        self._warm_signature = ""
        self._sent_signature = _signature(head, origin)
        self.sent = len(self.entries)
        finished(self.preparing(origin))
        if self.continues(head, origin):
            request["previous_response_id"] = self._parent
            request["input"] = self._shown.fresh(self.entries, self._covered)
        else:
            self.break_chain()
            request["input"] = self._shown.all()
        return request

    def ended(self, response_id: str, *, chainable: bool) -> None:
        """A response ended; call it before its calls are answered."""
        if chainable and response_id:
            self._parent, self._covered = response_id, len(self.entries)
            self._signature = self._sent_signature
            self._shown.sent()
        else:
            self.break_chain()


def _stays(entry: HistoryEntry, left_out: tuple[str, ...]) -> bool:
    """Whether an entry stands where all is said anew; ``left_out``: how notes begin that do not."""
    out = bool(left_out) and entry.kind == "note" and entry.text.startswith(left_out)
    return entry.kind != "context" and not out


def answer_item(call: Item, output: object, *, failed: bool = False) -> Item:
    """The output item of a call."""
    kind = str(call.get("type"))
    item: Item = {
        "type": CALL_OUTPUTS.get(kind, "function_call_output"),
        "call_id": call.get("call_id"),
        "output": output,
    }
    if kind == "apply_patch_call":
        item["status"] = "failed" if failed else "completed"
    return item


NO_ANSWER = "no output: it was never run"
"""What a call is answered that nobody answered: a server would refuse the request."""
_AT_ONCE = 2000
"""Entries."""


class _Shown:
    """The items of a conversation as a model may be shown them, each made once.

    Calls of one id are answered in their order: some servers count theirs anew in every response.
    """

    def __init__(self, origin: str, *, sees: bool = True) -> None:
        self.origin = origin
        self._sees = sees
        self.items: list[Item | None] = []
        """By entry; None: not for this model."""
        self._open: dict[tuple[object, object], list[Item]] = {}
        """Calls that lack an answer, by its type and id."""
        self._told: set[int] = set()
        """Identities of those of which the server knows that they have none."""
        self._ids: set[object] = set()
        """No two items have one: a server that said one twice refuses both."""

    def taking(self, entries: list[HistoryEntry]) -> Work[None]:
        """Take in what came since, with pauses."""
        while (at := len(self.items)) < len(entries):
            for entry in entries[at : at + _AT_ONCE]:
                self._take(entry)
            yield _AT_ONCE

    def sent(self) -> None:
        """What was asked for last, with all answers that lacked, is known to the server."""
        self._told = self._lacking()

    def all(self) -> list[Item]:
        """All of them, each call that lacks an answer with one right behind it."""
        return _answered([item for item in self.items if item is not None], self._lacking())

    def fresh(self, entries: list[HistoryEntry], covered: int) -> list[Item]:
        """Those behind the first ``covered``, and answers that the calls before them lack."""
        lacking = self._lacking() - self._told
        known = self.items[:covered] if lacking else ()
        owed = [_no_answer(item) for item in known if item is not None and id(item) in lacking]
        fresh = zip(self.items[covered:], entries[covered:], strict=True)
        told = [item for item, entry in fresh if item is not None and entry.kind != "cut"]
        return [*owed, *_answered(told, lacking)]

    def _lacking(self) -> set[int]:
        return {id(item) for calls in self._open.values() for item in calls}

    def _take(self, entry: HistoryEntry) -> None:
        item = _portable(entry, self.origin)
        if entry.image is not None and not self._sees:
            item = user_item(entry.image.left_out)
        if item is not None:
            name, kind, call_id = item.get("id"), str(item.get("type")), item.get("call_id")
            if isinstance(name, str) and name in self._ids:
                item = {key: value for key, value in item.items() if key != "id"}
            elif isinstance(name, str):
                self._ids.add(name)
            if entry.kind == "cut":
                pass  # it has its answer right behind it
            elif kind in CALL_OUTPUTS:
                self._open.setdefault((CALL_OUTPUTS[kind], call_id), []).append(item)
            elif waiting := self._open.get((kind, call_id)):
                waiting.pop(0)
                if not waiting:
                    del self._open[kind, call_id]
        self.items.append(item)


def _answered(items: list[Item], lacking: set[int]) -> list[Item]:
    """The items, each call that lacks an answer with one right behind it."""
    if not lacking:
        return items
    told: list[Item] = []
    for item in items:
        told.append(item)
        if id(item) in lacking:
            told.append(_no_answer(item))
    return told


def _no_answer(call: Item) -> Item:
    return answer_item(call, NO_ANSWER, failed=True)


def _signature(head: Mapping[str, object], origin: str) -> str:
    """What must be equal on a chain: the endpoint, too, for only it knows the parent."""
    kept = {name: value for name, value in head.items() if name not in _UNCOMPARED}
    return _family(origin) + _BEHIND_FAMILY + json.dumps(kept, sort_keys=True)


def _family(origin: str) -> str:
    """The endpoint of an origin."""
    return origin.partition("\t")[0]


def _portable(entry: HistoryEntry, origin: str) -> Item | None:
    """An item as another model may be shown it; None: it cannot be."""
    if not entry.origin or entry.origin == origin:
        return entry.item
    if entry.item.get("type") in ("reasoning", "compaction"):
        return None
    if _family(entry.origin) == _family(origin):
        return entry.item
    return {name: value for name, value in entry.item.items() if name not in ("id", "status")}


class BlockKind(StrEnum):
    """What a block of the conversation is."""

    USER = "user"
    """`title`, if there is one, is said for a text that duetto wrote in the user's stead."""
    TEXT = "text"
    """The model's prose (Markdown)."""
    REASONING = "reasoning"
    """Reasoning or its summary; folded."""
    TOOL = "tool"
    """A tool call other than apply_patch: `title` is the call, the text its result in brief."""
    PATCH = "patch"
    """Hunks of one apply_patch call or one patch in prose: read `Workspace.hunks` by call id."""
    NOTE = "note"
    """What happened, in words: stopped, switched, reconnected."""
    PACE = "pace"
    """Behind an answer: how long it took, and would have taken at 50 tokens/s."""
    RUN = "run"
    """A command and its output; `title` is the command line, `report` what it says of tests."""


BlockState = Literal["open", "done", "cut", "failed"]


class Block(Struct, eq=False):
    """One piece of the conversation."""

    kind: BlockKind
    turn: int
    title: str = ""
    speaker: str = ""
    """``fast`` or ``deep`` for what a model said."""
    call_id: str = ""
    state: BlockState = "open"
    report: RunReport | None = None
    progress: str = ""
    """How far a run has come: ``37/120``."""
    outdated: bool = False
    """The texts that it judged are others now."""
    rewritten: int = 0
    """How often another text took the place of what was said."""
    _said: Pieces = field(default_factory=Pieces)

    @property
    def length(self) -> int:
        """Characters so far."""
        return self._said.length

    @property
    def text(self) -> str:
        """The whole text so far."""
        return self._said.text

    def append(self, text: str) -> None:
        """Add a piece."""
        self._said.append(text)

    def say(self, text: str) -> None:
        """Have this text instead, however much was said before."""
        self.rewritten += 1
        self._said.say(text)

    def text_since(self, start: int) -> str:
        """What came behind the first ``start`` characters; costs what that is long."""
        return self._said.between(start, self.length)

    def text_between(self, start: int, end: int) -> str:
        """The characters from ``start`` to before ``end``."""
        return self._said.between(start, end)


UNREAD = Block(BlockKind.NOTE, 0, state="done")
"""Stands for each block of an earlier session that is not read yet."""


class Transcript(Struct, eq=False):
    """All blocks of a conversation, oldest first; blocks are appended, never removed."""

    blocks: list[Block] = field(default_factory=list)

    def add(self, block: Block) -> int:
        """Append a block; returns its index."""
        self.blocks.append(block)
        return len(self.blocks) - 1


class PastPrompt(NamedTuple):
    """What was asked, and where."""

    text: str
    here: bool = True
    """In this workspace."""
    place: str = ""
    """The name of the workspace's folder."""
