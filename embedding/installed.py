"""Files that other packages ship."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from embedding.maker import EmbedderUnavailable


def installed_file(package: str, name: str) -> Path:
    """Return the path of a package's file without running the package's own code.

    Raises EmbedderUnavailable where the package is not installed or has no such file.
    """
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    path = Path(folders[0], name) if folders else None
    if path is None or not path.is_file():
        raise EmbedderUnavailable(f"the package {package} with {name} is not installed")
    return path
