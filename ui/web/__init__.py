"""A universe in a browser: the page of `lifesim serve`, and a notebook's widget."""
