"""Moving universes on that are on disk: windows, phases, and the choice of how long they are."""
