"""Big integers in bulk: a number to a thread, or to a warp; on the CPU a number after the other."""
