"""The start page, lists of files with small pictures, and the browser of patterns."""
