"""Entry of python -m benchmarks.costs."""

from benchmarks.costs import main

main()
