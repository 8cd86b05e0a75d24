"""Greatest common divisors in bulk, and which numbers of a set share a factor."""
