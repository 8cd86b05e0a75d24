"""The timeline, the plots, and what exports ask."""
