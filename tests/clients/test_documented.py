"""What the page for operators names is there, and the other way round."""

from __future__ import annotations

import re
from pathlib import Path

from prometheus_client import REGISTRY

from gateway import refusals
from gateway.metrics import exposition
from pgrecall.settings import Settings

PAGE = (Path(__file__).parents[2] / "docs" / "gateway.md").read_text()


def test_every_metric_of_the_gateway_is_documented_and_no_other() -> None:
    assert b"pgrecall_gateway_sessions" in exposition()
    # A counter's own name goes without the ending that its samples have.
    counted = {"counter": "_total"}
    exposed = {
        one.name + counted.get(one.type, "")
        for one in REGISTRY.collect()
        if one.name.startswith("pgrecall_gateway_")
    }
    assert set(re.findall(r"`(pgrecall_gateway_\w+)[{`]", PAGE)) == exposed


def test_every_reason_and_code_of_a_refusal_is_documented() -> None:
    for kind in refusals.Refusal.__subclasses__():
        assert f"`{kind.reason}`" in PAGE
        assert kind.sqlstate in PAGE or kind is refusals.NotAuthorized


def test_every_limit_that_is_documented_can_be_set() -> None:
    named = set(re.findall(r"`PGRECALL_(GATEWAY_\w+)`", PAGE))
    limits = {name.upper() for name in Settings.model_fields if re.search("max_|timeout", name)}
    assert named == {name for name in limits if name.startswith("GATEWAY_")}
