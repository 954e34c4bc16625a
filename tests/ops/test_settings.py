from __future__ import annotations

from pathlib import Path

import pytest

from pgrecall.errors import SettingsError
from pgrecall.settings import Settings, load_settings


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"PGRECALL_{name.upper()}", raising=False)


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    return tmp_path


def write(folder: Path, text: str) -> None:
    (folder / "pgrecall.toml").write_text(text)


def test_the_file_of_the_state_folder_is_read(state_dir: Path) -> None:
    write(state_dir, 'gateway_port = 1234\nembedder = "none"\n')
    settings = load_settings(state_dir=state_dir)
    assert (settings.gateway_port, settings.embedder) == (1234, "none")


def test_the_environment_wins_over_the_file_and_the_command_line_over_both(
    state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(state_dir, "gateway_port = 1\nhttp_port = 1\ngateway_workers = 1\n")
    monkeypatch.setenv("PGRECALL_STATE_DIR", str(state_dir))
    monkeypatch.setenv("PGRECALL_GATEWAY_PORT", "2")
    monkeypatch.setenv("PGRECALL_HTTP_PORT", "2")
    settings = load_settings(gateway_port=3)
    assert (settings.gateway_port, settings.http_port, settings.gateway_workers) == (3, 2, 1)


def test_mcp_groups_are_a_list_with_commas(
    state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGRECALL_MCP_TOOLS", "core, admin")
    assert load_settings(state_dir=state_dir).mcp_tools == ("core", "admin")


def test_an_unknown_key_of_the_file_is_named_with_the_nearest_known_one(state_dir: Path) -> None:
    write(state_dir, "gatway_port = 1\n")
    with pytest.raises(SettingsError, match=r"pgrecall\.toml: unknown setting gatway_port") as told:
        load_settings(state_dir=state_dir)
    assert told.value.hint == "did you mean gateway_port?"


def test_a_wrong_value_is_refused_with_the_place_it_came_from(
    state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(state_dir, "http_port = 99999\n")
    with pytest.raises(SettingsError, match=r"^pgrecall\.toml: http_port: "):
        load_settings(state_dir=state_dir)
    monkeypatch.setenv("PGRECALL_HTTP_PORT", "many")
    with pytest.raises(SettingsError, match=r"^PGRECALL_HTTP_PORT: "):
        load_settings(state_dir=state_dir)
    with pytest.raises(SettingsError, match=r"^--http-port: "):
        load_settings(state_dir=state_dir, http_port=-1)


def test_a_file_that_is_no_toml_is_refused(state_dir: Path) -> None:
    write(state_dir, "gateway_port = = 1\n")
    with pytest.raises(SettingsError, match=r"^pgrecall\.toml: "):
        load_settings(state_dir=state_dir)


def test_the_gateway_listens_beyond_this_machine_only_with_tls(
    state_dir: Path, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match=r"0\.0\.0\.0, beyond this machine, only with TLS"):
        load_settings(state_dir=state_dir, gateway_host="0.0.0.0")
    certificate = {"gateway_tls_cert": tmp_path / "c.pem", "gateway_tls_key": tmp_path / "k.pem"}
    assert load_settings(state_dir=state_dir, gateway_host="0.0.0.0", **certificate)


def test_a_secret_does_not_show_when_settings_are_printed(state_dir: Path) -> None:
    settings = load_settings(
        state_dir=state_dir, openai_api_key="sk-hidden", database_url="postgresql://a:hidden@h/d"
    )
    assert "hidden" not in repr(settings)
    assert settings.database_dsn == "postgresql://a:hidden@h/d"
