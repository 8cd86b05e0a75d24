"""CKY parsing with weights: numbers of parses, probabilities, best parses; string by string."""
