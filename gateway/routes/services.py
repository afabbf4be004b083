"""How a route gets at what it calls."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from gateway.assembly import Services

__all__ = ["ServicesDep"]


async def _services(request: Request) -> Services:
    services: Services = request.app.state.services  # async: FastAPI sends plain functions through a thread
    return services


ServicesDep = Annotated[Services, Depends(_services)]
