"""No figure of the README without its command, its date and its machine."""

from __future__ import annotations

import re

from tests import measured
from tests.benchmarks.__main__ import bench


def test_the_table_and_the_pictures_are_those_of_the_figures() -> None:
    text = measured.README.read_text()
    assert measured.with_table(text) == text, "run: python -m tests.measured"
    for path, svg in measured.pictures().items():
        assert path.read_text() == svg, "run: python -m tests.measured"


def test_every_figure_has_a_command_that_there_is_and_a_machine() -> None:
    for one in measured.load():
        assert one.command.split()[0] in bench.commands, one.name
        assert re.match(r"\d+ cores, load \d", one.machine), one.name


def test_the_page_shows_every_picture() -> None:
    page = measured.PAGE.read_text()
    shown = set(re.findall(r"\(pictures/([\w-]+\.svg)\)", page))
    assert {path.name for path in measured.pictures()} <= shown
    assert all((measured.PICTURES / name).exists() for name in shown)


def test_a_part_of_a_page_is_replaced_and_nothing_beside_it() -> None:
    page = "before\n<!-- it: how -->\nold\n<!-- end of it -->\nbehind"
    told = measured.with_part(page, "it", r"new \1")
    assert told == page.replace("old", r"new \1")
    assert measured.with_part(page, "other", "new") == page
