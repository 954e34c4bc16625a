"""`python -m bench [NAME …]`: all measurements, or those named; each prints the machine's load."""

from __future__ import annotations

import importlib
import sys

from rich.console import Console

NAMES = (*("startup", "writes", "log", "gateway", "embedding", "retrieval", "latency", "sharing"),)


def main() -> None:
    """Run them one after the other; a name's own options follow it when it stands alone."""
    console = Console()
    arguments = sys.argv[1:]
    if arguments and arguments[0] in NAMES and any(word.startswith("-") for word in arguments[1:]):
        chosen, sys.argv[1:] = [arguments[0]], arguments[1:]
    else:
        chosen, sys.argv[1:] = arguments or list(NAMES), []
    if unknown := [name for name in chosen if name not in NAMES]:
        console.print(f"no measurement {', '.join(unknown)}; there are {', '.join(NAMES)}")
        raise SystemExit(2)
    for name in chosen:
        console.rule(name)
        importlib.import_module(f"bench.{name}").main()


if __name__ == "__main__":
    main()
