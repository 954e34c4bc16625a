"""What the routes are given: the services handed to the app, and who asks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, TypeAlias

import structlog
from fastapi import Depends, HTTPException, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from rest.metrics import Metrics
from sql.agents import Agent
from sql.pool import Pool
from sql.store import MemoryStore

Authenticate: TypeAlias = Callable[[str], Awaitable[Agent | None]]

_bearer = HTTPBearer(auto_error=False, description="An agent's token: `pgrecall agent add NAME`.")


@dataclass(frozen=True, slots=True)
class Services:
    """What the app was made with; `embedder` names the model, None without one."""

    store: MemoryStore
    pool: Pool
    authenticate: Authenticate
    embedder: str | None
    metrics: Metrics


async def _services(request: Request) -> Services:  # else FastAPI calls it in a thread
    services: Services = request.app.state.services
    return services


UsedServices: TypeAlias = Annotated[Services, Depends(_services)]


async def _current_agent(
    request: Request,
    services: UsedServices,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
) -> Agent:
    challenge = 'Bearer realm="pgrecall"'
    if credentials is None:
        raise HTTPException(401, headers={"WWW-Authenticate": challenge})
    agent = await services.authenticate(credentials.credentials)
    if agent is None:
        challenge += ', error="invalid_token"'
        raise HTTPException(401, headers={"WWW-Authenticate": challenge})
    request.state.agent = agent.name  # for the audit of refusals
    structlog.contextvars.bind_contextvars(agent=agent.name)
    return agent


CurrentAgent: TypeAlias = Annotated[Agent, Depends(_current_agent)]
