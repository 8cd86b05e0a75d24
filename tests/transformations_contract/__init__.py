"""Test what every engine that enumerates semigroups must do.

tests.transformations_oracle is the oracle, and the reference engine's tables; see
tests/transformations_model.py. A test class that inherits SemigroupEngineContract gives a
fixture `engine`, a kernels.transformations.SemigroupEngine.
"""

from .asked import Asked
from .found import Found
from .points import Points
from .resumed import Resumed


class SemigroupEngineContract(Found, Points, Resumed, Asked):
    """See Contract for what a class that inherits it may change."""
