"""What a response cost, by the settings and the files of providers."""

from __future__ import annotations

from pathlib import Path

from tui.cli.composition import Pricing
from tui.cli.models import Workplace, resolve
from tui.cli.options import ModelFlags
from tui.core.wire.events import Usage
from tui.settings import Paths, parse

HOUSE = """
[endpoints.house]
kind = "openai-chat"
url = "http://127.0.0.1:9/v1"
key_env = ""

[models.fast]
name = "m"
endpoint = "house"
price = { input = 1.0, output = 2.0 }
"""


async def test_a_wrong_file_of_a_provider_that_nobody_asks_is_no_matter(tmp_path: Path) -> None:
    paths = Paths.find({"DUETTO_HOME": str(tmp_path)})
    paths.providers_dir.mkdir()
    (paths.providers_dir / "other.toml").write_text("titel = 'x'")
    settings = parse(HOUSE, "FILE")
    models = resolve(settings, ModelFlags(), {}, paths)
    pricing = Pricing(Workplace(tmp_path, settings, models, paths))
    quote = await pricing.quote("house", ["m"], Usage(1_000_000, 1_000_000), "")
    assert quote.usd == 3.0
