"""Settings of the embedded Postgres that fit the machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import psutil

_MB = 1024 * 1024
_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def memory_bytes() -> int:
    """Return the memory we may use: the machine's, or the container's when that is less."""
    total: int = psutil.virtual_memory().total
    for file in _CGROUP_LIMITS:
        try:
            total = min(total, int(Path(file).read_text()))
        except (OSError, ValueError):  # no such cgroup, or "max"
            continue
    return total


def settings_for(memory: int, cores: int, shared_memory_free: int) -> dict[str, str]:
    """Return settings for a machine of so many bytes and cores, of which we are a guest."""
    maintenance = min(max(memory // 16, 64 * _MB), 1024 * _MB)
    return {
        "shared_buffers": f"{min(max(memory // 8, 64 * _MB), 8192 * _MB) // _MB}MB",
        "effective_cache_size": f"{max(memory // 2, 128 * _MB) // _MB}MB",
        "maintenance_work_mem": f"{maintenance // _MB}MB",
        "work_mem": "16MB",
        "max_connections": "200",
        "superuser_reserved_connections": "5",
        "max_worker_processes": str(max(8, cores)),
        "max_parallel_workers_per_gather": str(min(4, cores // 2)),
        "max_parallel_maintenance_workers": str(min(4, max(1, cores // 2))),
        # A parallel HNSW build takes maintenance_work_mem from here, and Docker gives 64 MB.
        "dynamic_shared_memory_type": "posix" if shared_memory_free > 2 * maintenance else "mmap",
        "max_wal_size": "2GB",
        "min_wal_size": "128MB",
        "checkpoint_timeout": "15min",
        "wal_compression": "pglz",
        "random_page_cost": "1.1",
        "jit": "off",
        "autovacuum_vacuum_scale_factor": "0.05",
        "autovacuum_analyze_scale_factor": "0.05",
        "password_encryption": "scram-sha-256",
        "idle_in_transaction_session_timeout": "0",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "logging_collector": "off",
        "log_destination": "stderr",
        "log_line_prefix": "%m [%p] %u ",
        # Statements and details hold what agents remember and ask.
        "log_min_error_statement": "panic",
        "log_error_verbosity": "terse",
    }


def conf_text(socket_folder: Path, extra: Mapping[str, str]) -> str:
    """Return the generated file's text for this machine; `extra` wins."""
    try:
        shared = os.statvfs("/dev/shm")
        shared_free = shared.f_bavail * shared.f_frsize
    except OSError:  # macOS has none
        shared_free = 1 << 40
    settings = settings_for(memory_bytes(), os.cpu_count() or 1, shared_free)
    settings |= {
        "listen_addresses": "",
        "unix_socket_directories": str(socket_folder),
        "unix_socket_permissions": "0700",
    }
    settings |= extra
    lines = [
        f"{name} = '{value.replace(chr(39), chr(39) * 2)}'" for name, value in settings.items()
    ]
    return "# made anew at each start; ALTER SYSTEM overrides it\n" + "\n".join(lines) + "\n"
