"""Starts a program of the wheel in place of this process: the one by whose name it was called."""
# Decision: docs/decisions/0077-wheels-bring-their-libraries.md

import os
import sys


def run() -> None:
    name = os.path.basename(sys.argv[0])
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "weft", "prefix", "bin", name)
    try:
        os.execv(program, sys.argv)
    except OSError as error:
        sys.exit("%s cannot be started: %s. Install the package again." % (program, error.strerror))
