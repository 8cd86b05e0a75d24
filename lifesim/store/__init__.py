"""Universes on disk: a directory of sub-universe files, a manifest, a journal and a lock."""
