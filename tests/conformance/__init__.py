"""Redis's own Tcl test suite against ``miniredis serve``.

The suite is not part of this repository: ``README.md`` of the project says where to get it.
``python -m tests.conformance PATH`` runs it, ``expected.toml`` holds what is known to fail.
"""
