import os
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tui.cli.dialled import ResolvedEndpoint
from tui.cli.options import ModelFlags, is_linear, model_options, settings_for
from tui.cli.resolution import ResolvedModels, resolve
from tui.errors import UsageError
from tui.settings import Paths, Settings, parse

WSS = "wss://models.example/v1/responses"
LOCAL = "ws://127.0.0.1:8899/v1/responses"
KEYED = {"OPENAI_API_KEY": "sk-secret-1"}
CONFIG = """\
[endpoints.one]
url = "wss://one.example/v1/responses"
key_env = "ONE_KEY"
query = { "api-version" = "7" }
[endpoints.two]
url = "ws://localhost:1234/v1/responses"
[models.fast]
name = "spark"
endpoint = "two"
effort = "low"
[models.deep]
name = "large"
endpoint = "one"
context_window = 400000
"""


def resolved(
    flags: ModelFlags, env: dict[str, str] | None = None, config: str = ""
) -> ResolvedModels:
    return resolve(parse(config, "FILE"), flags, env or {})


def test_the_flags_reach_the_command_as_one_argument() -> None:
    seen: list[ModelFlags] = []

    @click.command()
    @click.argument("prompt")
    @model_options
    def command(prompt: str, flags: ModelFlags) -> None:
        seen.append(flags)

    ran = CliRunner().invoke(command, ["hi", "--fast", "m", "--endpoint", WSS, "--debug"], env={})
    assert ran.exit_code == 0
    assert seen == [ModelFlags(endpoint=WSS, fast="m", debug=True)]


def test_the_environment_is_under_the_flags() -> None:
    seen: list[ModelFlags] = []

    @click.command()
    @model_options
    def command(flags: ModelFlags) -> None:
        seen.append(flags)

    env = {"DUETTO_FAST": "env-fast", "DUETTO_ENDPOINT": LOCAL}
    CliRunner().invoke(command, ["--fast", "flag-fast"], env=env)
    assert (seen[0].fast, seen[0].endpoint) == ("flag-fast", LOCAL)


def test_nothing_means_the_rehearsal() -> None:
    models = resolved(ModelFlags(), KEYED)
    assert models.rehearsal
    assert {role: spec.model for role, spec in models.roles.items()} == {
        "fast": "rehearsal-fast",
        "deep": "rehearsal-deep",
    }
    assert models.endpoints == {}


def test_an_endpoint_with_two_models() -> None:
    models = resolved(ModelFlags(endpoint=WSS, fast="f", deep="d"), KEYED)
    assert not models.rehearsal
    assert {spec.endpoint for spec in models.roles.values()} == {"cli"}
    address = models.endpoints["cli"].address
    assert address.url == WSS
    assert address.headers == {"Authorization": "Bearer sk-secret-1"}
    assert "sk-secret" not in repr(models)


def test_a_base_url_is_completed_and_keeps_its_query() -> None:
    text = """
[endpoints.one]
url = "https://one.example/openai/v1/?a=b"
query = { "api-version" = "7" }

[models.fast]
name = "m"
"""
    models = resolved(ModelFlags(), KEYED, text)
    url = models.endpoints["one"].address.url
    assert url == "wss://one.example/openai/v1/responses?a=b&api-version=7"


def test_one_model_leaves_the_other_role_out() -> None:
    models = resolved(ModelFlags(endpoint=LOCAL, deep="d"))
    assert list(models.roles) == ["deep"]
    assert models.first_role == "deep"


def test_no_key_goes_to_this_machine_unless_it_is_named() -> None:
    bare = resolved(ModelFlags(endpoint=LOCAL, fast="f"), KEYED)
    assert bare.endpoints["cli"].address.headers == {}
    named = resolved(ModelFlags(endpoint=LOCAL, fast="f", key_env="OPENAI_API_KEY"), KEYED)
    assert "Authorization" in named.endpoints["cli"].address.headers


def test_an_empty_key_env_means_no_key() -> None:
    models = resolved(ModelFlags(endpoint="ws://lan.example/v1/responses", fast="f", key_env=""))
    assert models.endpoints["cli"].address.headers == {}


def test_the_configuration_names_all() -> None:
    models = resolved(ModelFlags(), {"ONE_KEY": "abcdef"}, CONFIG)
    assert (models.roles["fast"].endpoint, models.roles["fast"].effort) == ("two", "low")
    assert models.roles["deep"].context_window == 400_000
    assert models.endpoints["one"].address.url.endswith("/v1/responses?api-version=7")


def test_a_flag_takes_the_place_of_a_configured_model_on_its_endpoint() -> None:
    models = resolved(ModelFlags(fast="other"), {"ONE_KEY": "abcdef"}, CONFIG)
    fast = models.roles["fast"]
    assert (fast.model, fast.endpoint, fast.effort) == ("other", "two", None)


def test_endpoint_flag_is_for_flagged_models() -> None:
    models = resolved(ModelFlags(endpoint=LOCAL, fast="mine"), {"ONE_KEY": "abcdef"}, CONFIG)
    assert models.roles["fast"].endpoint == "cli"
    assert models.roles["deep"].endpoint == "one"


def test_the_rehearsal_by_name_and_rate() -> None:
    models = resolved(ModelFlags(fast="rehearsal-fast@5000"))
    assert models.rehearsal
    assert models.roles["fast"].model == "rehearsal-fast@5000"


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (ModelFlags(endpoint=WSS), "add --fast MODEL or --deep MODEL"),
        (ModelFlags(fast="m"), "needs a server: add --endpoint"),
        (ModelFlags(fast=" ", endpoint=WSS), "--fast needs the name of a model"),
        (ModelFlags(endpoint=WSS, fast="m", key_env="MISSING"), "variable MISSING"),
        (ModelFlags(endpoint=WSS, fast="m", key_env="ODD"), "blanks or odd characters"),
        (ModelFlags(endpoint="ws://lan.example/x", fast="m"), "clear text"),
        (ModelFlags(endpoint="models.example", fast="m"), "not a server's address"),
        (ModelFlags(endpoint="ftp://models.example", fast="m"), "not a server's address"),
        (ModelFlags(endpoint="wss://[::1/x", fast="m"), "not a valid address"),
        (ModelFlags(endpoint="wss://me:pw@models.example/x", fast="m"), "--key-env.* names"),
    ],
)
def test_what_cannot_work_is_said(flags: ModelFlags, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        resolved(flags, KEYED | {"ODD": "a b\nc"})
    assert "sk-secret" not in str(caught.value)
    assert "pw" not in str(caught.value)


def test_a_model_without_endpoint_among_many_is_asked_for() -> None:
    config = CONFIG.replace('endpoint = "two"\n', "")
    with pytest.raises(UsageError, match=r"\(one, two\)"):
        resolved(ModelFlags(), {"ONE_KEY": "abcdef"}, config)


def test_the_only_endpoint_needs_no_name() -> None:
    config = '[endpoints.x]\nurl = "ws://127.0.0.1:1/"\n[models.fast]\nname = "m"\n'
    assert resolve(parse(config, "FILE"), ModelFlags(), {}).roles["fast"].endpoint == "x"


def test_defaults_do_not_need_a_file() -> None:
    assert resolve(Settings(), ModelFlags(), {}).first_role == "fast"


ONE = """\
[endpoints.one]
url = "wss://one.example/v1/responses"
key_env = "ONE_KEY"
[models.fast]
name = "spark"
endpoint = "one"
"""


def test_the_key_named_is_the_key_sent_to_a_configured_endpoint_too() -> None:
    environment = {"ONE_KEY": "sk-config", "OTHER": "sk-other"}
    models = resolved(ModelFlags(key_env="OTHER"), environment, ONE)
    assert models.endpoints["one"].address.headers["Authorization"] == "Bearer sk-other"
    assert models.endpoints["one"].key_env == "OTHER"
    with pytest.raises(UsageError, match="variable OTHER"):
        resolved(ModelFlags(key_env="OTHER"), {"ONE_KEY": "sk-config"}, ONE)


def test_one_key_for_two_configured_endpoints_is_refused() -> None:
    with pytest.raises(UsageError, match="key of one or two"):
        resolved(ModelFlags(key_env="OTHER"), {"ONE_KEY": "k", "OTHER": "k"}, CONFIG)


def test_the_key_of_the_flags_endpoint_is_not_sent_to_another_one() -> None:
    flags = ModelFlags(endpoint=WSS, fast="m", key_env="OTHER")
    models = resolved(flags, {"ONE_KEY": "sk-config", "OTHER": "sk-other"}, CONFIG)
    keys = {name: one.key_env for name, one in models.endpoints.items()}
    assert keys == {"cli": "OTHER", "one": "ONE_KEY"}


def endpoint(table: str, environment: dict[str, str] | None = None) -> ResolvedEndpoint:
    text = f'[endpoints.x]\nurl = "{WSS}"\n{table}\n[models.fast]\nname = "m"\n'
    return resolved(ModelFlags(), environment or KEYED, text).endpoints["x"]


def test_the_key_travels_in_the_header_that_is_named() -> None:
    assert endpoint('key_header = "api-key"').address.headers == {"api-key": "sk-secret-1"}
    bearer = endpoint('key_header = "authorization"').address.headers
    assert bearer == {"authorization": "Bearer sk-secret-1"}


def test_a_header_that_is_written_needs_no_variable() -> None:
    written = endpoint('headers = { "api-key" = "abc" }\nkey_header = "Api-Key"', {"A": "b"})
    assert written.address.headers == {"api-key": "abc"}
    assert written.key_env == ""
    with pytest.raises(UsageError, match=r"\[endpoints.x\] headers sets API-KEY, where the key"):
        endpoint('headers = { api-key = "a" }\nkey_header = "API-KEY"\nkey_env = "OPENAI_API_KEY"')


def test_a_key_under_any_name_does_not_travel_in_clear_text() -> None:
    text = """
[endpoints.x]
url = "ws://lan.example/v1"
key_header = "X-Pass"
key_env = "OPENAI_API_KEY"
[models.fast]
name = "m"
"""
    with pytest.raises(UsageError, match="clear text") as caught:
        resolved(ModelFlags(), KEYED, text)
    assert "sk-secret" not in str(caught.value)


def test_what_an_endpoint_is_like() -> None:
    assert (endpoint("").transport, endpoint("").address.compression) == ("auto", None)
    plain = endpoint('transport = "http"\ncompression = false')
    assert (plain.transport, plain.address.compression) == ("http", False)
    assert endpoint("compression = true").address.compression is True
    text = f'[endpoints.x]\nurl = "{WSS}"\nchaining = false\n[models.fast]\nname = "m"\n'
    assert not resolved(ModelFlags(), KEYED, text).roles["fast"].chaining
    assert resolved(ModelFlags(endpoint=WSS, fast="m"), KEYED).roles["fast"].chaining


def test_the_format_of_patches_is_the_models_unless_the_flags_say_another() -> None:
    config = """
[models.fast]
name = "rehearsal-fast"
patch_format = "search_replace"
[models.deep]
name = "rehearsal-deep"
patch_tool = "text"
"""
    roles = resolved(ModelFlags(), config=config).roles
    assert [(r.patch_format, r.patch_tool) for r in roles.values()] == [
        ("search_replace", "custom"),
        ("auto", "text"),
    ]
    flags = ModelFlags(patch_format="whole_file", patch_tool="function")
    for roles in (resolved(flags, config=config).roles, resolved(flags).roles):
        assert {(r.patch_format, r.patch_tool) for r in roles.values()} == {
            ("whole_file", "function")
        }


def test_settings_from_a_pipe_are_read_once_and_asked_for_often(tmp_path: Path) -> None:
    """``--config <(...)``: whoever asked first had them, the app had the defaults."""
    reading, writing = os.pipe()
    os.write(writing, b"[rehearsal]\nseed = 3\n")
    os.close(writing)
    flags = ModelFlags(config=Path(f"/dev/fd/{reading}"))
    try:
        assert not is_linear(False, flags)
        assert settings_for(flags, Paths.find()).rehearsal.seed == 3
    finally:
        os.close(reading)
