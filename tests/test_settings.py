import os
from pathlib import Path

import pytest

from tests.support.tables import case, each
from tui import settings
from tui.errors import SettingsError
from tui.settings import (
    PROJECT_FILE,
    Paths,
    Settings,
    load,
    load_project,
    parse,
    unused_in_project,
    with_project,
)
from tui.toml_tables import LIMIT_BYTES

FULL = """\
schema = 1

[endpoints.main]
url = "wss://models.example/v1/responses"
key_env = "MODELS_KEY"
headers = { "X-Team" = "blue" }
query = { version = "2" }

[models.fast]
name = "spark"
endpoint = "main"
effort = "low"
context_window = 128000

[models.deep]
name = "large"
endpoint = "main"
patch_tool = "function"
patch_format = "unified_diff"

[verify]
command = ["make", "test"]
deadline_s = 30

[format]
command = "ruff format"
deadline_s = 3

[editor]
save = "manual"
ambiguous = "first"
review = "auto"
theme = "paper"
follow = false

[rehearsal]
fast_tokens_s = 5000
seed = 3
mistakes = 0
"""

ENDPOINT = '[endpoints.a]\nurl = "wss://h/v1"\n'
MODEL = '[models.fast]\nname = "m"\n'
WRONG = [
    (
        '[attempts]\nrunner = "dask://host"\n',
        """line 2: attempts.runner is 'dask://host': write "here", or "dask://HOST:PORT" of""",
    ),
    ("a =", "line 1: not valid TOML: Invalid value"),
    ("x = 1\ny = [1,\n", "line 2: not valid TOML"),
    ("a = 1\na = 2\n", "line 2: not valid TOML: Cannot overwrite a value"),
    ("[editor]\n[editor]\n", "line 2: not valid TOML: Cannot declare ('editor',) twice"),
    ("x = " + "[" * 3000, "not valid TOML: nested too deeply"),
    ("\nx = " + "1" * 5000, "line 2: not valid TOML: a number is too long"),
    ("\0", "line 1: not valid TOML"),
    ('x = "\x1b[31m"', "line 1: not valid TOML: Illegal character"),
    ("\n\nschema = 2", "line 3: schema 2 is newer than this duetto"),
    ('schema = "x"', "line 1: schema: expected a whole number, got a string"),
    ("schema = 0", "line 1: there is no schema 0; write 1"),
    ("\nschema = -3", "line 2: there is no schema -3; write 1"),
    ("schema = true", "line 1: schema: expected a whole number, got true or false"),
    ("[modls.fast]", "line 1: unknown key 'modls'; did you mean 'models'?"),
    ("[[models]]", "line 1: models: expected a table, got a list"),
    ("verify = 3", "line 1: verify: expected a table"),
    ("[models.fast]\n", "line 1: [models.fast] lacks 'name'"),
    (MODEL + 'endpont = "b"', "line 3: unknown key 'models.fast.endpont'; did"),
    (MODEL + 'endpoint = "b"', "line 3: models.fast.endpoint names 'b'"),
    (ENDPOINT + MODEL + 'endpoint = "b"', "line 5: models.fast.endpoint"),
    (MODEL + 'patch_format = "sr"', "invalid enum value 'sr'; one of apply_patch, auto, "),
    (MODEL + 'effort = "huge"', "one of auto, high, low, max, medium, minimal, none, xhigh"),
    (MODEL + 'price = "cheap"', "line 3: models.fast.price: expected a table, got a string"),
    (MODEL + 'fallbacks = "a/b"', "models.fast.fallbacks: expected a list, got a string"),
    (MODEL + 'fallbacks = ["b"]', "fallbacks.0: expected a string such as ENDPOINT/MODEL"),
    (MODEL + 'images = "no"', "models.fast.images: expected true or false, got a string"),
    ('[editor]\nambiguous = "last"', "line 2: editor.ambiguous: invalid enum value 'last'; one of"),
    ("[editor]\nreview = true", "line 2: editor.review: "),
    ("[editor]\nsave = 1", "line 2: editor.save"),
    ("[format]\ndeadline_s = 0", "line 2: format.deadline_s: expected a number > 0"),
    ("[verify]\ncommand = [1]", "verify.command.0: expected a string, got a whole number"),
    ("[verify]\ndeadline_s = -1", "line 2: verify.deadline_s"),
    ("[verify]\ndeadline_s = nan", "line 2: verify.deadline_s: expected a number > 0"),
    ("[rehearsal]\nfast_tokens_s = 0", "rehearsal.fast_tokens_s: expected a number >= 1"),
    ("[rehearsal]\nfast_tokens_s = nan", "line 2: rehearsal.fast_tokens_s: expected a number"),
    (f"{ENDPOINT}\n[endpoints.b]\nurl = 3\n", "line 5: endpoints.b.url: expected a string"),
    ('[endpoints.a]\nurl = "ftp://h"', "line 2: endpoints.a.url is wrong: ftp:"),
    ('[endpoints.a]\nurl = "wss://u:pa/ss@h"', "line 2: endpoints.a.url is wrong: the address"),
    (ENDPOINT + 'compression = "no"', "invalid enum value 'no'; one of \"auto\", true, false"),
    (ENDPOINT + 'transport = "sse"', "one of auto, http, websocket"),
    (ENDPOINT + 'chaining = "yes"', "chaining: expected true or false, got"),
    (ENDPOINT + "chain = true", "did you mean 'chaining'?"),
    (ENDPOINT + 'key_header = "a b"', "line 3: endpoints.a.key_header is not the name"),
    (ENDPOINT + 'key_header = "Host"', "is a header that the connection itself sets"),
    (
        ENDPOINT + '[endpoints.a.headers]\nSec-WebSocket-Key = "x"',
        "line 4: endpoints.a.headers.Sec-",
    ),
    (ENDPOINT + 'key_env = "gsk_abcdefgh12345678"', "line 3: endpoints.a.key_env is not the"),
    (ENDPOINT + 'key_env = "AbCd0123456789abcdef0"', "never the key itself"),
    (ENDPOINT + "headers = { a = 1 }", "endpoints.a.headers.a: expected a string, got a whole"),
    (ENDPOINT + 'headers = { a = "x\\r\\ny: z" }', "endpoints.a.headers.a holds a line"),
    (ENDPOINT + 'headers = { a = "é" }', "endpoints.a.headers.a holds a line"),
]


def test_nothing_means_the_defaults(tmp_path: Path) -> None:
    assert load(tmp_path / "none.toml") == Settings()
    assert parse("", "FILE") == Settings()


def test_every_key_is_read() -> None:
    read = parse(FULL, "FILE")
    assert read.models.fast is not None
    assert read.models.deep is not None
    assert (read.models.fast.name, read.models.fast.effort) == ("spark", "low")
    assert read.models.deep.patch_tool == "function"
    assert read.models.fast.patch_format == "auto"
    assert read.models.deep.patch_format == "unified_diff"
    assert (read.format.command, read.format.deadline_s) == ("ruff format", 3)
    assert (read.editor.ambiguous, read.editor.review) == ("first", "auto")
    assert read.endpoints["main"].headers == {"X-Team": "blue"}
    assert read.verify.command == ["make", "test"]
    assert (read.editor.save, read.editor.follow) == ("manual", False)
    assert (read.rehearsal.fast_tokens_s, read.rehearsal.deep_tokens_s) == (5000, 65)


def test_what_is_wrong_is_said_with_file_and_line_and_never_a_key() -> None:
    for text, says in WRONG:
        with case(text, says):
            with pytest.raises(SettingsError) as caught:
                parse(text, "FILE")
            words = str(caught.value)
            assert words.startswith(("FILE line ", "FILE: not valid TOML"))
            assert says in words
            assert "abcdef" not in words
            assert "\n" not in words
            assert caught.value.exit_code == 2


@each(
    "data, says",
    [
        (b"schema = 1\n# caf\xe9\n", r"config\.toml line 2: not UTF-8"),
        (b"#" * (LIMIT_BYTES + 1), "larger than 1 MB"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, data: bytes, says: str) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(data)
    with pytest.raises(SettingsError, match=says):
        load(file)
    with pytest.raises(SettingsError, match="cannot read"):
        load(tmp_path)
    with pytest.raises(SettingsError, match="does not exist; check --config"):
        load(tmp_path / "none.toml", required=True)


def workspace(tmp_path: Path, text: str) -> Path:
    (tmp_path / ".duetto").mkdir()
    (tmp_path / ".duetto/config.toml").write_text(text)
    return tmp_path


def test_a_workspace_may_set_its_looks(tmp_path: Path) -> None:
    root = workspace(tmp_path, '[editor]\ntheme = "paper"\n[verify]\ncommand = "make"\n')
    own = parse('[editor]\nsave = "manual"\nfollow = false\nwrap = true\n', "FILE")
    mixed = with_project(own, load_project(root))
    assert mixed.editor == settings.EditorSettings(
        save="manual", follow=False, theme="paper", wrap=True
    )
    assert mixed.verify.command is None


ONLY = r"a workspace may set \[verify\], \[format\], \[hooks\] and \[editor\] only"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[endpoints.a]\nurl = "ws://evil.example"', ONLY),
        ('[models.fast]\nname = "a"', ONLY),
        ("[rehearsal]\nseed = 1", ONLY),
        ('[commands]\nallow = ["rm"]', ONLY),
        ('[keys.global]\naccept = "ctrl+b"\n', r"line 1: unknown key 'keys'; a workspace may set"),
        ('[prompt]\neditor = "rm -rf"\n', "put it in your"),
        ('[editor]\nsave = "auto"', r"unknown key 'editor\.save'"),
        ('[editor]\nreview = "auto"', r"unknown key 'editor\.review'"),
        ('[editor]\nambiguous = "auto"', r"unknown key 'editor\.ambiguous'"),
    ],
)
def test_what_a_workspace_may_not_choose(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        load_project(workspace(tmp_path, text))


def test_a_workspace_may_bring_a_formatter_that_the_users_settings_do_not_take(
    tmp_path: Path,
) -> None:
    project = load_project(workspace(tmp_path, '[format]\ncommand = ["ruff", "format"]'))
    assert project.format.command == ["ruff", "format"]
    assert with_project(Settings(), project).format.command is None  # it is asked for first


def test_a_home_of_its_own(tmp_path: Path) -> None:
    paths = Paths.find({"DUETTO_HOME": str(tmp_path)})
    assert paths.config_file == tmp_path / "config.toml"
    assert paths.log_file.is_relative_to(paths.state_dir)
    assert paths.make_state_dir().stat().st_mode & 0o777 == 0o700
    assert paths.make_data_dir().is_dir()


def test_without_a_home_the_platform_decides() -> None:
    paths = Paths.find({})
    assert paths.config_file.name == "config.toml"
    assert "duetto" in paths.config_file.parts
    assert paths.data_dir != paths.state_dir


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    with pytest.raises(SettingsError, match="set DUETTO_HOME"):
        Paths.find({"DUETTO_HOME": str(tmp_path / "home")}).make_state_dir()


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"\xef\xbb\xbfschema = 1\n")
    assert load(tmp_path / "config.toml").schema == 1


@pytest.mark.parametrize("target", ["/dev/zero", "/dev/tty", "fifo"])
def test_a_workspace_cannot_make_us_wait_for_a_device(tmp_path: Path, target: str) -> None:
    os.mkfifo(tmp_path / "fifo")
    file = tmp_path / PROJECT_FILE
    file.parent.mkdir()
    file.symlink_to(tmp_path / target)
    with pytest.raises(SettingsError, match="it is not a file"):
        load_project(tmp_path)


def test_keys_are_the_users_alone() -> None:
    found = parse('[keys.global]\nverify = "ctrl+b"\n[keys]\nleader = ["f9"]\n', "FILE")
    assert found.keys == {"global": {"verify": "ctrl+b"}, "leader": ["f9"]}


def test_terminal_and_notifications_have_tables_of_their_own() -> None:
    assert Settings().screen.colours == "auto"
    assert not Settings().screen.linear
    assert parse("[screen]\nlinear = true\n", "f").screen.linear
    assert not Settings().notify.bell
    assert not Settings().notify.title
    text = '[screen]\ncolours = "16"\nglyphs = "ascii"\n[notify]\ndesktop = "osc9"\nafter_s = 3\n'
    settings = parse(text, "config.toml")
    assert (settings.screen.colours, settings.screen.glyphs) == ("16", "ascii")
    assert (settings.notify.desktop, settings.notify.after_s) == ("osc9", 3)


def test_the_theme_may_follow_the_terminal_with_a_pair_of_ones_own(tmp_path: Path) -> None:
    editor = parse('[editor]\ntheme_light = "solarized-light"\n', "config.toml").editor
    assert (editor.theme, editor.theme_light, editor.theme_dark) == ("", "solarized-light", "dusk")
    root = workspace(tmp_path, '[editor]\ntheme_light = "nord"\nwrap = true\n')
    assert load_project(root).editor.wrap
    assert "line 2: unknown key 'editor.theme_light'" in unused_in_project(root)[0]
    assert Paths.find({"DUETTO_HOME": str(tmp_path)}).themes_dir == tmp_path / "themes"


def test_the_prompt_keeps_its_history_unless_it_is_told_not_to() -> None:
    assert parse("", "f").prompt.history
    chosen = parse('[prompt]\nhistory = false\neditor = "nano -w"\nvi = true', "f").prompt
    assert (chosen.history, chosen.editor, chosen.vi) == (False, "nano -w", True)


def test_what_of_a_workspace_counts_only_from_the_users_own_is_named(tmp_path: Path) -> None:
    text = '[verify]\ncommand = "make"\nwhen = "live"\nfix = "auto"\nskip = ["mypy"]\n'
    said = unused_in_project(workspace(tmp_path, text))
    assert [line.partition(" line ")[2] for line in said] == [
        f"{number}: verify.{key} counts only in your own config.toml"
        for number, key in ((3, "when"), (4, "fix"))
    ]
