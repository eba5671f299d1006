#!/usr/bin/env python3
"""The sequences of bench_blas by torch.compile and by jax.jit, where these are installed.

    bench_blas_python.py [--device cuda|cpu] [--repeat N] BLAS.json

Reads what `bench_blas --json BLAS.json` wrote, runs the same sequences at the same sizes, and prints seconds
of both and how many times Weft is as fast. Medians; compiled and run before. Exit status 77: none is there.
"""
import argparse
import json
import statistics
import sys
import time

ALPHA, BETA = 0.9990234375, 0.75

# Arguments in order; capitals are matrices. The same expressions serve both libraries.
SEQUENCES = {
    "AXPYDOT": ("wvu", lambda w, v, u: (lambda z: (z, (z * u).sum()))(w - ALPHA * v)),
    "ATAX": ("Ax", lambda A, x: A.T @ (A @ x)),
    "BiCGK": ("Apr", lambda A, p, r: (A @ p, A.T @ r)),
    "SGEMV": ("Axy", lambda A, x, y: ALPHA * (A @ x) + BETA * y),
    "SGEMVT": ("Ayz", lambda A, y, z: (lambda x: (x, ALPHA * (A @ x)))(BETA * (A.T @ y) + z)),
    "SSCAL": ("x", lambda x: ALPHA * x),
    "GEMVER": ("Aabyefz", lambda A, a, b, y, e, f, z: gemver(A + a[:, None] * e + b[:, None] * f, y, z)),
    "GESUMMV": ("ABx", lambda A, B, x: ALPHA * (A @ x) + BETA * (B @ x)),
    "MADD": ("AB", lambda A, B: A + B),
    "VADD": ("wyz", lambda w, y, z: w + y + z),
    "WAXPBY": ("xy", lambda x, y: ALPHA * x + BETA * y),
}


def gemver(B, y, z):
    x = BETA * (B.T @ y) + z
    return B, x, ALPHA * (B @ x)


def median_seconds(run, wait, repeat):
    """Seconds of one run; short ones are timed many at once."""
    for _ in range(3):
        start = time.perf_counter()
        wait(run())
        once = time.perf_counter() - start
    runs = max(1, min(1000, int(2e-3 / once)))
    taken = []
    for _ in range(repeat):
        start = time.perf_counter()
        for _ in range(runs):
            result = run()
        wait(result)
        taken.append((time.perf_counter() - start) / runs)
    return statistics.median(taken)


class Torch:
    name = "torch.compile"

    def __init__(self, device, precision):
        import torch

        self.torch = torch
        self.device = device
        self.real = torch.float32 if precision == "single" else torch.float64
        if device == "cuda" and not torch.cuda.is_available():
            raise ImportError("torch has no GPU")

    def random(self, shape, _):
        return self.torch.rand(shape, dtype=self.real, device=self.device) * 2 - 1

    def compiled(self, function):
        self.torch._dynamo.reset()
        return self.torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)

    def wait(self, _=None):
        if self.device == "cuda":
            self.torch.cuda.synchronize()


class Jax:
    name = "jax.jit"

    def __init__(self, device, precision):
        import jax

        if precision == "double":
            jax.config.update("jax_enable_x64", True)
        self.jax = jax
        self.device = jax.devices("gpu" if device == "cuda" else "cpu")[0]
        self.real = "float32" if precision == "single" else "float64"

    def random(self, shape, number):
        with self.jax.default_device(self.device):
            return self.jax.random.uniform(self.jax.random.key(number), shape, self.real, -1, 1)

    def compiled(self, function):
        return self.jax.jit(function)

    def wait(self, result=None):
        if result is not None:
            self.jax.block_until_ready(result)


def measure(library, name, n, repeat):
    names, function = SEQUENCES[name]
    arguments = [library.random((n, n) if c.isupper() else (n,), i) for i, c in enumerate(names)]
    run = library.compiled(function)
    library.wait(run(*arguments))
    return median_seconds(lambda: run(*arguments), library.wait, repeat)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--repeat", type=int, default=11)
    parser.add_argument("blas", metavar="BLAS.json", help="written by bench_blas --json")
    options = parser.parse_args()
    with open(options.blas, encoding="utf-8") as file:
        found = json.load(file)
    libraries = []
    for kind in (Torch, Jax):
        try:
            libraries.append(kind(options.device, found["precision"]))
        except (ImportError, RuntimeError) as reason:
            print(f"{kind.name}: skipped, {reason}")
    if not libraries:
        return 77
    print(f"{'sequence':8} {'n':>10} {'Weft us':>11}" + "".join(f" {l.name:>16} us  speed-up" for l in libraries))
    for row in found["rows"]:
        if row["note"]:
            continue
        line = f"{row['sequence']:8} {row['n']:10} {row['weft_seconds'] * 1e6:11.2f}"
        for library in libraries:
            try:
                seconds = measure(library, row["sequence"], row["n"], options.repeat)
                line += f" {seconds * 1e6:19.2f} {seconds / row['weft_seconds']:9.2f}"
            except RuntimeError as reason:  # out of memory, or the library cannot compile it
                line += f" {type(reason).__name__:>19} {'-':>9}"
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
