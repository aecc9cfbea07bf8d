"""Images that prompts name: read when they are sent, and sent where the model sees them.

An image goes, or the prompt does not: what is asked about a picture makes no sense without it.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import PurePath
from typing import NamedTuple

from msgspec.structs import replace

from tui.core.attachments import mentions
from tui.core.conversation import History, Item
from tui.core.files import FileRead, amount, counted, is_image_name
from tui.core.images import (
    MOST_BYTES,
    UNKNOWN,
    Image,
    ImageRules,
    image_item,
    is_blind,
    size_of_image,
    why_no_image,
)
from tui.core.wire.endpoint_facts import REHEARSAL
from tui.core.wire.events import ErrorEvent, Failed
from tui.engine.notices import Trouble
from tui.engine.ports import Ports, RoleSpec
from tui.engine.session_state import SessionState
from tui.errors import EditRefused, ImageRefused

ANOTHER = "choose a model that takes images with /model, or take the name out of the prompt"
_WORDS_TOKENS = 40
"""Of what is said beside an image, or instead of it."""


class _Read(NamedTuple):
    image: Image
    item: Item
    data: bytes


class Images:
    """Of one session: what waits for the next request, what was pasted, who sees what."""

    def __init__(self, state: SessionState, ports: Ports) -> None:
        self._state, self._ports = state, ports
        self._waiting: dict[str, _Read] = {}
        """By name: those that go with the next request."""
        self._faults: list[str] = []
        """Why others cannot."""
        self._missing: list[str] = []
        """Names of what is not there; it may be in the conversation."""
        self.are_named = False
        """The prompt that was looked at last is about images: it does not go without."""
        self._pasted: dict[str, bytes] = {}
        """From the clipboard, by the names that they got."""
        self._sees: dict[str, bool | None] = {}
        """By origin: what was found out of models whose data does not say it."""
        self._told: set[tuple[str, int]] = set()
        self._looked_at: dict[str, str] = {}
        """Names in drafts, and what is shown of them."""
        self._looking: set[asyncio.Task[None]] = set()

    # -- a prompt on its way

    def begin(self) -> None:
        """Another prompt goes: what an earlier one named does not, and files may have changed."""
        self._looked_at = {}
        self._waiting, self._faults, self._missing = {}, [], []

    def fault(self, why: str) -> None:
        """The prompt names something that cannot be sent."""
        self._faults.append(why)

    def begin_as(self, other: Images) -> None:
        """Know what was pasted there, and who sees."""
        self._pasted, self._sees = dict(other._pasted), dict(other._sees)

    def has_pasted(self, name: str) -> bool:
        """Something from the clipboard has this name."""
        return name in self._pasted

    async def take_pasted(self, name: str) -> None:
        """Have it go with the next request. Raises ImageRefused."""
        await self.take(name, self._pasted[name])

    async def take_outside(self, path: str) -> None:
        """A file of this machine beyond the workspace, which the user named whole.

        Raises ImageRefused.
        """
        await self.take(PurePath(path).name, _checked(path, await self._outside(path)), path)

    async def take_found(self, path: str, found: FileRead) -> None:
        """A file of the workspace, or one that was sent and is gone since. Raises ImageRefused."""
        if found.data is None and not found.refusal:
            self._missing.append(path)
        else:
            await self.take(path, _checked(path, found))

    async def take(self, name: str, data: bytes, whole: str = "") -> None:
        """Have an image go with the next request. Raises ImageRefused.

        It is called ``whole`` where the prompt names another one of this name.
        """
        found = await asyncio.to_thread(_read, name, data)
        if self._waiting.get(name, found).image != found.image:
            found = await asyncio.to_thread(_read, whole or f"./{name}", data)
        self._waiting[found.image.name] = found

    async def refusal(self, spec: RoleSpec, history: History) -> Trouble | None:
        """Why the prompt is not to be sent; None: its images go with the next request.

        What is left out of what was said before is noted.
        """
        known = history.images
        names = {image.name for image in known}
        self._faults += [f"there is no file {one}" for one in self._missing if one not in names]
        self.are_named = bool(self._waiting or self._missing)
        if not (self._faults or self._waiting or known):
            return None
        sees = await self._find_out(spec)
        fresh = [one for one in self._waiting.values() if one.image not in known]
        if why := "; ".join(self._faults) or self._why_not(spec, history, fresh, sees):
            self.begin()
            step = ANOTHER if sees is False else ""
            return Trouble("The prompt was not sent", why, step, severity="warning")
        self.settle(spec, history)
        for one in fresh:
            await asyncio.to_thread(self._state.witness.keeps_image, one.data)
            tokens = self.rules(spec).tokens(one.image.width, one.image.height)
            moves = ", animated: a model may see its first frame only" * one.image.animated
            self._state.note(0, f"Attached: {one.image} (about {counted(tokens, 'token')}){moves}")
        self._waiting = {one.image.name: one for one in fresh}
        return None

    def say(self, spec: RoleSpec, history: History) -> None:
        """They go with this request."""
        if not self._waiting:
            return
        for one in self._waiting.values():
            history.image(one.image, one.item)
        self._waiting = {}
        self.settle(spec, history)

    def _why_not(
        self, spec: RoleSpec, history: History, fresh: Iterable[_Read], sees: bool | None
    ) -> str:
        images, rules = [one.image for one in fresh], self.rules(spec)
        if self.are_named and sees is False:
            names = ", ".join([*self._waiting, *self._missing])
            return f"{spec.model} takes text only, and the prompt names {names}"
        for image in images:
            if why := rules.refusal(image, spec.model):
                return why
        shown = history.images if sees is not False else []
        return rules.refusal_of_all([*shown, *images], spec.model) if images else ""

    # -- who sees

    def rules(self, spec: RoleSpec) -> ImageRules:
        """How a model counts images, and what it takes."""
        return spec.image_rules or UNKNOWN

    def sees(self, spec: RoleSpec) -> bool | None:
        """Whether a model takes images; None: nobody has said."""
        found = self._sees.get(spec.origin)
        return spec.images if found is None else found

    def learns(self, spec: RoleSpec, history: History, refusal: ErrorEvent | Failed) -> bool:
        """Whether a server refused a request because its model takes no images."""
        blind = bool(history.images) and is_blind(refusal.code, refusal.message)
        if blind:
            self._sees[spec.origin] = False
        return blind

    def settle(self, spec: RoleSpec, history: History) -> None:
        """This model is asked next: what it is shown, and how that is counted."""
        sees, rules, images = self.sees(spec) is not False, self.rules(spec), history.images
        history.shows_images(spec.origin, shown=sees)
        history.count_images(
            lambda image: _WORDS_TOKENS + sees * rules.tokens(image.width, image.height)
        )
        if images and not sees and (spec.origin, len(images)) not in self._told:
            self._told.add((spec.origin, len(images)))
            names = ", ".join(dict.fromkeys(image.name for image in images))
            words = f"{spec.model} takes text only: it is not sent {names}"
            self._state.note(0, words)

    async def _find_out(self, spec: RoleSpec) -> bool | None:
        """What the model's server says, where nothing else does; asked once."""
        origin, catalogue = spec.origin, self._ports.catalogue
        unsaid = spec.images is None and origin not in self._sees
        if unsaid and catalogue is not None and spec.endpoint != REHEARSAL:
            self._sees[origin] = await catalogue().sees(spec.endpoint, spec.model)
        return self.sees(spec)

    # -- while a prompt is written

    async def paste(self) -> str:
        """Take the image on the clipboard; returns its name. Raises EditRefused: there is none."""
        port = self._ports.pictures
        if port is None:
            raise EditRefused("there is no clipboard here")
        found = await asyncio.to_thread(port().copied)
        if isinstance(found, str):
            raise EditRefused(found)
        image = (await asyncio.to_thread(_read, "it", found)).image
        name = f"pasted-{image.sha[:4]}.{image.kind}"  # another start gives others other names
        self._looked_at[name] = str(replace(image, name=name))
        self._pasted[name] = found
        return name

    def is_there(self, path: str) -> bool:
        """Whether a path beyond the workspace is a file that may be an image."""
        port = self._ports.pictures
        return is_image_name(path) and port is not None and port().is_there(path)

    def shown(self, draft: str) -> list[str]:
        """What is known of the images that a draft names: ``shot.png 1280x720 · 84.0 kB``.

        First of all that the model takes none, if it is known. Those that nobody has looked at
        are looked at, and told by the next notice.
        """
        names = [one.name for one in mentions(draft) if one.lines is None]
        named = [name for name in names if is_image_name(name) or name in self._pasted]
        for name in named:
            if name not in self._looked_at:
                self._looked_at[name] = ""
                task = asyncio.get_running_loop().create_task(self._look_aside(name))
                self._looking.add(task)
                task.add_done_callback(self._looking.discard)
        found = [words for name in named if (words := self._looked_at.get(name))]
        spec = self._state.roles.get(self._state.status.role)
        blind = spec is not None and self.sees(spec) is False
        return [f"{spec.model} takes text only", *found] if found and blind and spec else found

    async def _look_aside(self, name: str) -> None:
        with suppress(EditRefused):  # it is said when it is sent
            await self.look(name)
        self._state.restated()

    async def look(self, name: str) -> str:
        """Name and size of an image in the workspace or beyond. Raises EditRefused."""
        data = self._pasted.get(name) or _checked(name, await self._found(name))
        called = PurePath(name).name if name.startswith(("/", "~")) else name
        self._looked_at[name] = str((await asyncio.to_thread(_read, called, data)).image)
        return self._looked_at[name]

    async def _found(self, path: str) -> FileRead:
        if path.startswith(("/", "~")):
            return await self._outside(path)
        return await asyncio.to_thread(self._ports.files.read, path)

    async def _outside(self, path: str) -> FileRead:
        if self._ports.pictures is None:
            raise ImageRefused(f"{path} is outside the workspace")
        return await asyncio.to_thread(self._ports.pictures().read, path)


def _checked(path: str, found: FileRead) -> bytes:
    """The bytes of a file. Raises ImageRefused."""
    if (size := found.size_bytes or len(found.data or b"")) > MOST_BYTES:
        most = f"at most {amount(MOST_BYTES)} are sent: make it smaller"
        raise ImageRefused(f"{path} has {amount(size)}, and {most}")
    if found.refusal:
        raise ImageRefused(found.refusal)
    if found.data is None:
        raise ImageRefused(f"there is no file {path}")
    return found.data


def _read(name: str, data: bytes) -> _Read:
    """In a thread. Raises ImageRefused."""
    try:
        found = size_of_image(data)
    except ValueError as error:
        raise ImageRefused(f"{name} cannot be sent: {error}") from error
    if found is None:
        raise ImageRefused(why_no_image(name, data))
    sha = hashlib.sha256(data).hexdigest()
    image = Image(name, found.kind, found.width, found.height, len(data), sha, found.animated)
    return _Read(image, image_item(image, data), data)
