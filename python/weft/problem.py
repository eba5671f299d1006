"""A problem on a mesh, with its conditions and inputs: solved once, by Newton's method, or in time."""

from __future__ import annotations

import re
from ctypes import POINTER, byref, c_double, c_int, c_void_p, create_string_buffer
from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional, Sequence, Union

from . import _structures as s
from ._check import check_counts, check_list, check_names, check_numbers, check_size, check_type, refuse, with_names
from ._library import Borrowed, Handle, UnsupportedError, UsageError, encode, lib
from ._arithmetic import real
from .binding import Binding, binding_of, check_values, formula, is_formula
from .conditions import Condition, Constraint, PointLoad, check_groups, condition_rows, constraint_rows
from .device import Array, Device
from .eigenvalues import Eigenvalues, find_eigenvalues, wanted
from .gradient import Gradient, Gradients
from .mesh import Mesh
from .operator import Space, _Context
from .options import solver_options
from .ranks import Part, Share, ranks_of
from ._show import About, Shown
from .report import NotConverged, Report, take
from .results import Results
from .steps import Steps, file_options

if TYPE_CHECKING:
    import numpy


class Problem(Results, Shown):
    """A problem on a mesh: functions u, forms, conditions on the boundary, and the values of inputs.

        problem = weft.Problem(mesh, "heat.py", values={"k": "1; @steel=50", "f": 0},
                               conditions=[weft.Dirichlet("cold", 0)])
        problem.solve()
        problem.values

    forms       a weft.FormFile, the path of one (.ufl or .py), or its text; or a script with a local matrix: its path
                (.weft), its text, or the name of one that is shipped with Weft, such as "diffusion" or "elasticity"; or
                "elasticity.ufl", a shipped form file for the cells of the mesh
    values      of coefficients and constants, or of inputs and expressions of a script, by name: a number, a formula, also
                by group, a tuple with one for each component, or an array of any package over cells or over the nodes of
                the coefficient's Space. Arrays on the device are used where they are: a solve sees what they hold then
    measures    of a form file: "ds(2)" -> group; by default that with this number
    conditions  weft.Dirichlet, weft.Neumann and weft.Robin, constraints (weft.Periodic, weft.Tie, weft.Symmetry and
                weft.PointValue) and weft.PointLoad; the components are numbered through all functions of a mixed space.
                Without any there is no flux through the boundary, and of scripts u = 0 on it
    mass        of steps and eigenvalues: the name of the form, or of the script's matrix; None: m or M
    previous    of a scheme in the forms themselves, instead of a mass: the input that is u at the start of a step of
                length dt; None: u_old
    degree      of the elements of a shipped form file; None: 1
    parameters  of a script: name -> integer
    matrix, vector  of a script: the names of K and of b, or of the residual r
    nonlinear   of a script: the vector is a residual; None: it makes r, and has an input u

    The other arguments are options of the linear solver, whose default is the library's choice:

    method          "auto", "cg", "minres", "gmres" or "bicgstab"
    preconditioner  "auto", "jacobi", "none", "multigrid", "aggregation", "block", "commutator", "augmented", "chebyshev", ...
    assembly        "auto", "csr", "matrix-free", ...
    tolerance       of the residual, relative to the right-hand side
    until           "tolerance", or "discretisation": full multigrid
    tune            plans to measure of each script for which none is stored (docs/tuning.md); 0: none
    petsc_options   of the preconditioner "petsc", in PETSc's syntax: "-pc_type lu"; None: none

    Several ranks solve one problem together, with the same bits for any number of them (docs/ranks.md):

    ranks    so many threads of this process
    devices  names of devices, one for each rank: ["cuda:0", "cuda:1"], or ["host", "cuda:0"]
    shares   parts of the mesh that ranks have, which add up to 1: [0.1, 0.9]; None: equal ones, or for devices that differ those with
             which each takes equally long, as predicted; the property `shares` has them
    comm     a communicator of mpi4py, each process of which is a rank; None: under mpirun all processes are ranks

    The first rank has the solution and its results, and writes files: in other processes `values` and numbers that follow from u
    raise UsageError, and write() does nothing. All processes make the same calls of solve(), steps() and their steps.
    """

    @with_names
    def __init__(self, mesh: Mesh, forms: Any, values: Optional[Mapping[str, Any]] = None,
                 measures: Optional[Mapping[str, str]] = None,
                 conditions: Sequence[Union[Condition, Constraint, PointLoad]] = (),
                 device: Optional[Device] = None, mass: Optional[str] = None, previous: Optional[str] = None,
                 degree: Optional[int] = None, parameters: Optional[Mapping[str, int]] = None, matrix: Optional[str] = None,
                 vector: Optional[str] = None, nonlinear: Optional[bool] = None, method: str = "auto",
                 preconditioner: str = "auto", assembly: str = "auto", tolerance: float = 1e-8,
                 max_iterations: Optional[int] = None, restart: int = 0, smoother_degree: int = 0,
                 until: str = "tolerance", tune: int = 0, petsc_options: Optional[str] = None,
                 ranks: Optional[int] = None, devices: Optional[Sequence[str]] = None, comm: Any = None,
                 shares: Optional[Sequence[float]] = None) -> None:
        check_type("mesh", mesh, Mesh, "a weft.Mesh", "weft.Mesh(%r)" % mesh if isinstance(mesh, str) else "")
        check_type("device", device, (Device, type(None)), "a weft.Device", "weft.Device(%r)" % device if isinstance(device, str) else "")
        check_names("measures", {} if measures is None else measures, "measure -> group, such as {\"ds(2)\": \"wall\"}")
        self._conditions = check_list("conditions", conditions, (Condition, Constraint, PointLoad),
                                      "weft.Dirichlet, weft.Neumann, weft.Robin, weft.Periodic, ...")
        self._values, self._measures = check_values({} if values is None else values), dict(measures or {})
        check_groups(mesh, self._conditions)
        self._ranks = ranks_of(ranks, devices, comm, device, shares)
        self._parts: list[Optional[Part]] = [None]
        self.mesh, self.device = mesh, self._ranks.devices[0] if self._ranks else device or Device()
        if tune > 0 and self._ranks:
            raise UnsupportedError("measured plans are not computed on several ranks yet\nhint: leave out tune", "unsupported")
        self._options = solver_options(method, preconditioner, assembly, tolerance, max_iterations, restart,
                                       smoother_degree, until, tune, petsc_options)
        self._context = _Context(self.device, mesh)
        self._context.tune(tune, mesh)
        super().__init__()
        self._handle: Optional[Handle] = None  # on ranks that of the whole, or in other processes of the part
        self._steps: Optional[Steps] = None
        self._u: Optional[Array] = None
        self._start: Optional[Array] = None  # of Newton's method: the last solution
        self.report: Optional[Report] = None
        self._gradients: Optional[Gradients] = None
        of_script = {"parameters": parameters, "matrix": matrix, "vector": vector, "nonlinear": nonlinear}
        self._binding = binding_of(forms, of_script, degree, self._values, self.device, mesh, mass, previous)
        self._bound_values = self._values
        self._bind(self._binding.is_in_time)  # solve() or steps() says which problem it is, if it may be either

    # ---- binding ----------------------------------------------------------------------------

    def _bind(self, in_time: bool) -> Handle:
        """Make the problem of the library."""
        self._forget()
        try:
            if self._ranks:
                parts = self._ranks.run(lambda i: self._make_part(i, in_time))
                self._parts, self._handle = parts, parts[0].shown
            else:
                self._handle = self._make(self._binding, self._context, in_time)
        except BaseException:
            self._values = self._bound_values  # without those of set() that are wrong
            raise
        self._in_time, self._gradients, self._bound_values = in_time, None, self._values
        self._start, self._is_cut = None, False
        return self._handle

    def _make(self, binding: Binding, context: _Context, in_time: bool, *uses: Handle, of_pencil: bool = False) -> Handle:
        library = binding.library()
        context = context.with_functions(library) if library else context
        handle = Handle("problem", *context.uses, self.mesh._handle, self._options, *uses)
        lib.weft_problem_start(context.pointer, None, byref(handle.pointer))
        binding.bind(handle, library, self._values, self._measures, in_time, of_pencil)
        if self.mesh._hierarchy:
            lib.weft_problem_set_hierarchy(handle.pointer, self.mesh._hierarchy)
        self._add_conditions(handle)
        return handle

    def _make_part(self, i: int, in_time: bool) -> Part:
        """The part of rank i of this process. All ranks call it."""
        ranks = self._ranks
        assert ranks is not None
        comm, device = ranks.comms[i], ranks.devices[i]
        is_first = ranks.rank + i == 0
        whole = ranks.agree(i, lambda: self._make(self._binding, self._context, in_time) if is_first else None)
        ranks.divide(i, whole, self.mesh)
        part = Part(comm, whole, self.mesh)
        context = _Context(device, part.mesh, comm)
        part.join(ranks.agree(i, lambda: self._make(self._binding.of_part(device, part.mesh), context, in_time, part.mesh._handle, comm)))
        return part

    def _each(self, work: Callable[[Optional[Part]], Any]) -> list[Any]:
        """work() of the part of each rank here; of None where there are no ranks."""
        return self._ranks.run(lambda i: work(self._parts[i])) if self._ranks else [work(None)]

    def _add_conditions(self, handle: Handle) -> None:
        components, dimension = lib.weft_problem_components(handle.pointer), self.mesh.dimension
        for one in self._conditions:
            rows = (condition_rows([one], components) if isinstance(one, Condition) else constraint_rows(one, components, dimension))
            handle.use(*rows)
            add = (lib.weft_problem_condition if isinstance(one, Condition) else lib.weft_problem_point_load
                   if isinstance(one, PointLoad) else lib.weft_problem_constraint)
            for row in rows:
                add(handle.pointer, byref(row))

    def _bound(self, in_time: bool) -> Handle:
        """The problem of the library, which is either stationary or in time, once."""
        ranks = self._ranks
        is_broken = ranks is not None and self._parts[0] is not None and self._parts[0].comm is not ranks.comms[0]
        if self._handle is None or self._in_time or in_time or is_broken:
            return self._bind(in_time)
        return self._handle

    def set(self, **values: Any) -> None:
        """Give inputs other values: solves and steps afterwards have them."""
        self._values = {**self._values, **check_values(values)}
        self._handle = None
        self._forget()

    # ---- the functions ----------------------------------------------------------------------

    def _any(self) -> Handle:
        self._check_first()
        return self._handle or self._bind(self._binding.is_in_time)

    @property
    def rank(self) -> int:
        """The number of the rank that this process is; 0 of one that has all."""
        return self._ranks.rank if self._ranks else 0

    @property
    def shares(self) -> list[Share]:
        """The share of each rank, with its device and predictions; empty: the problem is not divided, or equally."""
        return self._ranks.shares if self._ranks else []

    @property
    def n_ranks(self) -> int:
        """The number of ranks; 0: the problem is not divided among ranks."""
        return self._ranks.n if self._ranks else 0

    @property
    def spaces(self) -> list[Space]:
        """The spaces of the functions of u, in the order of their dofs."""
        handle, list_ = self._any(), POINTER(c_void_p)()
        n = lib.weft_problem_spaces(handle.pointer, byref(list_))
        return [Space._borrow(self.mesh, self.device, self._context, Borrowed(list_[i], handle), *self._binding.element(i))
                for i in range(n)]

    @property
    def space(self) -> Space:
        """The space of u; of a mixed problem that of its first function."""
        return self.spaces[0]

    @property
    def n_dofs(self) -> int:
        return lib.weft_problem_dofs(self._any().pointer)

    @property
    def u(self) -> Array:
        """The solution, [nodes] or [nodes, components], and of a mixed problem [dofs], on the device. Other solves and
        steps make other arrays."""
        self._check_first()
        if self._u is None:
            raise UsageError("there is no solution yet: call solve() or steps() first", "usage")
        return self._u

    @property
    def values(self) -> numpy.ndarray:
        """The solution as a numpy array, on the host without a copy."""
        return self.u.numpy()

    @property
    def fields(self) -> list[numpy.ndarray]:
        """The functions of a mixed problem, [nodes] or [nodes, components]."""
        return self.split(self.u)

    def split(self, u: Any) -> list[numpy.ndarray]:
        """The functions of a mixed problem in u, as of an earlier solve or step."""
        values, first, parts = (u.numpy() if isinstance(u, Array) else u).reshape(-1), 0, []
        check_size("u", values, self.n_dofs, "the dofs of the problem")
        for space in self.spaces:
            parts.append(values[first:first + space.n_dofs].reshape(space.shape))
            first += space.n_dofs
        return parts

    def _take_solution(self, handle: Handle) -> Optional[Array]:
        """A copy of u, of the first rank: the library's memory is that of the next solve."""
        if not self._is_first:
            return None
        spaces = self.spaces
        self._u = self.device.zeros(spaces[0].shape if len(spaces) == 1 else (self.n_dofs,))
        lib.weft_memory_copy(self._u._pointer, lib.weft_problem_u(handle.pointer), self._u.nbytes)
        return self._u

    def _take_step(self, handle: Handle, steps: Steps) -> Optional[Array]:
        if self._is_first:
            lib.weft_problem_pull(handle.pointer, byref(POINTER(c_double)()))  # means of what nothing fixes become 0
        self._solved(handle, steps)
        return self._take_solution(handle)

    # ---- solving ----------------------------------------------------------------------------

    @property
    def is_nonlinear(self) -> bool:
        """Whether the forms are a residual, which Newton's method solves."""
        return self._binding.is_nonlinear

    @with_names
    def solve(self, initial: Any = None, newton_tolerance: float = 1e-10, newton_iterations: int = 50, load_steps: int = 1,
              must_converge: bool = True) -> Report:
        """Solve the stationary problem, by Newton's method where the forms are a residual F.

        initial             where Newton's method starts: formulas, or values in the shape of u; None: the solution of the
                            solve before, at first 0
        newton_tolerance    of the residual, relative to reactions or loads
        newton_iterations   at most, in each load step
        load_steps          the values of conditions, and an input `load`, grow in so many equal steps
        must_converge       raise NotConverged where the iteration does not converge
        """
        check_numbers(newton_tolerance=newton_tolerance)
        check_counts(newton_iterations=newton_iterations, load_steps=load_steps)
        if not self.is_nonlinear and (initial is not None or load_steps != 1):
            raise UsageError("%s is for Newton's method, and the problem is linear"
                             % ("initial" if initial is not None else "load_steps"), "usage")
        handle = self._bound(False)
        self._forget()
        newton = s.weft_newton_options(tolerance=newton_tolerance, iterations=newton_iterations, load_steps=load_steps)

        def solve(part: Optional[Part]) -> s.weft_problem_report:
            pointer, found = part.handle.pointer if part else handle.pointer, s.weft_problem_report()
            if self.is_nonlinear:
                lib.weft_problem_solve_nonlinear(pointer, byref(self._options), byref(newton), byref(found))
            else:
                lib.weft_problem_solve(pointer, byref(self._options), byref(found))
            return found

        lib.finish()
        if self._is_cut and initial is None and self.is_nonlinear and self._is_first:  # start where the call that was cut has
            initial = self._start.numpy() if self._start is not None else self.device.zeros(self.n_dofs).numpy()
        self._set_initial(initial)
        self._is_cut = True  # until it returns
        report = self._each(solve)[0]
        self._start, self._is_cut = self._take_solution(handle), False
        self._solved(handle)
        self.report = take(report, handle)
        if must_converge and not self.report.converged:
            complaint = _complaint(self.report, newton_tolerance if self.is_nonlinear else self._options.tolerance)
            raise NotConverged(complaint + _advice(handle), self.report)
        return self.report

    @with_names
    def eigenvalues(self, n: int = 10, near: Optional[float] = None, largest: bool = False, columns: int = 0,
                    normalise: str = "mass", must_converge: bool = True, buckling: bool = False) -> Eigenvalues:
        """Eigenvalues l of a(u, v) = l m(u, v), of a symmetric form a with a mass m: the n smallest (docs/eigenvalues.md).

            found = weft.Problem(mesh, "drum.ufl", conditions=[weft.Dirichlet("boundary", 0)]).eigenvalues(6)
            found.values, found.vectors

        near           those nearest to this number instead, also where a is not definite
        largest        the largest instead
        buckling       those nearest to 0, of both signs, of any symmetric m, as that of stresses: factors of loads at which it buckles
        columns        vectors that are computed together, more than n; 0: by n
        normalise      what is 1 of an eigenvector u: "mass", u.M u, or "component", the largest one
        must_converge  raise NotConverged where the iteration does not converge
        """
        check_counts(n=n, columns=columns)
        if self._ranks:
            raise UnsupportedError("eigenvalues are not computed on several ranks\nhint: make a problem without ranks", "unsupported")
        handle = self._make(self._binding, self._context, False, of_pencil=True)
        return find_eigenvalues(handle, self._options, wanted(n, near, largest, buckling, columns, normalise), must_converge)

    def gradient(self, functional: str = "J", wrt: Union[str, None, Sequence[Optional[str]]] = (), norm: str = "L2",
                 over_time: bool = False) -> Gradient:
        """Derivatives of a functional of the solution, a form without arguments in the form file (docs/gradients.md).

            problem.solve()
            gradient = problem.gradient("J", wrt=["k", "f"])
            gradient.value, gradient["k"]

        functional  the variable of the file that holds it. In it `unknown` is the solution, or that of solve()
        wrt         a coefficient or constant, or several; None: the values of Dirichlet conditions; after steps(..., checkpoints=100)
                    also "initial", u at the start
        over_time   of such steps: J is integrated over time by the trapezoidal rule, instead of taken at the end
        norm        of functions: "L2", the function g with (g, q) = dJ q, or "l2", the derivatives by dof. Those of constants
                    are numbers, those of prescribed values are by dof of u
        """
        return self._all_gradients().take(functional, wrt, norm, over_time)

    def pull_back(self, cotangent: Any, wrt: Sequence[Optional[str]]) -> dict[Optional[str], Any]:
        """The derivatives of a number that the caller computes from the solution.

        cotangent  its derivatives with respect to the values of u, in their shape
        wrt        coefficients and constants; None: the values of Dirichlet conditions
        Returns    for each a number or a vector of a constant, or the derivatives by dof
        """
        return self._all_gradients().pull_back(self.device.to_numpy(cotangent), wrt)

    def _all_gradients(self) -> Gradients:
        if self._ranks:
            raise UnsupportedError("gradients are not computed on several ranks\nhint: make a problem without ranks", "unsupported")
        steps = self._steps if self._in_time else None
        if self._handle is None or self._u is None or self._in_time and not (steps and steps.state.step and steps._settings.checkpoints):
            raise UsageError("a gradient is that of a solution: call solve(), or make all of steps(..., checkpoints=100), first", "usage")
        if self._binding.bound is None:
            raise UsageError("gradients are those of form files, and %s is a script" % self._binding.name, "usage")
        if self._gradients is None:
            self._gradients = Gradients(self, self._handle, self._binding.bound, steps._all[0].transient if steps else None)
        return self._gradients

    def _set_initial(self, initial: Any) -> None:
        assert self._handle is not None
        if initial is None:
            return
        if callable(initial):
            raise refuse("initial", initial, "a formula in x, y and z, or values in the shape of u", "write the formula as text")
        if is_formula(initial):
            for handle in {id(one): one for one in [self._handle, *(part.handle for part in self._parts if part)]}.values():
                lib.weft_problem_set_initial(handle.pointer, encode(formula(initial)), b"initial")
            return
        if self._is_first:
            import numpy

            values = numpy.ascontiguousarray(real(self.device.to_numpy(initial), "initial"), dtype="float64").reshape(-1)
            check_size("initial", values, self.n_dofs, "the dofs of u")
            lib.weft_problem_set_values(self._handle.pointer, values.ctypes.data_as(POINTER(c_double)))
        self._each(lambda part: part.spread() if part else None)

    @with_names
    def steps(self, dt: float, end: float, start: float = 0, initial: Any = None, scheme: Optional[str] = None,
              theta: float = 0, tolerance: float = 0, newton_tolerance: float = 0, newton_iterations: int = 0,
              must_converge: bool = True, output: Any = None, output_every: int = 0, output_interval: float = 0,
              overwrite: bool = False, checkpoint: Any = None, checkpoint_every: int = 0, resume: Any = None,
              checkpoints: int = 0) -> Steps:
        """Integrate M du/dt + K u = b, or M du/dt + r(u) = 0, in time; an iterator over the steps.

            for step in problem.steps(dt=0.01, end=1, initial="sin(pi*x)"):
                print(step.t, step.values.max())

        dt         length of a step; with a tolerance, of the first one that is tried. The last ends at `end`
        initial    u at the start: formulas, or values in the shape of u; None: 0
        scheme     one of weft.time_schemes(); None: the default of the library
        theta      of the theta scheme: 1/2, the default, or up to 1, implicit Euler
        tolerance  of the error at the end, relative to the largest u, for steps of a length that is chosen; 0: all have
                   the length dt
        checkpoints  steps that are stored for gradient(), at most; of more the state is stored so many times, and steps
                     are made again from there. 0: there are no gradients

        Results are written while the steps are made, as by `solve`:

        output            a series of results in NAME.vtkhdf, one file, or NAME.pvd, at the start, the end, after every
                          output_every steps, and after each output_interval of time, at whose end a step ends
        overwrite         replace a series that exists, instead of refusing
        checkpoint        NAME.vtkhdf: the state after every checkpoint_every steps, and at the end
        resume            continue from such a file, of the same problem, mesh and scheme, also one that `solve` has written;
                          and continue `output`. Steps and files are bitwise those of one run with the same checkpoints
        """
        check_numbers(dt=dt, end=end, start=start, theta=theta, tolerance=tolerance, newton_tolerance=newton_tolerance,
                      output_interval=output_interval)
        check_counts(newton_iterations=newton_iterations, checkpoints=checkpoints)
        check_type("scheme", scheme, (str, type(None)), "one of weft.time_schemes()")
        if not (dt > 0 and end > start):
            raise UsageError("dt is %r, start %r and end %r: expected dt > 0 and start < end" % (dt, start, end), "usage")
        files = file_options(output, output_every, output_interval, overwrite, checkpoint, checkpoint_every, resume)
        number = c_int(lib.weft_time_scheme_default())
        if scheme is not None:
            lib.weft_time_scheme_find(encode(scheme), byref(number))
        handle = self._bound(True)
        if scheme is not None and not self._binding.has_mass:
            raise UsageError("forms with a scheme of their own take no other one", "usage")
        self._set_initial(initial)
        settings = s.weft_transient_problem(
            scheme=number.value, theta=theta, start=start, end=end, tolerance=tolerance, dt=dt, checkpoints=checkpoints,
            newton_tolerance=newton_tolerance, newton_iterations=newton_iterations)
        self._steps = Steps(self, handle, settings, files, must_converge)
        return self._steps

    def step(self) -> Any:
        """The next step of the last steps(): raises StopIteration after the last one."""
        if self._steps is None:
            raise UsageError("no steps have begun: call steps() first", "usage")
        return next(self._steps)

    def _about(self) -> About:
        dofs, report = "%d dofs" % self.n_dofs if self._handle and self._is_first else "", self.report
        last = "t = %.6g" % self.t if self._of_steps is not None else report.outcome if report else ""
        rows = [("mesh", self.mesh), ("device", self.device.name), ("kind", "nonlinear" if self.is_nonlinear else "linear"),
                ("ranks", "%d of %d" % (self.rank, self.n_ranks) if self._ranks else "none"),
                *(("%s =" % name, value if is_formula(value) else "array of %r" % (getattr(value, "shape", ()),))
                  for name, value in self._values.items()),
                *(("condition", one) for one in self._conditions)]
        of_report = report._about() if report else About("not solved")
        return About(", ".join(text for text in ("%s on %r" % (self._binding.name, self.mesh), dofs, last) if text),
                     [*rows, ("outcome", last or of_report.summary), *of_report.rows], of_report.tables)


def _complaint(report: Report, tolerance: float) -> str:
    if report.newton:
        last = report.newton.iterations[-1] if report.newton.iterations else None
        return "Newton's method did not converge: %s, residual %.1e%s, expected %.1e" % (
            report.outcome, report.residual,
            " in load step %d, iteration %d" % (last.step, last.iteration) if last else "", tolerance)
    return "%s did not converge: %s after %d iterations, residual %.1e, expected %.1e" % (
        report.method, report.outcome, report.iterations, report.residual, tolerance)


def _advice(problem: Handle) -> str:
    """What to try, with the options of the programs as arguments: max_iterations for --max-iterations."""
    text = lib.weft_problem_advice(problem.pointer, create_string_buffer(400))
    return "; " + re.sub("--([a-z-]+)", lambda found: found[1].replace("-", "_"), text.decode()) if text else ""
