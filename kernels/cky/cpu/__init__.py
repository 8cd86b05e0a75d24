"""CKY parsing on the CPU: the plan of a grammar, the engine, and the C++ that it calls."""
