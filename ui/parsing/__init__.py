"""The model of the window for parsing."""
