"""Tiles on the CPU: C++ that moves a tile on by 15 generations a visit."""
