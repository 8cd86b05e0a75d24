"""The engine on the CPU, and its C++."""
