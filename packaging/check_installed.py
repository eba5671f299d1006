"""Checks an installed wheel: python check_installed.py [compiler] [gmsh] [cuda] [plot], the extras that are installed too.

Run by the interpreter of the environment. Answers are compared with exact solutions, programs by their exit status.
Without `compiler`, only problems are solved whose kernels are in the wheel.
"""

import ctypes
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

SITE = os.path.dirname(os.path.dirname(os.path.abspath(importlib.metadata.distribution("weft").locate_file("weft/__init__.py"))))
PREFIX = os.path.join(SITE, "weft", "prefix")
SINE, SOURCE = "sin(pi*x)*sin(pi*y)", "2*pi^2*sin(pi*x)*sin(pi*y)"
EXTRAS = sys.argv[1:]


def start(*words, code=0, **variables):
    """Run a program of this environment; its exit status counts."""
    environment = {**os.environ, "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"], **variables}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=600)
    if done.returncode != code:
        sys.exit("%s: exit status %d instead of %d\n%s%s" % (" ".join(words), done.returncode, code, done.stdout, done.stderr))
    text = done.stdout + done.stderr
    assert code != 0 or ": warning: " not in text, text
    return text


def check_files():
    libraries = []
    with open("/proc/self/maps", encoding="utf-8") as file:
        for path in sorted({line.split()[-1] for line in file if ".so" in line}):
            name = os.path.basename(path)
            if re.match(r"lib(glpk|metis|hdf5|gmp|amd|colamd|suitesparseconfig|ltdl|jansson|yaml|sqlite3|xxhash|weft)\b", name):
                libraries.append(name)
                assert path.startswith(SITE + "/"), path + " is not the wheel's"
    assert any("libglpk" in name for name in libraries) and any("libweft" in name for name in libraries), libraries
    licenses = [str(file) for file in importlib.metadata.files("weft") if "dist-info/licenses/" in str(file)]
    with open(next(os.path.join(SITE, name) for name in licenses if "THIRD" in name), encoding="utf-8") as file:
        text = file.read()
    for name in ("glpk", "metis", "hdf5", "gmp", "sqlite3", "jansson", "xxhash", "yaml", "zlib", "aec"):
        assert re.search(r"^\S*%s\S* \S+, source " % name, text, re.MULTILINE), name + " has no license"
    assert "GNU GENERAL PUBLIC LICENSE" in text
    assert start(sys.executable, "-m", "weft", "--prefix") == PREFIX + "\n"
    for name in ("include/weft/fem/weft_fem.h", "lib/cmake/weft/weft-config.cmake", "lib/pkgconfig/weft.pc",
                 "share/weft/meshes/unit_square.geo", "share/weft/scripts/poisson.weft",
                 "share/weft/examples/poisson.c"):
        assert os.path.exists(os.path.join(PREFIX, name)), name


def solve(n):
    """The largest error of linear elements at the nodes of square:n."""
    import numpy as np
    import weft
    space = weft.Space(weft.Mesh("square:%d" % n), weft.Device("host"))
    conditions = weft.Conditions(space, [weft.Dirichlet("boundary", 0)])
    A = weft.Operator(weft.Form(space, "poisson.weft"), conditions)
    solution = A.solve(conditions.load(SOURCE), tolerance=1e-10)
    assert solution.converged
    points = np.asarray(space.points)
    return float(abs(np.asarray(solution.x) - np.sin(np.pi*points[:, 0])*np.sin(np.pi*points[:, 1])).max())


def check_python():
    import math
    coarse, fine = solve(32), solve(64)
    order = math.log2(coarse/fine)
    print("Python: largest error %.1e, order %.2f" % (fine, order))
    assert fine < 1e-3 and 1.9 < order < 2.1
    # What the interpreter still holds when it ends, must not crash it.
    start(sys.executable, "-c", "import weft; space = weft.Space(weft.Mesh('square:8'), weft.Device('host:2')); "
          "A = weft.Operator(weft.Form(space, 'poisson.weft'), weft.Conditions(space)); kept = [A]; kept.append(kept)")


def l2_error(text):
    return float(re.search(r"^error +L2 (\S+),", text, re.MULTILINE).group(1))


def check_programs(folder):
    sine = ("--source", SOURCE, "--exact", SINE, "--dirichlet", "boundary=" + SINE)
    # The interpolant of sin(pi x) sin(pi y) has an error in L2 of (pi h)^2/8 or so.
    error = l2_error(start("poisson", "--mesh", "square:64", *sine, "--output", os.path.join(folder, "u.vtkhdf")))
    assert 0 < error < 1e-3, error
    assert os.path.getsize(os.path.join(folder, "u.vtkhdf")) > 100000
    start("poisson", "--mesh", os.path.join(folder, "none.vtkhdf"), "--source", "1", code=2)
    start("solve", "elasticity", "--mesh", "square:8", "--dirichlet", "left=0,0")
    start("advection_diffusion", "--mesh", "square:64", "--velocity", "1,1", "--diffusivity", "1", "--dt", "0.01", "--steps", "2")
    assert "host" in start("weft", "devices")
    assert start("weft", "--version").startswith("weft (Weft) ")
    start("weft", "explain", "poisson.weft", "--device", "null")
    start("scaling", "--help")
    start("solve", "--nonsense", code=2)


def check_compiler():
    assert not shutil.which("cc"), "there is a cc, so that the compiler of ziglang is not asked"
    sine = ("--source", SOURCE, "--exact", SINE, "--dirichlet", "boundary=" + SINE)
    for instructions in ("", "sse2", "avx2"):
        began = time.perf_counter()
        fine, coarse = (l2_error(start("poisson", "--mesh", "square:%d" % n, *sine, WEFT_SHIPPED="none", WEFT_CACHE="off",
                                       WEFT_INSTRUCTIONS=instructions)) for n in (32, 16))
        assert 3.7 < coarse/fine < 4.1, (coarse, fine)  # second order
        print("zig cc: %.1f s for two solves, instructions %s" % (time.perf_counter() - began, instructions or "native"))
    # The matrix of square:N is that of the five-point stencil, which is exact for x^2 + y^2.
    import numpy as np
    import weft
    space = weft.Space(weft.Mesh("square:16"), weft.Device("host"))
    conditions = weft.Conditions(space, [weft.Dirichlet("boundary", "x^2+y^2")])
    A = weft.Operator(weft.Form(space, "poisson.weft"), conditions)
    values = np.asarray(A.solve(conditions.load(-4), tolerance=1e-12).x)
    assert abs(values - (np.asarray(space.points)**2).sum(axis=1)).max() < 1e-8


def check_no_compiler():
    text = start("poisson", "--mesh", "square:8", "--source", "1.25*x", WEFT_SHIPPED="none", code=3)
    assert "no C compiler" in text and "weft[compiler]" in text, text


def check_gmsh(folder):
    import weft
    mesh = os.path.join(PREFIX, "share/weft/meshes/unit_square.geo")
    error = l2_error(start("poisson", "--mesh", mesh, "--size", "0.02", "--source", SOURCE, "--exact", SINE,
                           "--dirichlet", "boundary=" + SINE))
    assert 0 < error < 1e-3, error
    weft.Mesh(mesh, size=0.1)
    start("weft-gmsh", "--save", os.path.join(folder, "square.msh"), mesh)
    start("poisson", "--mesh", os.path.join(folder, "square.msh"), "--source", "1")


def check_no_gmsh():
    mesh = os.path.join(PREFIX, "share/weft/meshes/unit_square.geo")
    text = start("poisson", "--mesh", mesh, "--source", "1", code=2)
    assert "weft[gmsh]" in text, text


def check_plot():
    """PyVista reads what check_programs wrote."""
    import pyvista
    mesh = pyvista.read("u.vtkhdf")
    assert mesh.n_points == 65*65 and 0.99 < mesh["u"].max() < 1.01


def check_cuda():
    """NVRTC of another wheel compiles a kernel for the stand-in of an H200."""
    from weft import _library, _structures
    import weft
    library, module, error = _library._lib, ctypes.c_void_p(), _structures.weft_error()
    source = b'extern "C" __global__ void k(double *x) { x[threadIdx.x] *= 2; }'
    device = weft.Device("null:h200")
    usage = (ctypes.c_int*5)()
    library.weft_module_make.restype = library.weft_module_kernel_resources.restype = ctypes.c_int
    status = library.weft_module_make(device._pointer, b"k", source, ctypes.byref(module), ctypes.byref(error)) or \
        library.weft_module_kernel_resources(module, b"k", usage, ctypes.byref(error))
    assert status == 0 and usage[0] > 0, error.message.decode() + error.hint.decode()
    with open("/proc/self/maps", encoding="utf-8") as file:
        found = {line.split()[-1] for line in file if "libnvrtc" in line}
    assert found and all(path.startswith(SITE + "/nvidia/") for path in found), found
    print("NVRTC:", *sorted(found))


def main():
    import_times = []
    for _ in range(3):
        began = time.perf_counter()
        start(sys.executable, "-c", "import weft")
        import_times.append(time.perf_counter() - began)
    print("a process with `import weft`: %.2f s" % min(import_times))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_python()
        check_files()
        check_programs(folder)
        if "compiler" in EXTRAS:
            check_compiler()
        elif not shutil.which("cc"):
            check_no_compiler()
        if "gmsh" in EXTRAS:
            check_gmsh(folder)
        else:
            check_no_gmsh()
        if "plot" in EXTRAS:
            check_plot()
        if "cuda" in EXTRAS:
            check_cuda()
    print("all is as it should be")


main()
