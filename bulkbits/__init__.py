"""What the commands of all packages share: how they begin and end, their options, their files.

It knows nothing of universes, grammars, numbers or semigroups; the packages that do import it.
"""
