import os
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tests.support.tables import case
from tui.cli.endpoints import ResolvedEndpoint
from tui.cli.models import ResolvedModels, resolve
from tui.cli.options import ModelFlags, model_options, settings_for
from tui.errors import UsageError
from tui.settings import Paths, parse

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


def test_the_environment_is_under_the_flags() -> None:
    seen: list[ModelFlags] = []

    @click.command()
    @model_options
    def command(flags: ModelFlags) -> None:
        seen.append(flags)

    env = {"DUETTO_FAST": "env-fast", "DUETTO_ENDPOINT": LOCAL}
    CliRunner().invoke(command, ["--fast", "flag-fast"], env=env)
    assert (seen[0].fast, seen[0].endpoint) == ("flag-fast", LOCAL)


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


def test_no_key_goes_to_this_machine_unless_it_is_named() -> None:
    bare = resolved(ModelFlags(endpoint=LOCAL, fast="f"), KEYED)
    assert bare.endpoints["cli"].address.headers == {}
    named = resolved(ModelFlags(endpoint=LOCAL, fast="f", key_env="OPENAI_API_KEY"), KEYED)
    assert "Authorization" in named.endpoints["cli"].address.headers


def test_the_rehearsal_by_name_and_rate() -> None:
    models = resolved(ModelFlags(fast="rehearsal-fast@5000"))
    assert models.rehearsal
    assert models.roles["fast"].model == "rehearsal-fast@5000"


def test_what_cannot_work_is_said() -> None:
    for flags, says in (
        (ModelFlags(endpoint=WSS), "add --fast MODEL or --deep MODEL"),
        (ModelFlags(fast="m"), "needs a server: add --endpoint"),
        (ModelFlags(fast=" ", endpoint=WSS), "--fast needs the name of a model"),
        (ModelFlags(endpoint=WSS, fast="m", key_env="MISSING"), "variable MISSING"),
        (ModelFlags(endpoint=WSS, fast="m", key_env="ODD"), "blanks or odd characters"),
        (ModelFlags(endpoint="ws://lan.example/x", fast="m"), "clear text"),
        (ModelFlags(endpoint="models.example", fast="m"), "not a server's address"),
        (ModelFlags(endpoint="ftp://models.example", fast="m"), "not a server's address"),
        (ModelFlags(endpoint="http://[::1", fast="m"), "not a valid address"),
        (ModelFlags(endpoint="https://h:99999/v1", fast="m"), "not a valid address"),
        (ModelFlags(endpoint="https://a host/v1", fast="m"), "not a valid address"),
        (ModelFlags(endpoint="wss://[::1/x", fast="m"), "not a valid address"),
        (ModelFlags(endpoint="wss://me:pw@models.example/x", fast="m"), "--key-env.* names"),
    ):
        with case(flags, says):
            with pytest.raises(UsageError, match=says) as caught:
                resolved(flags, KEYED | {"ODD": "a b\nc"})
            assert "sk-secret" not in str(caught.value)
            assert "pw" not in str(caught.value)


def test_a_model_without_endpoint_among_many_is_asked_for() -> None:
    config = CONFIG.replace('endpoint = "two"\n', "")
    with pytest.raises(UsageError, match=r"\(one, two\)"):
        resolved(ModelFlags(), {"ONE_KEY": "abcdef"}, config)


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


def endpoint(table: str, environment: dict[str, str] | None = None) -> ResolvedEndpoint:
    text = f'[endpoints.x]\nurl = "{WSS}"\n{table}\n[models.fast]\nname = "m"\n'
    return resolved(ModelFlags(), environment or KEYED, text).endpoints["x"]


def test_a_header_that_is_written_needs_no_variable() -> None:
    written = endpoint('headers = { "api-key" = "abc" }\nkey_header = "Api-Key"', {"A": "b"})
    assert written.address.headers == {"api-key": "abc"}
    assert written.key_env == ""
    with pytest.raises(UsageError, match=r"\[endpoints.x\] headers sets API-KEY, where the key"):
        endpoint('headers = { api-key = "a" }\nkey_header = "API-KEY"\nkey_env = "OPENAI_API_KEY"')


def test_settings_from_a_pipe_are_read_once_and_asked_for_often(tmp_path: Path) -> None:
    """``--config <(...)``: only the first reader got them, the app ran with the defaults."""
    reading, writing = os.pipe()
    os.write(writing, b"[rehearsal]\nseed = 3\n")
    os.close(writing)
    flags = ModelFlags(config=Path(f"/dev/fd/{reading}"))
    try:
        assert not settings_for(flags, Paths.find()).screen.linear
        assert settings_for(flags, Paths.find()).rehearsal.seed == 3
    finally:
        os.close(reading)


def test_the_key_of_the_flags_endpoint_is_not_sent_to_another_one() -> None:
    flags = ModelFlags(endpoint=WSS, fast="m", key_env="OTHER")
    models = resolved(flags, {"ONE_KEY": "sk-config", "OTHER": "sk-other"}, CONFIG)
    keys = {name: one.key_env for name, one in models.endpoints.items()}
    assert keys == {"cli": "OTHER", "one": "ONE_KEY"}


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
