"""What the bytes of an image say, what it costs, and what a model does not take."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.pictures import gif, jpeg, png, webp
from tui.core.images import (
    UNKNOWN,
    Image,
    ImageRules,
    ImageSize,
    data_of,
    image_item,
    image_of,
    is_blind,
    size_of_image,
    why_no_image,
    without_data,
)

CLAUDE = ImageRules(long_side=1568, pixels_per_token=750, most_tokens=1600, max_bytes=3932160)
TILES = ImageRules(long_side=2048, short_side=768, base_tokens=85, tile=512, tile_tokens=170)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (png(1280, 720), ImageSize("png", 1280, 720)),
        (png(4, 3, animated=True), ImageSize("png", 4, 3, True)),
        (jpeg(640, 480), ImageSize("jpeg", 640, 480)),
        (gif(32, 16), ImageSize("gif", 32, 16)),
        (gif(32, 16, frames=3), ImageSize("gif", 32, 16, True)),
        (webp(300, 200), ImageSize("webp", 300, 200)),
        (webp(300, 200, moves=True), ImageSize("webp", 300, 200, True)),
        (webp(300, 200, form=b"VP8 "), ImageSize("webp", 300, 200)),
        (webp(300, 200, form=b"VP8L"), ImageSize("webp", 300, 200)),
        (b"def f():\n    pass\n", None),
        (b"BM" + bytes(60), None),
        (b"", None),
    ],
)
def test_kind_and_size_stand_in_the_bytes(data: bytes, found: ImageSize | None) -> None:
    assert size_of_image(data) == found


@pytest.mark.parametrize("whole", [png(9, 9), jpeg(), gif(), webp(), webp(form=b"VP8L")])
def test_an_image_that_is_cut_anywhere_is_broken(whole: bytes) -> None:
    for end in range(12, len(whole) - 1):
        with pytest.raises(ValueError, match="broken"):
            size_of_image(whole[:end])


@given(st.sampled_from([png(9, 9), jpeg(), gif(frames=2), webp(), webp(form=b"VP8L")]), st.data())
def test_any_bytes_are_an_image_or_broken_or_none(whole: bytes, data: st.DataObject) -> None:
    changed = bytearray(whole)
    for at in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=8)):
        changed[at] = data.draw(st.integers(0, 255))
    try:
        found = size_of_image(bytes(changed))
    except ValueError:
        return
    assert found is None or (found.width > 0 and found.height > 0)


@pytest.mark.parametrize(
    ("rules", "width", "height", "tokens"),
    [
        (CLAUDE, 200, 200, 54),
        (CLAUDE, 1000, 1000, 1334),
        (CLAUDE, 4000, 3000, 1600),
        (TILES, 1024, 1024, 85 + 4 * 170),
        (TILES, 2048, 4096, 85 + 6 * 170),
        (TILES, 300, 300, 85 + 170),
        (ImageRules(base_tokens=1120), 5000, 5000, 1120),
        (UNKNOWN, 1280, 720, 40 * 23),
        (UNKNOWN, 9000, 9000, 1536),
    ],
)
def test_tokens_follow_the_rule_of_the_model(
    rules: ImageRules, width: int, height: int, tokens: int
) -> None:
    assert rules.tokens(width, height) == tokens


def image(kind: str = "png", width: int = 1280, height: int = 720, size: int = 84_000) -> Image:
    return Image(f"shot.{kind}", kind, width, height, size, "sha")


def test_what_a_model_does_not_take_is_one_sentence_with_what_to_do() -> None:
    rules = ImageRules(max_bytes=3_932_160, max_side=8000, kinds=("png", "jpeg"), animated=False)
    assert rules.refusal(image(), "m") == ""
    for one, words in (
        (image("gif"), "m takes PNG, JPEG, and shot.gif is GIF: convert it"),
        (image(size=6_200_000), "m takes images of at most 3.9 MB, and shot.png has 6.2 MB: make"),
        (
            image(width=9000),
            "m takes images of at most 8,000 pixels a side, and shot.png has 9,000",
        ),
        (Image("a.png", "png", 1, 1, 1, "", True), "m takes no animated images, and a.png is one"),
    ):
        assert rules.refusal(one, "m").startswith(words)
    wide = ImageRules(many=1, many_side=1000).refusal_of_all([image(), image("jpeg", 9)], "m")
    assert wide.startswith("m takes more than 1 images only of 1,000 pixels a side, and shot.png")
    many = ImageRules(max_count=2, max_total_bytes=200_000)
    assert many.refusal_of_all([image()] * 2, "m") == ""
    assert "at most 2 images in a request, and this one would have 3" in many.refusal_of_all(
        [image()] * 3, "m"
    )
    assert "at most 200.0 kB of images in a request" in many.refusal_of_all(
        [image(size=150_000)] * 2, "m"
    )


def test_a_file_that_is_no_image_says_why() -> None:
    assert why_no_image("a.png", b"") == "a.png is empty"
    assert "convert it to PNG or JPEG" in why_no_image("a.heic", b"\0\0\0\x18ftypheic")
    assert "convert it to PNG or JPEG" in why_no_image("a.png", b"BM1234")
    for name in ("a.png", "a.py", "it"):
        assert why_no_image(name, b"hello").startswith(f"{name} is not an image")


def test_the_store_keeps_an_item_beside_its_bytes() -> None:
    data = png(3, 2)
    one = Image("docs/a b.png", "png", 3, 2, len(data), "sha")
    item = image_item(one, data)
    assert data_of(item) == data
    assert data_of(without_data(one)) == b""
    assert image_of(without_data(one), "sha", data) == one
    assert image_of(without_data(one), "sha", data[:-20]) is None


@pytest.mark.parametrize(
    ("message", "blind"),
    [
        ("Invalid content type. image_url is only supported by certain models.", True),
        ("this model does not support image input (ref: b8bd630e)", True),
        ("image input is not supported - hint: you may need to provide the mmproj", True),
        ("At most 0 image(s) may be provided in one request.", True),
        ("No endpoints found that support image input", True),
        ("messages[0].content must be a string", True),
        ("The model quick-1 takes text only: remove the image, or use another model.", True),
        ("Image input is not enabled for this model", True),
        ("image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes", False),
        ("Unsupported image format: the media type image/bmp is not supported", False),
        ("At least one of the image dimensions exceed max allowed size", False),
        ("Rate limit reached", False),
    ],
)
def test_a_refusal_may_say_that_the_model_sees_nothing(message: str, blind: bool) -> None:
    assert is_blind("invalid_request_error", message) is blind


def test_an_image_that_is_too_large_says_what_size_is_seen() -> None:
    said = CLAUDE.refusal(image(size=6_200_000), "m")
    assert said.endswith("6.2 MB: make it smaller, it sees no more than 1,568 pixels a side")
