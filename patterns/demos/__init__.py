"""Demonstrations of the patterns: ``python -m patterns NAME``.

Module ``patterns.demos.NAME`` has ``run(stage)``, which plays the pattern through, says what
happens, and returns what its figure shows; and, if it has a figure, ``draw(shown, ax=None)``,
which returns the axes, and ``alt_text(shown)``.
"""
