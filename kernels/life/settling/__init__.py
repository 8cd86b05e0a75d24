"""Universes with edges that settle: computed as a whole, and later only where they change."""
