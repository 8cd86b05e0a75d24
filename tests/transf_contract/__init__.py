"""What every engine that enumerates semigroups must do, as tests.

kernels.transf.ref is the oracle, and the reference engine's tables; see tests/transf_model.py.
A test class that inherits TransfContract gives a fixture `transf`, a kernels.transf.Transf.
"""

from .asked import Asked
from .found import Found
from .points import Points
from .resumed import Resumed


class TransfContract(Found, Points, Resumed, Asked):
    """See Contract for what a class that inherits it may change."""
