"""What settings and flags declare, as the bridge is told of it: providers, addresses, fallbacks."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.support.tables import case
from tui.bridge.endpoints.base import ModelFacts, Target, options_over
from tui.cli.endpoints import ResolvedEndpoint, Sources, endpoint_specs
from tui.cli.models import ResolvedModels, SessionSetup, resolve, withheld
from tui.cli.network import key_variables, specifications
from tui.cli.options import ModelFlags
from tui.core.wire.address import Address
from tui.errors import DuettoError, SettingsError, UsageError
from tui.settings import Paths, parse

KEYS = {
    "GROQ_API_KEY": "gsk-secret-123456",
    "OPENAI_API_KEY": "sk-secret-123456",
    "ANTHROPIC_API_KEY": "ant-secret-12345",
}


def resolved(
    paths: Paths, text: str = "", keys: dict[str, str] | None = None, **flags: str
) -> ResolvedModels:
    settings = parse(text, str(paths.config_file))
    given = ModelFlags(**({"fast": "m"} | flags if not text else flags))
    return resolve(settings, given, KEYS if keys is None else keys, paths)


def only(models: ResolvedModels) -> ResolvedEndpoint:
    (endpoint,) = models.endpoints.values()
    return endpoint


def test_a_provider_by_name_needs_nothing_else(paths: Paths) -> None:
    for endpoint in (
        only(resolved(paths, endpoint="groq")),
        only(resolved(paths, '[models.fast]\nname = "m"\nendpoint = "groq"\n')),
        only(resolved(paths, '[endpoints.groq]\n[models.fast]\nname = "m"\n')),
        only(resolved(paths, '[endpoints.q]\nprovider = "groq"\n[models.fast]\nname = "m"\n')),
    ):
        assert endpoint.bridged
        assert (endpoint.spec.provider, endpoint.spec.kind) == ("groq", "openai-chat")
        assert endpoint.spec.url == "https://api.groq.com/openai/v1"
        assert endpoint.spec.key_env == endpoint.key_env == "GROQ_API_KEY"
        assert "gsk-secret" not in str(msgspec.to_builtins(endpoint.spec))
        assert dict(endpoint.address.headers) == {}


def test_who_speaks_the_protocol_is_dialled_directly(paths: Paths) -> None:
    endpoint = only(resolved(paths, endpoint="openai"))
    assert not endpoint.bridged
    assert endpoint.address.url == "wss://api.openai.com/v1/responses"
    assert endpoint.address.headers == {"Authorization": "Bearer sk-secret-123456"}
    assert endpoint.spec.kind == "openai-responses"


def test_an_address_says_who_is_there(paths: Paths) -> None:
    for url, provider, kind, bridged in (
        ("https://api.groq.com/openai/v1", "groq", "openai-chat", True),
        ("https://api.openai.com/v1", "openai", "openai-responses", False),
        ("https://api.anthropic.com", "anthropic", "anthropic", True),
        ("http://127.0.0.1:11434/v1", "ollama", "openai-chat", True),
        ("http://localhost:8080/v1", "", "auto", False),
        ("https://models.example/v1", "", "auto", False),
        ("https://models.example/v1/responses", "", "openai-responses", False),
        ("wss://models.example/v1/responses", "", "openai-responses", False),
    ):
        with case(url, provider, kind, bridged):
            endpoint = only(resolved(paths, endpoint=url))
            assert (endpoint.spec.provider, endpoint.spec.kind) == (provider, kind)
            assert endpoint.bridged is bridged


def test_what_is_known_of_models_is_told(paths: Paths) -> None:
    text = """
[endpoints.groq]
[endpoints.groq.models.m]
context_window = 1000
efforts = ["low"]
[models.fast]
name = "m"
context_window = 2000
max_output_tokens = 500
images = false
tier = "flex"
effort = "auto"
fallbacks = ["anthropic/claude"]
"""
    models = resolved(paths, text)
    told = models.endpoints["groq"].spec.models["m"]
    assert told == ModelFacts(2000, 500, images=False, efforts=("low",), fallbacks=told.fallbacks)
    assert told.fallbacks == ("anthropic/claude",)
    role = models.roles["fast"]
    assert (role.context_window, role.max_output_tokens, role.tier) == (2000, 500, "flex")
    assert (role.effort, role.auto_effort) == ("low", True)
    without = resolved(paths, text.replace('["low"]', "[]")).roles["fast"]
    assert (without.effort, without.auto_effort) == (None, False)
    assert models.fallbacks["anthropic"].kind == "anthropic"
    assert models.key_variables == {"GROQ_API_KEY", "ANTHROPIC_API_KEY"}


def test_what_cannot_be_is_said(paths: Paths) -> None:
    for flags, says in (
        ({"endpoint": "grok"}, "no provider 'grok': did you mean"),
        ({"endpoint": "groq", "key_env": "NOPE"}, "variable NOPE"),
        ({"endpoint": "http://lan.example/v1", "key_env": "GROQ_API_KEY"}, "clear text"),
        # no key is asked for that would be refused when it is there
        ({"endpoint": "http://lan.example/v1", "key_env": "NOPE"}, 'clear text.*--key-env ""'),
        ({"endpoint": "https://lan.example/v1", "key_env": "NOPE"}, "NOPE, or .*no key\\)$"),
        ({"endpoint": "127.0.0.1:8000/v1"}, "use https://HOST/v1"),
        ({"endpoint": "localhost:8000"}, "http://127.0.0.1:PORT/v1"),
        ({"endpoint": "mistral"}, "MISTRAL_API_KEY.*duetto keys set mistral"),
    ):
        with case(flags, says):
            with pytest.raises(UsageError, match=says) as caught:
                resolved(paths, **flags)
            assert "secret" not in str(caught.value)


ON_THIS_MACHINE = '[models.fast]\nname = "m"\nendpoint = "local"\n'


def test_settings_that_cannot_be_are_said(paths: Paths) -> None:
    for text, says in (
        ('[endpoints.x]\nprovider = "grok"\n[models.fast]\nname = "m"\n', "did you mean"),
        (
            '[endpoints.x]\n[models.fast]\nname = "m"\n',
            "neither url nor provider: add url = ADDRESS, or provider = NAME$",
        ),
        ('[models.fast]\nname = "m"\nendpoint = "grop"\n', "line 3.*did you mean 'groq'"),
        (
            '[models.fast]\nname = "m"\nendpoint = "groq"\nfallbacks = ["nowhere/x"]\n',
            "line 4.*nowhere",
        ),
        ('[models.fast]\nname = "m"\nendpoint = "groq"\nfallbacks = ["x"]\n', "line 4"),
        ("[endpoints.x]\nkind = 3\n", "line 2"),
        (
            '[endpoints.x]\nkind = "openai_chat"\nurl = "http://127.0.0.1:9/v1"\n'
            '[models.fast]\nname = "m"\n',
            r"^\[endpoints.x\] kind: There is no kind .*did you mean 'openai-chat'",
        ),
        (
            '[endpoints.x]\nprovider = "groq"\nurl = "https://else.example/v1"\n'
            '[models.fast]\nname = "m"\n',
            "else.example is not Groq's",
        ),
        (
            "[endpoints.local.options]\nslots = 0\n" + ON_THIS_MACHINE,
            r"^\[endpoints.local.options\] slots is wrong: expected a whole number >= 1$",
        ),
        (
            "[endpoints.local.options]\nwindwo = 4096\n" + ON_THIS_MACHINE,
            r"^\[endpoints.local.options\] windwo is not an option of local; did you mean 'window'",
        ),
    ):
        with case(text, says), pytest.raises((UsageError, SettingsError), match=says):
            resolved(paths, text)


def test_a_key_is_not_taken_to_another_host_than_its_providers(paths: Paths) -> None:
    text = '[endpoints.x]\nprovider = "groq"\nurl = "http://127.0.0.1:9/v1"\n'
    endpoint = only(resolved(paths, text + '[models.fast]\nname = "m"\n'))
    assert endpoint.spec.key_env == ""
    named = text + 'key_env = "GROQ_API_KEY"\n[models.fast]\nname = "m"\n'
    assert only(resolved(paths, named)).spec.key_env == "GROQ_API_KEY"


def test_a_users_own_provider_file(paths: Paths) -> None:
    paths.providers_dir.mkdir()
    file = paths.providers_dir / "house.toml"
    said = 'kind = "openai-chat"\nurl = "https://llm.house.example/v1"\n'
    file.write_text(f'{said}key_env = "HOUSE"\n')
    endpoint = only(resolved(paths, keys={"HOUSE": "house-secret-1"}, endpoint="house"))
    assert (endpoint.spec.url, endpoint.key_env) == ("https://llm.house.example/v1", "HOUSE")
    file.write_text(f'{said}key_nv = "X"\n')
    with pytest.raises(SettingsError, match=r"house.toml line 3: unknown key 'key_nv'"):
        resolved(paths, endpoint="house")


def test_an_address_that_depends_on_a_variable(paths: Paths) -> None:
    with pytest.raises(DuettoError, match="AZURE_OPENAI_ENDPOINT"):
        resolved(paths, endpoint="azure", keys={"AZURE_OPENAI_API_KEY": "azure-secret"})
    keys = {
        "AZURE_OPENAI_API_KEY": "azure-secret",
        "AZURE_OPENAI_ENDPOINT": "https://mine.openai.azure.com/",
    }
    endpoint = only(resolved(paths, endpoint="azure", keys=keys))
    assert endpoint.address.url == "wss://mine.openai.azure.com/openai/v1/responses"
    assert endpoint.address.headers == {"api-key": "azure-secret"}


def test_all_that_the_settings_name_for_a_team(paths: Paths) -> None:
    text = """
[endpoints.house]
url = "wss://models.house.example/v1/responses"
key_env = "HOUSE"
[models.fast]
name = "m"
endpoint = "groq"
fallbacks = ["mistral/n"]
"""
    specs = endpoint_specs(parse(text, "FILE"), {}, paths.providers_dir)
    assert {name: spec.kind for name, spec in specs.items()} == {
        "house": "responses-ws",
        "groq": "openai-chat",
        "mistral": "openai-chat",
    }
    assert specs["groq"].models["m"].fallbacks == ("mistral/n",)


def test_commands_of_the_workspace_get_no_key_of_any_endpoint_that_is_set_up(
    paths: Paths, tmp_path: Path
) -> None:
    text = """
[endpoints.anthropic]
[endpoints.groq]
[models.fast]
name = "m"
endpoint = "openai"
fallbacks = ["groq/n"]
"""
    models = resolved(paths, text)
    place = SessionSetup(tmp_path, parse(text, "FILE"), models, paths, given=KEYS)
    assert withheld(place, {**KEYS, "PATH": "/bin"}) == {"PATH": "/bin"}
    told = key_variables(place)
    assert sorted(told) == ["GROQ_API_KEY", "OPENAI_API_KEY"]
    assert "secret" not in str(specifications(place))


def test_an_address_is_no_name_of_an_endpoint(paths: Paths) -> None:
    with pytest.raises(UsageError, match=r"an endpoint's name.*url of \[endpoints.NAME\]"):
        Sources(parse("", "FILE"), {}).table("http://127.0.0.1:8000/v1")


def test_a_table_is_stronger_than_what_the_provider_says_of_a_model() -> None:
    text = "[endpoints.openrouter]\noptions = { forced_calls = true, body = { store = true } }\n"
    settings = parse(text + '[models.fast]\nname = "anthropic/claude-opus-5.5"\n', "FILE")
    spec = endpoint_specs(settings, {"OPENROUTER_API_KEY": "k"})["openrouter"]
    known = Target("openrouter", spec, Address(spec.url)).facts("anthropic/claude-opus-5.5")
    told = options_over(known.options, spec.options)
    assert told["forced_calls"] is True
    assert told["body"] == {"cache_control": {"type": "ephemeral"}, "store": True}


def test_a_model_on_this_machine_is_the_file_that_is_named(paths: Paths) -> None:
    text = '[endpoints.local]\nmodel = "/models/tiny-1b.gguf"\n'
    models = resolve(parse(text, ""), ModelFlags(endpoint="local"), {}, paths)
    assert {role: spec.model for role, spec in models.roles.items()} == {"fast": "tiny-1b"}
    assert only(models).bridged
    assert only(models).spec.options["model"] == "/models/tiny-1b.gguf"
    own = '[endpoints.mine]\nprovider = "local"\nmodel = "/models/own.gguf"\n'
    models = resolve(parse(own, ""), ModelFlags(endpoint="mine"), {}, paths)
    assert models.roles["fast"].model == "own"


def test_without_a_file_one_sentence_says_what_to_do(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", [])
    with pytest.raises(UsageError, match=r"no GGUF file is known: set \[endpoints.local\] model"):
        resolve(parse("", ""), ModelFlags(endpoint="local"), {}, paths)


def test_a_file_of_a_model_is_for_this_machine_only(paths: Paths) -> None:
    text = '[endpoints.groq]\nmodel = "llama"\n[models.fast]\nname = "m"\n'
    with pytest.raises(UsageError, match="is the file of a model on this machine"):
        resolved(paths, text)


def test_the_file_of_a_local_model_is_found_from_any_folder(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/one")
    for named, found in (
        ("models/a.gguf", str(tmp_path / "models/a.gguf")),
        ("~/a.gguf", "/home/one/a.gguf"),
        ("~nobody-here/a.gguf", str(tmp_path / "~nobody-here/a.gguf")),
    ):
        settings = parse(f'[endpoints.local]\nmodel = "{named}"\n', "")
        models = resolve(settings, ModelFlags(endpoint="local"), {}, paths)
        assert only(models).spec.options["model"] == found


def test_a_server_that_is_called_local_stays_what_it_is(paths: Paths) -> None:
    text = '[endpoints.local]\nurl = "http://127.0.0.1:8000/v1"\n[models.fast]\nname = "m"\n'
    endpoint = only(resolved(paths, text))
    assert (endpoint.spec.kind, endpoint.spec.url) == ("auto", "http://127.0.0.1:8000/v1")
