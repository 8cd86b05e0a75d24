"""Python in the window: what scripts see of a universe, and the threads that they run on."""
