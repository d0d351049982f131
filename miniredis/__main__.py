"""``python -m miniredis`` is the command line."""

from __future__ import annotations

from miniredis.cli import main

main()
