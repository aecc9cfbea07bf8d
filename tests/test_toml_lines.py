import tomllib

import pytest

from tests.support.tables import case
from tui.toml_tables import line_of, syntax_trouble

TEXT = """\
schema = 1
# [models.fast]
[models.fast]
name = "a"

["quoted table".'x y']
"key one" = 1

[models]
deep.name = "b"
[[list]]
one = 1
"""


def test_a_key_is_found_where_it_is_set() -> None:
    for key, line in (
        (("schema",), 1),
        (("models", "fast"), 3),
        (("models", "fast", "name"), 4),
        (("models", "fast", "missing"), 3),
        (("quoted table", "x y", "key one"), 7),
        (("models", "deep", "name"), 10),
        (("models", "deep"), 10),
        (("list", "one"), 12),
        (("nowhere",), 1),
        ((), 1),
    ):
        with case(key, line):
            tomllib.loads(TEXT)
            assert line_of(TEXT, key) == line


@pytest.mark.parametrize(
    ("text", "line"), [("a = \n", 1), ("\n\n= 3", 3), ('a = """\nb\n', 2), ("a = 1\na = 2", 2)]
)
def test_a_syntax_error_has_a_line(text: str, line: int) -> None:
    with pytest.raises(tomllib.TOMLDecodeError) as caught:
        tomllib.loads(text)
    found, what = syntax_trouble(text, caught.value)
    assert found == line
    assert "at line" not in what
