"""Planes without bounds in the engines that hold no rectangle, as the window sees them."""
