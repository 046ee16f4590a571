"""Bayesian analysis of private data, with a certificate for every release.

    import dpm

    program = dpm.compile("poll.dpm")            # a path, or the text of a program
    print(program.certify())                     # what may leave, and at what cost; needs no data
    result = program.run(data={"poll": frame})   # pandas, polars, pyarrow, DuckDB, columns, or a path
    result["p_hat"]                              # a value
    result["post"].summary()                     # a posterior

``dpm.explain()`` lists the words of the language, and has a page on each: ``dpm.explain("histogram")``. ``python -m dpm`` is the command.

The compiler, the proofs and the draws are those of the ``dpm`` command, which this package runs: a program
means the same here, at the prompt and in R.
"""

from ._command import Bug, DataError, Error, Failed, LedgerError, Rejected, UsageError, command, version
from ._pages import explain, inspect
from ._program import Certificate, Program, compile, fit
from ._result import Posterior, Result, load
from ._tables import sql

__all__ = [
    "Bug", "Certificate", "DataError", "Error", "Failed", "LedgerError", "Posterior", "Program", "Rejected", "Result", "UsageError", "command", "compile",
    "explain", "fit", "inspect", "load", "sql", "version",
]


def load_ipython_extension(shell):
    """``%load_ext dpm`` gives notebooks the cell magic ``%%dpm``."""
    from ._magic import register

    register(shell)
