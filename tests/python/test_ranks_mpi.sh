#!/usr/bin/env bash
# labels: full
# weft.Problem in processes of mpirun: the bits of threads, the solution on the first rank and words on others; communicators of
# mpi4py where that is installed, also parts of all processes; an exception in one process ends all of them.
set -euo pipefail
python=/usr/bin/python3
mpicc=${WEFT_MPICC:-mpicc}
skip() {
    echo "skipped: $1"
    exit 77
}
library=$(echo "$WEFT_BUILD"/libweft.so.?.?)
[ -e "$library" ] || skip "this build has no libweft.so"
"$python" -c 'import numpy' 2>/dev/null || skip "python3-numpy is missing"
command -v "$mpicc" >/dev/null || skip "there is no $mpicc"
command -v mpirun >/dev/null || skip "there is no mpirun"
"$mpicc" -E -include mpi.h -x c /dev/null >/dev/null 2>&1 || skip "$mpicc has no mpi.h"
export WEFT_LIBRARY="$library" PYTHONPATH="$WEFT_SOURCE/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
launch=(mpirun)
if [[ $(mpirun --version 2>&1) == *"Open MPI"* || $(mpirun --version 2>&1) == *OpenRTE* ]]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
    launch+=(--oversubscribe)
fi
ranks() { # N SCRIPT...
    local n=$1
    shift
    timeout 120 "${launch[@]}" -n "$n" "$python" "$@" </dev/null
}
fail() {
    echo "$1"
    exit 1
}
cat >problems.py <<'END'
import weft

HEAT = """
e = FiniteElement("Lagrange", triangle, 1)
u, v = TrialFunction(e), TestFunction(e)
m, a, L = u*v*dx, inner(grad(u), grad(v))*dx, v*dx
"""


def stationary(**ranks):
    problem = weft.Problem(weft.Mesh("square:12"), "diffusion", {"diffusivity": "1 + x"}, **ranks,
                           conditions=[weft.Dirichlet("left", "y"), weft.Tie("right")])
    problem.solve()
    return problem


def steps(**ranks):
    problem = weft.Problem(weft.Mesh("square:12"), weft.FormFile(HEAT, name="heat.ufl"), **ranks,
                           conditions=[weft.Dirichlet("left", 0)])
    for step in problem.steps(dt=0.02, end=0.06, initial="x", output="u%d.pvd" % problem.n_ranks, overwrite=True):
        pass
    return problem


def check(problem, expected):
    """The first rank has these bits, others words."""
    balance = problem.reactions()
    problem.write("u.vtkhdf")
    if problem.rank == 0:
        assert problem.values.tobytes() == expected, problem
        assert len(problem.integrals(),) if hasattr(problem.integrals(), "__len__") else problem.integrals() > 0
        assert balance is not None
        return
    assert balance is None
    for name in ("values", "u", "n_dofs", "energy"):
        try:
            getattr(problem, name)
        except weft.UsageError as error:
            assert "first rank, and this process is rank %d of %d" % (problem.rank, problem.n_ranks) in str(error), error
        else:
            raise AssertionError(name)
END
cat >threads.py <<'END'
import problems

for name in ("stationary", "steps"):
    with open(name, "wb") as file:
        file.write(getattr(problems, name)(ranks=3).values.tobytes())
END
cat >processes.py <<'END'
import sys

import problems
import weft

for name in ("stationary", "steps"):
    with open(name, "rb") as file:
        expected = file.read()
    problem = getattr(problems, name)()
    assert problem.n_ranks == int(sys.argv[1])
    problems.check(problem, expected)
# Errors of all, or of the first rank alone, are exceptions of all.
for arguments, kind in (({"ranks": 2}, weft.UsageError), ({"comm": 3}, weft.UsageError), ({"devices": ["null"]}, weft.UnsupportedError)):
    try:
        problems.stationary(**arguments)
    except kind as error:
        assert "hint: " in str(error), error
    else:
        raise AssertionError(arguments)
try:
    weft.Problem(weft.Mesh("square:12"), "diffusion", conditions=[weft.Periodic("left", "nowhere")]).solve()
except weft.Error as error:
    assert "nowhere" in str(error), error
else:
    raise AssertionError("nowhere")
problems.check(problems.stationary(), open("stationary", "rb").read())
END
"$python" threads.py
for n in 2 3; do
    ranks "$n" processes.py "$n" >out 2>&1 || fail "$n processes: $(cat out)"
    [ ! -s out ] || fail "$n processes print $(cat out)"
    [ -s u.vtkhdf ] && [ -s "u$n.pvd" ] || fail "no files"
done

cat >broken.py <<'END'
import problems

problem = problems.stationary()
if problem.rank == 1:
    raise RuntimeError("of this process alone")
problems.stationary()
END
code=0
ranks 2 broken.py >out 2>&1 || code=$?
[ "$code" -ne 0 ] && [ "$code" -ne 124 ] || fail "an exception of one process ends with $code: $(cat out)"
grep -q "RuntimeError: of this process alone" out || fail "$(cat out)"

"$python" -c 'import mpi4py' 2>/dev/null || { echo "skipped: mpi4py is missing"; exit 77; }
cat >communicators.py <<'END'
from mpi4py import MPI

import problems
import weft

expected = open("stationary", "rb").read()
problems.check(problems.stationary(comm=MPI.COMM_WORLD), expected)
half = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2)
problem = problems.stationary(comm=half)
assert problem.n_ranks == half.size and problem.rank == half.rank
problems.check(problem, expected)
alone = problems.stationary(comm=MPI.COMM_SELF)
assert (alone.n_ranks, alone.rank) == (1, 0) and alone.values.tobytes() == expected
values = MPI.COMM_WORLD.bcast(alone.values if MPI.COMM_WORLD.rank == 0 else None)
assert values.tobytes() == expected
group = MPI.COMM_WORLD.Create(MPI.COMM_WORLD.group.Incl([0]))  # null in other processes
try:
    problems.stationary(comm=group)
    assert MPI.COMM_WORLD.rank == 0
except weft.UsageError as error:
    assert "MPI_COMM_NULL" in str(error), error
version, MPI.Get_library_version = MPI.Get_library_version, lambda: "Another MPI 1.0, of 2026"
try:
    problems.stationary(comm=MPI.COMM_WORLD.Dup())
except weft.UsageError as error:
    assert "of another MPI (Another MPI 1.0) than that of mpicc (" in str(error) and "hint: put the mpicc" in str(error), error
else:
    raise AssertionError("another MPI")
END
ranks 3 communicators.py >out 2>&1 || fail "communicators: $(cat out)"
[ ! -s out ] || fail "communicators print $(cat out)"
"$python" -c '
from mpi4py import MPI

import problems
problem = problems.stationary(comm=MPI.COMM_WORLD)  # not started by mpirun
assert problem.n_ranks == 1 and problem.values.tobytes() == open("stationary", "rb").read()'
