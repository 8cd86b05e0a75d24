"""The window for parsing."""
