"""The HTTP interface: `/v1`, health, metrics and its own description."""

from rest.app import create_app
from rest.limits import Limits

__all__ = ["Limits", "create_app"]
