#!/usr/bin/env python3
"""Time the kernels that FFCx generates for the Laplacian, with the loop over cells around them, to compare with
bench_forms on the host: nanoseconds of processor time per cell, on the same cells (a cube, in lexicographic order).

    python3 bench_forms_ffcx.py [--dofs N] [CELL:DEGREE[:matrix] ...]       default tetrahedron:1 2 3, hexahedron:2 4

Actions gather dofs and coordinates and add the results; with :matrix the matrices of all cells are stored.
--dofs: as of bench_forms; by default 60,000 for tetrahedra and 200,000 for hexahedra.
Needs fenics-ffcx 0.10 or newer, gcc and numpy. Kernels are compiled with -O3 -march=native -ffast-math."""
import os
import subprocess
import sys
import tempfile

FORM = """
import basix.ufl
from ufl import Coefficient, FunctionSpace, Mesh, TestFunction, TrialFunction, dx, grad, inner
e = basix.ufl.element("Lagrange", "{cell}", {degree})
V = FunctionSpace(Mesh(basix.ufl.element("Lagrange", "{cell}", 1, shape=(3,))), e)
L = inner(grad({function}(V)), grad(TestFunction(V)))*dx
"""

DRIVER = r"""
#include "form.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
enum {{ P = {degree}, N = {nodes}, V = {vertices}, SIDE = {side}, TETRAHEDRA = V == 4, MATRIX = {matrix},
       CELLS = SIDE * SIDE * SIDE * (TETRAHEDRA ? 6 : 1), S = P * SIDE + 1, POINTS = (SIDE + 1) * (SIDE + 1) * (SIDE + 1) }};
static double now(void) {{ struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec + 1e-9*t.tv_nsec; }}
static int compare(const void *a, const void *b) {{ double x = *(double *)a, y = *(double *)b; return (x > y) - (x < y); }}
static int vertices[CELLS][V], dofs[CELLS][N];
static double X[POINTS][3], x[S * S * S], y[S * S * S];

/* The vertices of tetrahedra are on a path along the axes, those of hexahedra in the order of FFCx. The nodes are on a lattice. */
static void number(int cell, const int corner[V][3]) {{
    int n = 0;
    for (int i = 0; i < V; ++i)
        vertices[cell][i] = (corner[i][2] * (SIDE + 1) + corner[i][1]) * (SIDE + 1) + corner[i][0];
    for (int k = 0; k <= P; ++k)
        for (int j = 0; j <= (TETRAHEDRA ? P - k : P); ++j)
            for (int i = 0; i <= (TETRAHEDRA ? P - k - j : P); ++i) {{
                int at[3];
                for (int d = 0; d < 3; ++d)
                    at[d] = TETRAHEDRA ? (P - i - j - k) * corner[0][d] + i * corner[1][d] + j * corner[2][d] + k * corner[V - 1][d]
                                       : P * corner[0][d] + (d == 0 ? i : d == 1 ? j : k);
                dofs[cell][n++] = (at[2] * S + at[1]) * S + at[0];
            }}
}}
static void make_cells(void) {{
    static const int axes[6][3] = {{{{0, 1, 2}}, {{0, 2, 1}}, {{1, 0, 2}}, {{1, 2, 0}}, {{2, 0, 1}}, {{2, 1, 0}}}};
    int cell = 0;
    for (int cube = 0; cube < SIDE * SIDE * SIDE; ++cube)
        for (int t = 0; t < (TETRAHEDRA ? 6 : 1); ++t) {{
            int corner[V][3];
            for (int i = 0; i < V; ++i)
                for (int d = 0; d < 3; ++d) {{
                    const int start = d == 0 ? cube % SIDE : d == 1 ? cube / SIDE % SIDE : cube / SIDE / SIDE;
                    int on = i >> d & 1;
                    if (TETRAHEDRA) {{
                        on = 0;
                        for (int a = 0; a < i; ++a)
                            on |= axes[t][a] == d;
                    }}
                    corner[i][d] = start + on;
                }}
            number(cell++, (const int (*)[3])corner);
        }}
    for (int i = 0; i < POINTS; ++i)
        for (int d = 0; d < 3; ++d)
            X[i][d] = (d == 0 ? i % (SIDE + 1) : d == 1 ? i / (SIDE + 1) % (SIDE + 1) : i / (SIDE + 1) / (SIDE + 1)) +
                      0.1 * rand() / RAND_MAX;
}}
int main(void) {{
    ufcx_form *form = form_form_L;
    void (*kernel)(double *, const double *, const double *, const double *, const int *, const uint8_t *, void *) =
        (void *)form->form_integrals[0]->tabulate_tensor_float64;
    double *A = malloc(sizeof *A * (MATRIX ? (size_t)CELLS * N * N : 1)), taken[9];
    make_cells();
    for (int i = 0; i < S * S * S; ++i)
        x[i] = (double)rand() / RAND_MAX;
    for (int r = -1; r < 9; ++r) {{
        const double start = now();
        for (long c = 0; c < CELLS; ++c) {{
            double w[N], b[N], nodes[V * 3];
            for (int i = 0; i < V; ++i)
                for (int k = 0; k < 3; ++k) nodes[i * 3 + k] = X[vertices[c][i]][k];
            if (MATRIX) {{
                memset(A + c * N * N, 0, sizeof *A * N * N);
                kernel(A + c * N * N, w, NULL, nodes, NULL, NULL, NULL);
                continue;
            }}
            for (int i = 0; i < N; ++i) w[i] = x[dofs[c][i]];
            memset(b, 0, sizeof b);
            kernel(b, w, NULL, nodes, NULL, NULL, NULL);
            for (int i = 0; i < N; ++i) y[dofs[c][i]] += b[i];
        }}
        if (r >= 0) taken[r] = now() - start;
    }}
    qsort(taken, 9, sizeof *taken, compare);
    printf("{cell} degree {degree}%s, %d cells: %.1f ns per cell\n", MATRIX ? " matrix" : "", CELLS, taken[4] / CELLS * 1e9);
    return 0;
}}
"""


def measure(cell, degree, matrix, dofs):
    tetrahedra = cell == "tetrahedron"
    nodes = (degree + 1)*(degree + 2)*(degree + 3)//6 if tetrahedra else (degree + 1)**3
    side = max(2, int((dofs or (6e4 if tetrahedra else 2e5))**(1/3)/degree))
    with tempfile.TemporaryDirectory() as folder:
        values = dict(cell=cell, degree=degree, nodes=nodes, vertices=4 if tetrahedra else 8, side=side, matrix=int(matrix),
                      function="TrialFunction" if matrix else "Coefficient")
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


arguments = sys.argv[1:]
dofs = None
if arguments[:1] == ["--dofs"]:
    dofs, arguments = float(arguments[1]), arguments[2:]
for case in arguments or ["tetrahedron:1", "tetrahedron:2", "tetrahedron:3", "hexahedron:2", "hexahedron:4"]:
    cell, degree, *rest = case.split(":")
    measure(cell, int(degree), rest == ["matrix"], dofs)
