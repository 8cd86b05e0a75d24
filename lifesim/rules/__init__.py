"""Reading of rules as people and files write them: a module for each notation."""
