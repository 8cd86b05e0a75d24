"""CUDA without a GPU: the .cu files, compiled by the host compiler and run on small inputs."""

from .emulated import EmulatedDevice

__all__ = ["EmulatedDevice"]
