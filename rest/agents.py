"""/v1/agents: who may remember and recall. Changing them is for who runs the deployment."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter
from pydantic import BaseModel, Field

from rest.dependencies import CurrentAgent, UsedServices
from sql import agents
from sql.acting import read
from sql.agents import Agent, AgentEntry, Login, Secrets
from sql.errors import Conflict, Forbidden, NotFound
from sql.records import Input, Name, Time

router: Final = APIRouter(prefix="/v1/agents", tags=["agents"])


class Agents(BaseModel):
    """Agents by name."""

    agents: list[AgentEntry]


class NewSecrets(Input):
    """What new secrets are to be."""

    token_expires_at: Time | None = None
    """When the token ends. Left out: never."""


class NewLogin(Input):
    """What a new SQL login is to be."""

    expires_at: Time | None = None
    """When no client logs in with it any more. Left out: never."""


class NewAgent(NewSecrets):
    """An agent to make."""

    name: Name
    """A lower-case letter, then letters, digits, _ and - (62 at most)."""
    sql_login: bool = False
    """Whether it also gets a Postgres login of its name."""
    reader: bool = False
    """Whether it may only read and recall."""
    spaces: Annotated[tuple[Name, ...], Field(max_length=100)] = ()
    """The spaces that it is a member of from the start, beside its own."""


@router.get("")
async def list_agents(agent: CurrentAgent, services: UsedServices) -> Agents:
    """List this agent; all, for who runs the deployment."""
    return Agents(agents=await _seen(services, agent))


@router.get("/{name}")
async def get_agent(name: Name, agent: CurrentAgent, services: UsedServices) -> AgentEntry:
    """Return one agent."""
    for entry in await _seen(services, agent):
        if entry.name == name:
            return entry
    raise NotFound(f'no agent "{name}"', sqlstate="P0002")


@router.post("", status_code=201)
async def add_agent(new: NewAgent, agent: CurrentAgent, services: UsedServices) -> Secrets:
    """Make an agent. Its secrets are told this once."""
    _require_admin(agent)
    return await agents.add_agent(
        *(services.pool, new.name),
        sql_login=new.sql_login,
        reader=new.reader,
        spaces=new.spaces,
        token_expires_at=new.token_expires_at,
    )


@router.post("/{name}/rotate", status_code=201)
async def rotate(
    name: Name, agent: CurrentAgent, services: UsedServices, new: NewSecrets | None = None
) -> Secrets:
    """Give an agent, or this one, new secrets, told this once; old tokens go on for ten minutes."""
    if name != agent.name:
        _require_admin(agent)
    return await agents.rotate(
        services.pool, name, token_expires_at=new.token_expires_at if new else None
    )


@router.put("/{name}/sql_login")
async def give_login(
    name: Name, agent: CurrentAgent, services: UsedServices, new: NewLogin | None = None
) -> Login:
    """Give an agent a Postgres login, or a new password to the one it has, told this once."""
    _require_admin(agent)
    return await agents.give_login(services.pool, name, expires_at=new.expires_at if new else None)


@router.delete("/{name}/sql_login", status_code=204)
async def end_login(name: Name, agent: CurrentAgent, services: UsedServices) -> None:
    """End an agent's Postgres login and its sessions; its tokens and memories stay."""
    _require_admin(agent)
    await agents.end_login(services.pool, name)


@router.delete("/{name}", status_code=204)
async def remove_agent(name: Name, agent: CurrentAgent, services: UsedServices) -> None:
    """End an agent's tokens, login, memberships, shares and delegations; what it wrote stays."""
    _require_admin(agent)
    if name == agent.name:
        raise Conflict(f'agent "{name}" can\'t remove itself', sqlstate="55006")
    await agents.remove(services.pool, name)


async def _seen(services: UsedServices, agent: Agent) -> list[AgentEntry]:
    rows = await read(services.pool, agent, agents.LIST_AGENTS)
    return [AgentEntry(**row) for row in rows]


def _require_admin(agent: Agent) -> None:
    if not agent.admin:
        raise Forbidden(f'agent "{agent.name}" does not run this deployment', sqlstate="42501")
