"""What pydantic found wrong, in our words."""

from __future__ import annotations

from pydantic import ValidationError


def first_fault(error: ValidationError) -> tuple[str, str, str]:
    """Return the first fault's place (dotted, empty for the whole), its message and its type."""
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    message = fault["msg"].removeprefix("Value error, ")
    place = ".".join(str(part) for part in fault["loc"])
    return place, message[:1].lower() + message[1:], fault["type"]
