"""CKY parsing of whole batches of strings, one bit per string."""
