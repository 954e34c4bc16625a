from __future__ import annotations

import subprocess
import sys

import pytest

FAILING = """
import logging, sys
import structlog
from pgrecall.logs import configure_logging
configure_logging("debug", sys.argv[1])

def fail(text):
    secrets = {"password": text}
    raise ValueError("a fault that names nobody")

for log in (structlog.get_logger("ours").exception, logging.getLogger("theirs").exception):
    try:
        fail("".join(("a priv", "ate question")))
    except ValueError:
        log("failed")
"""


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_traceback_tells_where_and_no_variables(form: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", FAILING, form], capture_output=True, text=True, check=True
    )
    assert ran.stderr.count("a fault that names nobody") >= 2
    assert "in fail" in ran.stderr or '"name": "fail"' in ran.stderr
    assert "private" not in ran.stderr
