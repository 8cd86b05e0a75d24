"""The Python console of the window, and what scripts may do with the window."""
