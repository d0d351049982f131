"""Finding, starting and freezing real servers. No tests."""
