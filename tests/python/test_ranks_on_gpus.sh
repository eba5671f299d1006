#!/usr/bin/env bash
# labels: full
# weft.Problem on emulated GPUs, one for each rank: the bits of one GPU, and numbers of the host; a device that is not there ends all.
set -euo pipefail
build=${WEFT_BUILD:?} python=/usr/bin/python3
emulated=$build/tests/emulated_gpu
library=$(echo "$build"/libweft.so.?.?)
"$python" -c 'import numpy' 2>/dev/null || { echo "skipped: python3-numpy is missing"; exit 77; }
command -v g++ >/dev/null || { echo "skipped: there is no g++"; exit 77; }
[ -e "$emulated/libcuda.so.1" ] && [ -e "$library" ] || { echo "skipped: not part of this build"; exit 77; }
unset WEFT_DEVICE
export LD_LIBRARY_PATH=$emulated${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} WEFT_SHIPPED=none
export WEFT_LIBRARY="$library" PYTHONPATH="$WEFT_SOURCE/python" PYTHONDONTWRITEBYTECODE=1
"$python" - <<'END'
import numpy

import weft

HEAT = """
e = FiniteElement("Lagrange", triangle, 1)
u, v = TrialFunction(e), TestFunction(e)
m, a, L = u*v*dx, inner(grad(u), grad(v))*dx, v*dx
"""
mesh = weft.Mesh("square:7")


def stationary(**ranks):
    problem = weft.Problem(mesh, "diffusion", {"diffusivity": "1 + x*y"}, tolerance=1e-7, preconditioner="jacobi", **ranks,
                           conditions=[weft.Dirichlet("left", "y"), weft.Robin("top", "1 + x", "x")])
    problem.solve()
    return problem


def steps(**ranks):
    problem = weft.Problem(mesh, weft.FormFile(HEAT, name="heat.ufl"), tolerance=1e-7, preconditioner="jacobi", **ranks,
                           conditions=[weft.Dirichlet("left", 0)])
    for _ in problem.steps(dt=0.05, end=0.1, initial="x"):
        pass
    return problem


for solve in (stationary, steps):
    one, two = solve(devices=["cuda:0"]), solve(devices=["cuda:3", "cuda:1"])
    assert (one.n_ranks, two.n_ranks) == (1, 2) and one.device.is_cuda and two.device.name.startswith("cuda:3"), two.device
    assert one.values.tobytes() == two.values.tobytes(), solve
    assert one.integrals() == two.integrals()
    numpy.testing.assert_allclose(one.values, solve(ranks=1).values, rtol=0, atol=1e-6)
    pair, again = solve(devices=["host", "cuda:0"]), solve(devices=["host:1", "cuda:2"], shares=[0.3, 0.7])
    numpy.testing.assert_allclose(pair.values, one.values, rtol=0, atol=1e-6)
    numpy.testing.assert_allclose(again.values, one.values, rtol=0, atol=1e-6)
    assert abs(sum(one.share for one in pair.shares) - 1) < 1e-12 and "stand-in" in pair.shares[1].device, pair.shares
    assert [one.share for one in again.shares] == [0.3, 0.7]
try:
    stationary(devices=["cuda:0", "cuda:12"])
except weft.UsageError as error:
    assert "there are 8 GPUs here" in str(error), error
else:
    raise AssertionError("cuda:12")
END
