"""Tiles on a CUDA device: lists of those that are visited are made there, round by round."""
