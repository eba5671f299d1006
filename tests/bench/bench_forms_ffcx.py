#!/usr/bin/env python3
"""Time the kernels that FFCx generates for actions of the Laplacian, with the loop over cells around them (dofs and
coordinates are gathered, results added), to compare
with bench_forms on the host: nanoseconds of processor time per cell.

    python3 bench_forms_ffcx.py [CELL:DEGREE ...]       default tetrahedron:1 2 3, hexahedron:2 4

Needs fenics-ffcx 0.10 or newer, gcc and numpy. Kernels are compiled with -O3 -march=native -ffast-math."""
import os
import subprocess
import sys
import tempfile

FORM = """
import basix.ufl
from ufl import Coefficient, FunctionSpace, Mesh, TestFunction, dx, grad, inner
e = basix.ufl.element("Lagrange", "{cell}", {degree})
V = FunctionSpace(Mesh(basix.ufl.element("Lagrange", "{cell}", 1, shape=(3,))), e)
L = inner(grad(Coefficient(V)), grad(TestFunction(V)))*dx
"""

DRIVER = r"""
#include "form.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
enum {{ N = {nodes}, V = {vertices}, CELLS = {cells} }};
static double now(void) {{ struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec + 1e-9*t.tv_nsec; }}
static int compare(const void *a, const void *b) {{ double x = *(double *)a, y = *(double *)b; return (x > y) - (x < y); }}
int main(void) {{
    ufcx_form *form = form_form_L;
    void (*kernel)(double *, const double *, const double *, const double *, const int *, const uint8_t *, void *) =
        (void *)form->form_integrals[0]->tabulate_tensor_float64;
    int *dofs = malloc(sizeof(int) * CELLS * N);
    double *x = malloc(sizeof *x * CELLS * N), *y = calloc(CELLS * N, sizeof *y), *X = malloc(sizeof *X * CELLS * V * 3);
    static const double corner[8][3] = {{{corners}}};
    for (long i = 0; i < (long)CELLS * N; ++i) {{ dofs[i] = (int)((i * 7 / 8) % (CELLS * N)); x[i] = (double)rand() / RAND_MAX; }}
    for (long c = 0; c < CELLS; ++c)
        for (int i = 0; i < V; ++i)
            for (int k = 0; k < 3; ++k)
                X[(c * V + i) * 3 + k] = corner[i][k] + 0.1 * rand() / RAND_MAX;
    int *vertices = malloc(sizeof(int) * CELLS * V); /* each vertex's coordinates stand where one cell has them */
    for (long i = 0; i < (long)CELLS * V; ++i) vertices[i] = (int)i;
    double taken[9];
    for (int r = -1; r < 9; ++r) {{
        const double start = now();
        for (long c = 0; c < CELLS; ++c) {{
            double w[N], b[N], nodes[V * 3];
            for (int i = 0; i < V; ++i)
                for (int k = 0; k < 3; ++k) nodes[i * 3 + k] = X[vertices[c * V + i] * 3 + k];
            for (int i = 0; i < N; ++i) w[i] = x[dofs[c * N + i]];
            memset(b, 0, sizeof b);
            kernel(b, w, NULL, nodes, NULL, NULL, NULL);
            for (int i = 0; i < N; ++i) y[dofs[c * N + i]] += b[i];
        }}
        if (r >= 0) taken[r] = now() - start;
    }}
    qsort(taken, 9, sizeof *taken, compare);
    printf("{cell} degree {degree}: %.1f ns per cell\n", taken[4] / CELLS * 1e9);
    return 0;
}}
"""


def measure(cell, degree):
    corners = ([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)] if cell == "tetrahedron" else
               [(i & 1, i >> 1 & 1, i >> 2) for i in range(8)])
    nodes = ((degree + 1)*(degree + 2)*(degree + 3)//6 if cell == "tetrahedron" else (degree + 1)**3)
    with tempfile.TemporaryDirectory() as folder:
        values = dict(cell=cell, degree=degree, nodes=nodes, vertices=len(corners), cells=max(400, 4000000//nodes**2),
                      corners=", ".join("{%s}" % ", ".join(map(str, c)) for c in corners))
        with open(os.path.join(folder, "form.py"), "w") as file:
            file.write(FORM.format(**values))
        with open(os.path.join(folder, "driver.c"), "w") as file:
            file.write(DRIVER.format(**values))
        subprocess.run([sys.executable, "-m", "ffcx", "form.py"], cwd=folder, check=True, capture_output=True)
        import ffcx.codegeneration
        include = ffcx.codegeneration.get_include_path()
        subprocess.run(["gcc", "-std=gnu17", "-w", "-O3", "-march=native", "-ffast-math", "-I", str(include), "driver.c",
                        "form.c", "-o", "driver", "-lm"], cwd=folder, check=True)
        subprocess.run(["./driver"], cwd=folder, check=True)


for case in sys.argv[1:] or ["tetrahedron:1", "tetrahedron:2", "tetrahedron:3", "hexahedron:2", "hexahedron:4"]:
    measure(case.split(":")[0], int(case.split(":")[1]))
