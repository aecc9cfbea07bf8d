"""Images that prompts name: sent once to who sees, refused before they are sent to who does not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.fakes import World, settle
from tests.support.pictures import MemoryPictures, gif, jpeg, png
from tests.support.stored_sessions import resumed, stored
from tests.support.turns import begun, notes
from tui.core.images import ImageRules, data_of
from tui.core.wire import events
from tui.engine import intents
from tui.engine.ports import RoleSpec
from tui.errors import EditRefused

BLIND_WORDS = "this model does not support image input"
SEES = RoleSpec("fast", "quick-1", "main", images=True)
BLIND = RoleSpec("deep", "slow-1", "main", images=False)


def world(spec: RoleSpec = SEES, **files: str | bytes) -> World:
    place = World({"shot.png": png(), "a.py": "a\n", **files}, roles={"fast": spec, "deep": BLIND})
    place.pictures = MemoryPictures(**{"old shot.png": png(10, 10)})
    place.ports.pictures = lambda: place.pictures
    return place


def shown(request: dict[str, Any]) -> list[bytes]:
    """The bytes of the images in a request."""
    return [data for item in request["input"] if (data := data_of(item))]


def said(request: dict[str, Any]) -> str:
    return "\n".join(
        part["text"]
        for item in request["input"]
        for part in item.get("content", ())
        if part.get("type") == "input_text"
    )


async def ask(place: World, text: str) -> dict[str, Any]:
    (await begun(place, text)).finishes("yes")
    await settle()
    return place.wire.requests[-1]


async def held(place: World, text: str) -> str:
    """The prompt is not sent; returns why, in words."""
    count = len(place.wire.requests)
    place.session.submit(intents.Prompt(text))
    await settle()
    assert len(place.wire.requests) == count, "it was sent"
    assert place.session.status.unsent == text
    (told,) = place.session.drain().troubles
    assert told.what == "The prompt was not sent"
    assert notes(place)[-1].startswith("The prompt was not sent"), "it is said once"
    return f"{told.why}: {told.next_step}"


async def test_an_image_is_sent_once_and_said_with_its_size_and_tokens() -> None:
    place = world()
    request = await ask(place, "what is wrong in @shot.png?")
    assert shown(request) == [png()]
    assert "Attached by the user: @shot.png\nPNG image, 1280x720 pixels" in said(request)
    (told,) = [one for one in notes(place) if one.startswith("Attached")]
    assert told.startswith("Attached: shot.png 1280x720 · ")
    assert told.endswith(" (about 920 tokens)")
    request = await ask(place, "and the left side of @shot.png?")
    assert shown(request) == [], "it goes on from the one that has it"
    place.files.data["shot.png"] = jpeg()
    request = await ask(place, "and now @shot.png?")
    assert shown(request) == [jpeg()], "it was another one when it was sent"


async def test_a_prompt_may_begin_with_the_path_of_an_image() -> None:
    place = world()
    assert shown(await ask(place, "./shot.png what is wrong here?")) == [png()]
    why = await held(place, "/tmp/gone.png what is wrong here?")
    assert "gone.png" in why


async def test_all_is_said_again_with_its_images_in_their_places() -> None:
    place = world()
    await ask(place, "look at @shot.png")
    await ask(place, "go on")
    place.session.services.requests.history.break_chain()
    request = await ask(place, "again")
    assert shown(request) == [png()]
    where = [bool(data_of(item)) for item in request["input"]].index(True)
    assert "look at" in str(request["input"][where + 1])


async def test_a_model_that_takes_text_only_is_not_sent_the_prompt() -> None:
    place = world(RoleSpec("fast", "quick-1", "main", images=False))
    why = await held(place, "what is @shot.png?")
    assert why.startswith("quick-1 takes text only, and the prompt names shot.png: choose a model")
    request = await ask(place, "what is a.py?")
    assert shown(request) == []


async def test_a_switch_to_a_blind_model_says_so_and_leaves_the_images_out() -> None:
    place = world()
    await ask(place, "what is @shot.png?")
    place.session.submit(intents.Switch("deep"))
    await settle()
    assert notes(place)[-1] == "slow-1 takes text only: it is not sent shot.png"
    request = await ask(place, "go on")
    assert shown(request) == []
    assert "@shot.png\nPNG image, 1280x720" in said(request)
    assert "The image itself is left out." in said(request)
    place.session.submit(intents.Switch("fast"))
    await settle()
    assert shown(await ask(place, "and you?")) == [png()]


async def test_what_a_server_refuses_is_learnt() -> None:
    place = world(RoleSpec("fast", "quick-1", "main"))
    await begun(place, "what is @shot.png?")
    place.wire.give(events.ErrorEvent(400, "invalid_request_error", BLIND_WORDS))
    await settle()
    assert place.session.status.unsent == "what is @shot.png?"
    place.session.drain()
    assert "takes text only" in await held(place, "what is @shot.png?")
    request = await ask(place, "then without it")
    assert said(request) == "then without it", "the image went with the prompt"
    assert shown(request) == []


class Asked:
    def __init__(self, sees: bool | None) -> None:
        self.answer, self.asked = sees, 0

    async def sees(self, endpoint: str, model: str) -> bool | None:
        self.asked += 1
        return self.answer

    async def learnt_window(self, endpoint: str, model: str) -> int | None:
        return None

    def measured(self, *given: object) -> None: ...


async def test_where_nothing_is_known_the_server_is_asked_once() -> None:
    place = world(RoleSpec("fast", "quick-1", "main"))
    catalogue = Asked(False)
    place.ports.catalogue = lambda: catalogue
    assert "takes text only" in await held(place, "see @shot.png")
    assert "takes text only" in await held(place, "see @shot.png")
    assert catalogue.asked == 1
    place = world(RoleSpec("fast", "quick-1", "main"))
    place.ports.catalogue = lambda: Asked(None)
    assert shown(await ask(place, "see @shot.png")) == [png()]


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("empty.png", b"", "empty.png is empty"),
        ("cut.png", png()[:-30], "cut.png cannot be sent: it is broken"),
        ("text.png", b"hello", "text.png is not an image"),
        ("photo.heic", b"\0\0\0\x18ftypheic", "convert it to PNG or JPEG"),
        ("huge.png", png(9, 9) + bytes(9 << 20), "huge.png has 9.4 MB, and at most 8.4 MB"),
        ("gone.png", None, "there is no file gone.png"),
        ("../up.png", None, "'../up.png' is outside the workspace"),
    ],
)
async def test_an_image_that_cannot_be_sent_holds_the_prompt(
    name: str, data: bytes | None, why: str
) -> None:
    place = world(**({} if data is None else {name: data}))
    assert why in await held(place, f"look at @{name} and @shot.png")
    assert shown(await ask(place, "then not")) == [], "what waited beside it does not go alone"


async def test_limits_of_the_model_are_said_before_sending() -> None:
    rules = ImageRules(max_count=2, kinds=("png",))
    place = world(
        RoleSpec("fast", "quick-1", "main", images=True, image_rules=rules),
        **{"b.png": png(2, 2), "c.png": png(3, 3), "d.gif": gif()},
    )
    assert "quick-1 takes PNG, and d.gif is GIF: convert it" in await held(place, "@d.gif")
    assert len(shown(await ask(place, "@shot.png @b.png"))) == 2
    assert "at most 2 images in a request, and this one would have 3" in await held(place, "@c.png")


async def test_an_animated_image_says_that_a_frame_may_be_all_that_is_seen() -> None:
    place = world(**{"a.gif": gif(frames=2)})
    await ask(place, "@a.gif")
    assert "animated: a model may see its first frame only" in "\n".join(notes(place))


async def test_a_wrong_suffix_is_no_matter() -> None:
    place = world(**{"shot.jpg": png(7, 7), "data.bin": png(8, 8)})
    request = await ask(place, "@shot.jpg and @data.bin")
    assert shown(request) == [png(7, 7), png(8, 8)]
    assert "image/png" in str(request["input"])


async def test_one_beyond_the_workspace_goes_by_its_name_alone() -> None:
    place = world()
    request = await ask(place, 'look: @"/elsewhere/old shot.png"')
    assert shown(request) == [png(10, 10)]
    assert "Attached by the user: @old shot.png\n" in said(request)
    assert "there is no file /elsewhere/gone.png" in await held(place, "@/elsewhere/gone.png")


async def test_two_of_one_name_both_go_and_are_told_apart() -> None:
    place = world()
    place.pictures.files |= {"/elsewhere/a/shot.png": png(3, 3), "/elsewhere/b/shot.png": png(4, 4)}
    request = await ask(place, "@/elsewhere/a/shot.png or @/elsewhere/b/shot.png or @shot.png")
    assert shown(request) == [png(3, 3), png(4, 4), png()]
    named = re.findall(r"Attached by the user: @(.*)", said(request))
    assert named == ["shot.png", "/elsewhere/b/shot.png", "./shot.png"]


async def test_a_private_one_is_asked_about() -> None:
    place = world()
    place.files.private["shot.png"] = "it is ignored"
    place.session.submit(intents.Prompt("see @shot.png"))
    await settle()
    await place.answers(-1)
    assert "shot.png is private: it is ignored" in str(place.session.drain().troubles)
    assert place.wire.requests == []


async def test_the_clipboard_gives_an_image_a_name() -> None:
    place = world()
    images = place.session.attachments.images
    place.pictures.clipboard = png(20, 10)
    first = await images.paste()
    assert re.fullmatch(r"pasted-[0-9a-f]{4}\.png", first)
    assert await images.paste() == first, "the same one has one name"
    place.pictures.clipboard = jpeg()
    second = await images.paste()
    assert second != first
    assert second.endswith(".jpeg")
    assert images.shown(f"see @{second}") == [f"{second} 640x480 · {len(jpeg())} B"]
    assert shown(await ask(place, f"see @{first}")) == [png(20, 10)]
    place.pictures.clipboard = "no desktop"
    with pytest.raises(EditRefused, match="no desktop"):
        await images.paste()


async def test_one_that_is_gone_since_it_was_sent_can_be_named_again() -> None:
    place = world()
    await ask(place, "see @shot.png")
    del place.files.data["shot.png"]
    assert shown(await ask(place, "and the corner of @shot.png?")) == []
    place.session.submit(intents.Switch("deep"))
    await settle()
    assert "slow-1 takes text only, and the prompt names shot.png" in await held(
        place, "and @shot.png?"
    )


async def test_a_draft_says_what_its_images_are() -> None:
    place = world()
    images = place.session.attachments.images
    assert images.shown("see @shot.png and @nothing.png") == []
    await settle()
    (words,) = images.shown("see @shot.png and @nothing.png")
    assert words.startswith("shot.png 1280x720 · ")
    assert images.shown("no name") == []
    place.session.submit(intents.Switch("deep"))
    assert images.shown("see @shot.png") == ["slow-1 takes text only", words]
    place.files.data["shot.png"] = png(8, 8)
    await ask(place, "another thing")
    images.shown("see @shot.png")
    await settle()
    assert images.shown("see @shot.png")[1].startswith("shot.png 8x8 · ")


async def test_context_shows_it_with_its_tokens_and_can_leave_it_out() -> None:
    place = world()
    await ask(place, "see @shot.png")
    place.session.submit(intents.ShowContext())
    await settle()
    (line,) = [one for one in notes(place)[-1].splitlines() if "shot.png" in one]
    assert line.split() == ["960", "shot.png,", "attached"]
    place.session.submit(intents.DropPart("shot.png"))
    await settle()
    assert notes(place)[-1].startswith("Left out from now on: shot.png (960 tokens)")
    request = await ask(place, "and now?")
    assert shown(request) == []
    assert "The image itself is left out." in said(request)


async def test_tokens_follow_the_model_that_answers() -> None:
    rules = ImageRules(base_tokens=1120)
    place = world(RoleSpec("fast", "quick-1", "main", images=True, image_rules=rules))
    await ask(place, "see @shot.png")
    window, history = place.session.services.window(), place.session.services.requests.history
    seen = window.history_tokens()
    place.session.submit(intents.Switch("deep"))
    await settle()
    assert seen - window.history_tokens() == 1120
    assert [image.name for image in history.images] == ["shot.png"]


async def test_a_rewind_takes_the_image_with_its_turn(tmp_path: Path) -> None:
    place = world()
    await ask(place, "first")
    await ask(place, "see @shot.png")
    history = place.session.services.requests.history
    gone = history.rewind(2)
    assert history.images == []
    history.go_forward(gone, None)
    assert [image.name for image in history.images] == ["shot.png"]


async def test_a_session_that_goes_on_has_its_images_again() -> None:
    place = world()
    await ask(place, "see @shot.png")
    kept = stored(place)
    (entry,) = [one for one in kept.entries if one.image]
    assert len(entry.item) < 500, "the bytes are not in the record"
    other = await resumed(place, kept, blobs={entry.image: png()})
    assert shown(await ask(other, "and now?")) == [png()]
    assert [str(one) for one in other.session.services.requests.history.images] == [
        str(one) for one in place.session.services.requests.history.images
    ]


async def test_an_image_whose_bytes_are_lost_is_named_at_least() -> None:
    place = world()
    await ask(place, "see @shot.png")
    other = await resumed(place, stored(place))
    request = await ask(other, "and now?")
    assert shown(request) == []
    assert "@shot.png\nPNG image, 1280x720" in said(request)
    assert "The image itself is lost." in said(request)


async def test_a_summary_names_the_images_that_it_stands_for() -> None:
    place = world()
    await ask(place, "see @shot.png")
    await ask(place, "a second thing")
    await ask(place, "a third thing")
    place.session.submit(intents.Compact(""))
    await settle()
    for wire in [wire for name, wire in place.wires.items() if name.endswith("summary")]:
        assert not shown(wire.requests[-1]), "it is not sent to who summarises"
        wire.lose()
    await settle()
    request = await ask(place, "go on")
    assert shown(request) == []
    assert "Images that the user attached" in said(request)
    assert "shot.png 1280x720 · " in said(request)


async def test_words_with_an_image_wait_for_the_end_of_an_answer() -> None:
    place = world()
    turn = await begun(place, "go")
    place.session.submit(intents.Steer("and like @shot.png"))
    await settle()
    assert place.session.status.queued == ["and like @shot.png"]
    turn.finishes("yes")
    await settle()
    assert shown(place.wire.requests[-1]) == [png()]


async def test_a_prompt_that_is_about_no_image_goes_without_those_said_before() -> None:
    place = World({"shot.png": png()})
    await ask(place, "see @shot.png")
    place.session.submit(intents.Switch("deep"))
    await begun(place, "go on")
    assert shown(place.wire.requests[-1]) == [png()]
    place.wire.give(events.ErrorEvent(400, "invalid_request_error", BLIND_WORDS))
    await settle()
    assert notes(place)[-1] == "slow-1 takes text only: it is not sent shot.png"
    assert shown(place.wire.requests[-1]) == []
    assert said(place.wire.requests[-1]).endswith("go on")
    assert place.session.status.busy
