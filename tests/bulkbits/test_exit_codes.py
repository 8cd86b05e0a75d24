"""Every error that is meant for people has an exit code, and the same one in all commands."""

from __future__ import annotations

import pytest

from bulkbits import faults
from bulkbits.cluster import ClusterError
from bulkbits.exit_codes import DamagedFileError, ExitCode, exit_code_of
from ckyparse.grammar import GrammarError
from kernels.targets.contract import BackendUnavailableError
from lifesim.errors import DamagedDataError, LifesimError
from semigroups.files import StoredError
from semigroups.reading import GeneratorsError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (LifesimError("-"), ExitCode.BAD_INPUT),
        (GrammarError("-"), ExitCode.BAD_INPUT),
        (GeneratorsError("-", "G.json"), ExitCode.BAD_INPUT),
        (StoredError("S.h5", "-"), ExitCode.BAD_INPUT),
        (StoredError("S.h5", "-", is_damaged=True), ExitCode.DAMAGED),
        (DamagedFileError("-"), ExitCode.DAMAGED),
        (ClusterError("-"), ExitCode.UNAVAILABLE),
        (ClusterError("-", ExitCode.BAD_INPUT), ExitCode.BAD_INPUT),
        (BackendUnavailableError("-"), ExitCode.UNAVAILABLE),
        (DamagedDataError("-"), ExitCode.DAMAGED),
        (KeyError("-"), None),
        (ValueError("-"), None),
    ],
)
def test_codes(error: Exception, code: ExitCode | None) -> None:
    assert exit_code_of(error) is code


def test_a_fault_of_the_command_itself() -> None:
    assert faults.EXIT_CODE == ExitCode.FAULT
