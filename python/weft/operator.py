"""Function spaces, forms, boundary conditions, operators and solvers."""

from __future__ import annotations

from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int, c_int32, c_int64, c_void_p
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Optional, Sequence, Union

from . import _structures as s
from ._check import check_counts, check_list, check_names, check_numbers, check_size, check_type, refuse, with_names
from ._library import Borrowed, Handle, InputError, UnsupportedError, UsageError, encode, free, lib
from ._show import About, Shown, html_of, text_of
from .conditions import Condition, Number, check_groups, check_text, condition_rows
from .device import Array, Device
from .families import family_name, family_number
from .forms import FormFile, components
from .mesh import Mesh, _view
from .options import method_number, preconditioner_number, step_scheme_number
from .report import NotConverged, convergence, history_of, method_name
from .script import Script, _count, _expressions, _interleave, _parameters, _text_of, kinds

if TYPE_CHECKING:
    import numpy

    from .mixed import MixedConditions, MixedSpace


class _Context:
    """What compiles and runs formulas on a mesh: also those by group, "1; @steel=50", and those with fields of files."""

    def __init__(self, device: Device, mesh: Mesh, comm: Optional[Handle] = None) -> None:
        self.handle = Handle("data", device._handle, mesh._handle)
        lib.weft_data_make(device._pointer, mesh._mesh, byref(self.handle.pointer))
        self._context = s.weft_context.from_buffer_copy(device._context)
        self._context.data = self.handle.pointer.value
        self._context.comm = comm.pointer.value if comm else None
        self.handle.use(self._context)
        self.uses: list[Any] = [self.handle]

    def with_functions(self, library: Handle) -> _Context:
        """The same with the functions of a form file. Who uses it keeps it alive, by `uses`."""
        other = _Context.__new__(_Context)
        other.handle, other._context = self.handle, s.weft_context.from_buffer_copy(self._context)
        other._context.library = library.pointer.value
        other.uses = [*self.uses, library, other._context]
        return other

    def tune(self, most: int, mesh: Mesh) -> None:
        """Choose plans by the tuning database, and measure up to so many of each script that has none there."""
        tuning = Handle("context_tune", self.handle, value=self._context)
        lib.weft_context_tune(byref(self._context), most, mesh._mesh.contents.n_cells)
        self.uses.append(tuning)

    @property
    def pointer(self) -> Any:
        return byref(self._context) if self.handle.pointer else None


class Space(Shown):
    """Functions of a mesh, with a number of components at each node. Formulas may differ by group: "1; @steel=50".

    degree  of the polynomials in each cell; forms are written for one degree, the shipped ones for 1
    family  "lagrange", continuous, or "discontinuous", or UFL's name of another one
    """

    @with_names
    def __init__(self, mesh: Mesh, device: Optional[Device] = None, components: int = 1, degree: int = 1,
                 family: str = "lagrange") -> None:
        check_type("mesh", mesh, Mesh, "a weft.Mesh")
        check_type("device", device, (Device, type(None)), "a weft.Device")
        check_counts(components=components, degree=degree)
        self._family = family_number(family)
        self.mesh, self.device, self.components = mesh, device or Device(), components
        self.degree, self.family = degree, family_name(self._family)
        self._context = _Context(self.device, mesh)
        self._handle = Handle("space", self._context.handle)
        self._handles = [self._handle]
        lib.weft_space_make(self.device._pointer, mesh._mesh,
                            s.weft_element_kind(self._family, degree), components,
                            byref(self._handle.pointer))

    @classmethod
    def _borrow(cls, mesh: Mesh, device: Device, context: _Context, handle: Any, family: int, degree: int) -> Space:
        """A space that belongs to a problem."""
        space = cls.__new__(cls)
        space.mesh, space.device, space._context, space._handle, space._handles = mesh, device, context, handle, [handle]
        space.components, space.degree = lib.weft_space_components(handle.pointer), degree
        space._family, space.family = family, family_name(family)
        return space

    def _about(self) -> About:
        return About("%s of degree %d%s, %d dofs" % (self.family, self.degree, ", %d components" % self.components
                                                     if self.components > 1 else "", self.n_dofs),
                     [("mesh", self.mesh), ("device", self.device.name)])

    @property
    def n_dofs(self) -> int:
        return lib.weft_space_dofs(self._handle.pointer)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of vectors of the space: [nodes] or [nodes, components]."""
        n = lib.weft_space_nodes(self._handle.pointer)
        return (n,) if self.components == 1 else (n, self.components)

    @property
    def points(self) -> Any:
        """The coordinates of the nodes, [nodes, dimension], as a numpy array."""
        shape = (lib.weft_space_nodes(self._handle.pointer), self.mesh.dimension)
        return Array(self.device, Borrowed(lib.weft_space_coordinates(self._handle.pointer), self._handle), shape, "float64").numpy()

    def zeros(self) -> Array:
        return self.device.zeros(self.shape)

    def plot(self, u: Any, **options: Any) -> Any:
        """Show a function of the space at the vertices of the cells; the arguments are those of Mesh.plot."""
        n, points = self.mesh.n_nodes, self.points
        if len(points) < n or (points[:n] != self.mesh.points).any():
            raise UnsupportedError("plot() of a Space is for continuous functions with values at the vertices, and this is %r: solve by "
                                   "weft.Problem, whose plot() shows every element" % self, "unsupported")
        values = self.device.to_numpy(u)
        check_size("u", values, self.n_dofs, "the dofs of the space")
        return self.mesh.plot({"u": values.reshape(self.shape)[:n]}, **options)

    def interpolate(self, formula: Number) -> Array:
        """The values of a formula in x, y, z at the nodes."""
        check_text("the formula", formula)
        memory = self.device.zeros(lib.weft_space_nodes(self._handle.pointer))
        if self.device.limits.records_only:
            return memory
        values = memory.numpy()  # on the host its own memory
        lib.weft_space_evaluate(self._context.pointer, self._handle.pointer, encode(str(formula)), b"formula",
                                memory._pointer, values.ctypes.data)
        if not memory._is_view:
            memory.set(values)
        return memory

    def errors(self, u: Any, exact: Number) -> tuple[float, float]:
        """The errors of a scalar function against a formula: in the L2 norm, and of the gradient."""
        squares = (c_double * 2)()
        lib.weft_space_errors(self._context.pointer, self._handle.pointer, self.device.asarray(u)._pointer,
                              encode(str(exact)), b"exact", squares)
        return squares[0] ** 0.5, squares[1] ** 0.5


def _interleaved(parts: Sequence[Any]) -> Any:
    import numpy

    return numpy.ascontiguousarray(numpy.stack([one.numpy() for one in parts], axis=1))


class _Piece:
    """A script over cells or facets with what is bound to it, as a weft_form."""

    def __init__(self, space: Any, name: str, text: str, dofs: Any, inputs: Mapping[str, Any],
                 expressions: Optional[Mapping[str, Any]], numbers: Mapping[str, int], action: Optional[str],
                 connectivities: Sequence[tuple[bytes, Any]] = (), adds_couplings: bool = False,
                 points: Any = None) -> None:
        self.texts = (encode(name), encode(text), encode(action))
        self.inputs = dict(inputs)
        rows = [s.weft_form_input(encode(key), handle.pointer) for key, handle in self.inputs.items()]
        formulas, n_formulas = _expressions(expressions)
        values, n_values = _parameters(numbers)
        others = [s.weft_form_connectivity(*row) for row in connectivities]
        self.form = s.weft_form(
            name=self.texts[0], text=self.texts[1], dofs=dofs, points=points, inputs=(s.weft_form_input * len(rows))(*rows),
            n_inputs=len(rows), expressions=formulas, n_expressions=n_formulas, parameters=values,
            n_parameters=n_values, action=self.texts[2], components=space.components,
            connectivities=(s.weft_form_connectivity * max(len(others), 1))(*others), n_connectivities=len(others),
            adds_couplings=adds_couplings)
        self.dofs: list[Any] = []
        self.has_matrix = self.has_vector = True


class _Dofs:
    """The nodes of cells, or of the cells on the sides of facets, in a space; or the dofs, in several."""

    def __init__(self, spaces: Sequence[Handle], flat: bool, kind: int, group: int) -> None:
        self.value = s.weft_entity_dofs()
        self.handle = Handle("entity_dofs", *spaces, value=self.value)
        pointers = (c_void_p * len(spaces))(*[space.pointer for space in spaces])
        lib.weft_entity_dofs_make(pointers, len(spaces), flat, kind, group, byref(self.value))


class Form(Shown):
    """A script that computes the local matrices K of the cells of a space.

    script       text, a path that ends in .weft, the name of a shipped script such as "poisson.weft", or a FormFile
    inputs       name -> array over nodes or cells, or a number; x, the coordinates, is bound already. Coefficients of a
                 FormFile are arrays over the nodes of a Space of their own element
    expressions  name -> formula
    parameters   name -> integer; d, the dimension, is bound already
    action       name of a value of the script that equals K v, for matrix-free products
    measures     of a FormFile: "ds(2)" -> name of a group; by default that with this number
    """

    def __init__(self, space: Union[Space, MixedSpace], script: Any, inputs: Optional[Mapping[str, Any]] = None,
                 expressions: Optional[Mapping[str, Any]] = None, parameters: Optional[Mapping[str, int]] = None,
                 action: Optional[str] = None, measures: Optional[Mapping[str, str]] = None) -> None:
        if not isinstance(space, Space) and not hasattr(space, "spaces"):
            raise refuse("space", space, "a weft.Space or a weft.MixedSpace")
        check_names("inputs", {} if inputs is None else inputs, "name -> number or array")
        self.space: Any = space
        self._context = space._context
        self._file_handles: list[Handle] = []
        if space.mesh._mesh.contents.curve and (not isinstance(script, FormFile) or script._is_straight()):
            raise InputError("the form is for straight cells, and those of the mesh are curved: write it on a Mesh whose "
                             "coordinate element has degree 2, or give a mesh of straight cells", "input")
        if isinstance(script, FormFile):
            self.name = script.name
            self._pieces = self._of_file(script, inputs or {}, expressions, parameters or {}, measures or {})
            return
        self.name, text = name, text = _text_of(script)
        bound: dict[str, Any] = {"x": Borrowed(lib.weft_space_coordinates(space._handle.pointer), space._handle)}
        # Names that the script does not declare are refused by the compiler; d is bound where it is declared.
        numbers = dict(parameters or {})
        if "d" not in numbers and kinds(name, text).get("d") == "parameter":
            numbers["d"] = space.mesh.dimension
        if inputs:
            # Compiled once to learn which inputs are over cells, and in which shape.
            names = Script(space.device, text + "\nreturn K;\n", expressions, numbers).names
            for key, value in inputs.items():
                bound[key] = self._list(names.get(key), value)._handle
        self._pieces = [_Piece(self.space, name, text, lib.weft_space_cells(space._handle.pointer), bound, expressions,
                               numbers, action, points=lib.weft_space_data_points(space._handle.pointer))]

    def _about(self) -> About:
        return About("%s on %r" % (self.name, self.space), [((piece.texts[0] or b"").decode(), "%s, inputs %s" % (" and ".join(
            what for what, has in (("matrix", piece.has_matrix), ("vector", piece.has_vector)) if has), ", ".join(piece.inputs)))
            for piece in self._pieces])

    def _of_file(self, file: FormFile, inputs: Mapping[str, Any], expressions: Optional[Mapping[str, Any]],
                 parameters: Mapping[str, int], measures: Mapping[str, str]) -> list[_Piece]:
        space, problem = self.space, file._problem()
        library = file._library(space.device)
        self._context = space._context.with_functions(library)
        file._check(problem, space)
        spaces = [space._handles]
        for i in range(1, problem.n_sets):
            spaces.append([])
            for sub in problem.sets[i].sub[:problem.sets[i].n]:
                handle = Handle("space", space._handle)
                lib.weft_space_make(space.device._pointer, space.mesh._mesh, s.weft_element_kind(sub.family, sub.degree),
                                    sub.components if problem.sets[i].flat else 1, byref(handle.pointer))
                spaces[i].append(handle)
        self._file_handles = [file._handle] + [handle for handles in spaces for handle in handles]
        pieces, used = [], set()
        groups = file._groups(problem, space.mesh, measures)
        for part, group in zip(problem.parts[:problem.n_parts], groups):
            text = part.script.decode()
            result = "K" if part.has_matrix else "r" if problem.nonlinear else "b"
            names = Script(space.device, text + "\nreturn %s;\n" % result, expressions, parameters, library=library).names
            dofs: list[Any] = [_Dofs(handles, problem.sets[i].flat, part.domain, group)
                    if "connectivity %s :" % problem.sets[i].connectivity.decode() in text else None
                    for i, handles in enumerate(spaces)]
            x = spaces[problem.geometry][0]
            bound: dict[str, Any] = {"x": Borrowed(lib.weft_space_coordinates(x.pointer), x)}
            for key in set(inputs) & set(names):
                bound[key] = self._list(names[key], inputs[key])._handle
            for one in problem.values[:problem.n_values]:
                name = one.name.decode()
                name = name if name in names else "coefficient_" + name
                if name in names and name not in bound:
                    bound[name] = self._of_formula(names[name], one, problem, spaces)._handle
            used |= set(bound)
            others = [(problem.sets[i].connectivity, dofs[i].value.connectivity) for i in range(1, problem.n_sets) if dofs[i]]
            adds = part.domain == 2 or (part.domain == 0 and part.id >= 0)
            piece = _Piece(space, file.name, text, dofs[0].value.connectivity, bound, expressions, parameters,
                           "Kv" if part.has_action else None, others, adds)
            piece.dofs, piece.has_matrix, piece.has_vector = dofs, part.has_matrix, part.has_vector
            pieces.append(piece)
        unknown = sorted(set(inputs) - used)
        if unknown:
            raise UsageError("the forms have no input %r" % unknown[0], "usage")
        return pieces

    def _uses(self) -> list[Any]:
        """What operators of the form borrow."""
        uses: list[Any] = [*self.space._handles, *self._file_handles, *self._context.uses]
        for piece in self._pieces:
            uses += [piece.form, piece.texts, *piece.inputs.values(), *[one.handle for one in piece.dofs if one]]
        return uses

    @property
    def _matrix_forms(self) -> list[s.weft_form]:
        return [piece.form for piece in self._pieces if piece.has_matrix]

    def _list(self, known: Optional[Mapping[str, Any]], value: Any) -> Array:
        device = self.space.device
        if known and known["over"] == "cells":
            return _interleave(device, value, _count(known["shape"]), device.limits.lanes_double, "float64")
        return device.asarray(value)

    def _of_formula(self, known: Mapping[str, Any], value: Any, problem: Any, spaces: Sequence[Sequence[Handle]]) -> Array:
        """The values that a form file gives a coefficient at its nodes."""
        sets = [one.nodes.decode() for one in problem.sets[:problem.n_sets]]
        at = sets.index(known["over"]) if known["over"] in sets else None
        if at is None or problem.sets[at].flat:
            raise UsageError("the values that the form file gives %s are computed by weft.Problem, not by weft.Form: give "
                             "them in inputs" % value.name.decode(), "usage")
        sub = problem.sets[at].sub[0]
        space = Space._borrow(self.space.mesh, self.space.device, self._context, spaces[at][0], sub.family, sub.degree)
        parts = [space.interpolate(one) for one in components(value.formula.decode())]
        return parts[0] if len(parts) == 1 else self.space.device.asarray(_interleaved(parts))

    def vector(self, name: str = "b") -> Array:
        """A vector that the script accumulates, such as b of `b[dofs] += ...`."""
        out = self.space.zeros()
        names = (c_char_p * 1)(encode(name))
        pieces = [piece for piece in self._pieces if piece.has_vector]
        if not pieces:
            raise UsageError("the forms have no linear form L, so they have no vector", "usage")
        total: Any = 0
        for piece in pieces:
            memories = (c_void_p * 1)(out._pointer)
            outputs = s.weft_form_outputs(names=names, memories=memories, n=1)
            lib.weft_form_run(self._context.pointer, byref(piece.form), byref(outputs))
            if len(pieces) > 1 and not self.space.device.limits.records_only:
                total = total + out.numpy().copy()
        if len(pieces) > 1 and not self.space.device.limits.records_only:
            out.set(total)
        return out

    def asymmetry(self) -> float:
        """max |K - K^T| / max |K| over the cells: about 1e-16 for a symmetric form."""
        most = 0.0
        for form in self._matrix_forms:
            out = c_double()
            lib.weft_form_asymmetry(self._context.pointer, byref(form), byref(out))
            most = max(most, out.value)
        return most


class Conditions(Shown):
    """Boundary conditions of a space. Without any, u = 0 on the whole boundary.

    place  of weft.MixedConditions: the first of the space's dofs among all, and their number
    """

    def __init__(self, space: Space, conditions: Sequence[Condition] = (), place: Optional[tuple[int, int]] = None) -> None:
        check_type("space", space, Space, "a weft.Space")
        self.space, self._given = space, check_list("conditions", conditions, Condition, "weft.Dirichlet, weft.Neumann and weft.Robin")
        check_groups(space.mesh, self._given)
        where = byref(s.weft_bc_place(*place)) if place else None
        rows = condition_rows(conditions, space.components)
        self._rows = (s.weft_condition * max(len(rows), 1))(*rows)
        self._handle = Handle("bc", space._handle, self._rows)
        lib.weft_bc_make_in(space._context.pointer, space._handle.pointer, where, self._rows, len(rows), byref(self._handle.pointer))

    def _about(self) -> About:
        return About("%d of %d dofs constrained" % (len(self.constrained), self.space.n_dofs),
                     [(repr(i + 1), one) for i, one in enumerate(self._given)] or [("boundary", "u = 0")])

    @property
    def constrained(self) -> numpy.ndarray:
        """The dofs with Dirichlet values, ascending; a read-only view."""
        n = c_int64()
        dofs = lib.weft_bc_constrained(self._handle.pointer, byref(n))
        return _view(dofs, (n.value,), "int32", self._handle.owner)

    def is_free(self, component: int = 0) -> bool:
        """Whether nothing fixes a component, which is then determined only up to a constant."""
        out = c_bool()
        lib.weft_bc_find_free(self._handle.pointer, component, byref(out))
        return out.value

    def guess(self) -> Array:
        """A vector with the Dirichlet values, and 0 elsewhere."""
        u = self.space.zeros()
        values = u.numpy()
        lib.weft_bc_set(self._handle.pointer, 1, values.ctypes.data)
        if not u._is_view:
            u.set(values)
        return u

    def load(self, source: Optional[Number] = None, degree: int = 4) -> Array:
        """The right-hand side: int source phi over the cells, and the terms of Neumann and Robin conditions."""
        return self._add_load(self.space.zeros(), source, degree)

    def _add_load(self, b: Array, source: Optional[Number], degree: int) -> Array:
        values = b.numpy()  # on the host its own memory
        lib.weft_bc_load_make(self._handle.pointer, encode(str(source)) if source is not None else None, b"source",
                              degree, b._pointer, values.ctypes.data)
        if not b._is_view and not self.space.device.limits.records_only:
            b.set(values)
        return b


class Solution(NamedTuple):
    """What Operator.solve returned. converged is also true where rounding allows no smaller residual; reason is that of a
    method that was chosen."""

    x: Array
    converged: bool
    outcome: str
    iterations: int
    residual: float
    history: numpy.ndarray
    method: str
    reason: str
    space: Any = None

    def plot(self, **options: Any) -> Any:
        """Show x: see Space.plot."""
        if not isinstance(self.space, Space):
            raise UsageError("plot() shows a function of one Space: of a mixed one plot the parts, W.spaces[0].plot(W.split(x)[0])", "usage")
        return self.space.plot(self.x, **options)

    def _about(self) -> About:
        return About("%s after %d iterations of %s, residual %.2e, x of %r" % (
            self.outcome, self.iterations, self.method, self.residual, self.x.shape), [("reason", self.reason or "as requested")],
            convergence(self.history))

    def __repr__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    def __reduce__(self) -> Any:
        return Solution, tuple(self)[:-1]  # without the space


class Operator(Shown):
    """The linear map of a form, with the Robin terms of conditions, in one of the formats.

    assembly  "lma", "lma-gather", "csr", "matrix-free" or "edge"
    """

    def __init__(self, form: Form, conditions: Union[Conditions, MixedConditions, None] = None, assembly: str = "csr") -> None:
        check_type("form", form, Form, "a weft.Form", "weft.Form(space, %r)" % form if isinstance(form, str) else "")
        if conditions is not None and not hasattr(conditions, "constrained"):
            raise refuse("conditions", conditions, "a weft.Conditions, or None", "weft.Conditions(space, [...]) makes one of a list")
        self.form, self.space, self.conditions = form, form.space, conditions
        number = c_int()
        lib.weft_assembly_find(encode(assembly), byref(number))
        context = form._context.pointer
        self.assembly, self._handle = assembly, Handle("operator", *form._uses())
        if conditions is not None:
            if conditions.space is not form.space:
                raise UsageError("the form and the conditions have different spaces", "usage")
        robin, n_robin = POINTER(s.weft_form)(), 0
        if conditions is not None:
            bc = conditions if isinstance(conditions, Conditions) else conditions.parts[0]  # with the forms of all parts
            self._handle.use(bc._handle)
            n_robin = lib.weft_bc_forms(bc._handle.pointer, byref(robin))
        forms = form._matrix_forms + robin[:n_robin]
        lib.weft_operator_make(context, number, (s.weft_form * len(forms))(*forms), len(forms), byref(self._handle.pointer))
        lib.weft_operator_assemble(self._handle.pointer)
        self._solver: Optional[Handle] = None
        self._preconditioners: dict[Any, Handle] = {}

    @property
    def shape(self) -> tuple[int, int]:
        n = lib.weft_operator_dofs(self._handle.pointer)
        return n, n

    def _about(self) -> About:
        return About("%d x %d, %s, of %s" % (*self.shape, self.assembly, self.form.name), [
            ("space", self.space), ("conditions", self.conditions if self.conditions is not None else "none")])

    def assemble(self) -> None:
        """Compute the matrix again, after inputs of the form have changed."""
        lib.weft_operator_assemble(self._handle.pointer)
        for handle in self._preconditioners.values():
            lib.weft_preconditioner_update(handle.pointer)

    def apply(self, v: Any, out: Optional[Array] = None) -> Array:
        """A v; constrained dofs are treated like all others."""
        device = self.space.device
        v = device.asarray(v)
        check_size("v", v, self.space.n_dofs, "the dofs of the space")
        if out is None:
            out = device.zeros(v.shape)
        self._handle.repeat("weft_operator_apply", v._pointer, out._pointer)
        return out

    def __matmul__(self, v: Any) -> Any:
        return self.apply(v)

    def diagonal(self) -> Array:
        out = self.space.zeros()
        lib.weft_operator_diagonal(self._handle.pointer, out._pointer)
        return out

    def to_scipy(self) -> Any:
        """The matrix as scipy.sparse.csr_matrix, on the host without a copy. Assemblies csr and edge."""
        import scipy.sparse  # type: ignore[import-untyped,unused-ignore]

        memory = c_void_p()
        lib.weft_operator_matrix(self._handle.pointer, byref(memory))
        pattern = lib.weft_operator_pattern(self._handle.pointer)
        if not pattern:
            raise UsageError("the operator keeps no sparsity pattern", "usage")
        p = pattern.contents
        n = p.n_rows
        values = Array(self.space.device, Borrowed(memory.value, self._handle), (p.n_entries,), "float64").numpy()
        rows = _view(p.row_start, (n + 1,), "int64", self._handle.owner)
        columns = _view(p.columns, (p.n_entries,), "int32", self._handle.owner)
        # scipy wants both index arrays of one type.
        kind = "int32" if p.n_entries < 2 ** 31 else "int64"
        return scipy.sparse.csr_matrix((values, columns.astype(kind, copy=False), rows.astype(kind, copy=False)),
                                       shape=(n, n), copy=False)

    def to_linear_operator(self) -> Any:
        """The operator as scipy.sparse.linalg.LinearOperator, with its products computed by Weft."""
        import numpy
        import scipy.sparse.linalg  # type: ignore[import-untyped,unused-ignore]

        return scipy.sparse.linalg.LinearOperator(
            self.shape, matvec=lambda v: numpy.array(self.apply(v.reshape(-1)).numpy()), dtype=numpy.float64)

    def _preconditioner(self, name: str, is_general: bool = False) -> Optional[Handle]:
        kind = preconditioner_number(name)
        if kind < 0:
            if name == "auto":
                raise UsageError("an operator has no choice of a preconditioner, as weft.Problem has: name one", "usage")
            return None
        key, spaces = (name, is_general), self.space._handles
        if key not in self._preconditioners:
            dofs, n = self._constrained()
            problem = s.weft_preconditioner_problem(
                op=self._handle.pointer, constrained=dofs, n_constrained=n, is_general=is_general,
                hierarchy=self.space.mesh._hierarchy, project_mean=self._is_free())
            pointers = (c_void_p * len(spaces))(*[one.pointer for one in spaces])
            if len(spaces) > 1:
                problem.spaces, problem.n_spaces = pointers, len(spaces)
            else:
                problem.space = spaces[0].pointer
            handle = Handle("preconditioner", self._handle, *spaces, dofs, pointers)
            lib.weft_preconditioner_make(self.space._context.pointer, kind, byref(problem), byref(handle.pointer))
            self._preconditioners[key] = handle
        return self._preconditioners[key]

    def _constrained(self) -> tuple[Any, int]:
        if self.conditions is None:
            return None, 0
        if not isinstance(self.conditions, Conditions):
            dofs = self.conditions.constrained
            return dofs.ctypes.data_as(POINTER(c_int32)), len(dofs)
        n = c_int64()
        return lib.weft_bc_constrained(self.conditions._handle.pointer, byref(n)), n.value

    def _is_free(self) -> bool:
        return isinstance(self.conditions, Conditions) and self.space.components == 1 and self.conditions.is_free()

    @with_names
    def solve(self, b: Any, x: Optional[Array] = None, method: str = "auto", preconditioner: str = "jacobi",
              tolerance: float = 1e-8, max_iterations: Optional[int] = None, restart: int = 0,
              must_converge: bool = True) -> Solution:
        """Solve A x = b, with the Dirichlet values of the conditions.

        x               initial guess, overwritten by the solution; None: the Dirichlet values, 0 elsewhere
        method          "auto" (by the symmetry of the form, as in weft.Problem), "cg", "minres", "gmres", "bicgstab"
        preconditioner  "jacobi", "none", "multigrid" (a refined mesh), "aggregation", "block" (a MixedSpace), "chebyshev", "hypre"...
        must_converge   raise NotConverged where the iteration does not converge
        """
        device = self.space.device
        b = device.asarray(b)
        check_size("b", b, self.space.n_dofs, "the dofs of the space")
        check_numbers(tolerance=tolerance)
        check_counts(max_iterations=max_iterations, restart=restart)
        if x is None:
            x = self.conditions.guess() if self.conditions else self.space.zeros()
        if not isinstance(x, Array) or x.device is not device:
            raise refuse("x", x, "a weft.Array of the operator's device, which gets the solution: space.zeros()")
        check_size("x", x, self.space.n_dofs, "the dofs of the space")
        choice = s.weft_problem_choice(method=method_number(method), preconditioner=preconditioner_number(preconditioner))
        if method == "auto":
            lib.weft_method_choose(self.form.asymmetry(), len(self.space._handles) > 1, byref(choice))
        if self._solver is None:
            self._solver = Handle("solver", self._handle)
            lib.weft_solver_make(self.space._context.pointer, self._handle.pointer, byref(self._solver.pointer))
        dofs, n = self._constrained()
        used = self._preconditioner(preconditioner, not lib.weft_method_about(choice.method).contents.needs_symmetric)
        limit = max_iterations if max_iterations is not None else lib.weft_cg_iterations_limit(
            self.space.mesh.dimension, self.space.mesh.n_nodes, tolerance)
        spaces = (c_void_p * len(self.space._handles))(*[handle.pointer for handle in self.space._handles])
        options = s.weft_cg_options(
            spaces=spaces, n_spaces=len(spaces), method=choice.method, restart=restart, jacobi=preconditioner != "none", tolerance=tolerance, max_iterations=limit,
            constrained=dofs, n_constrained=n, project_mean=self._is_free(),
            preconditioner=used.pointer if used else None)
        result = s.weft_cg_result()
        lib.weft_solver_solve(self._solver.pointer, b._pointer, x._pointer, byref(options), byref(result))
        try:
            history = history_of(result)
        finally:
            free(result.history)
        outcome = lib.weft_cg_outcome_name(result.outcome).decode()
        solution = Solution(x, result.outcome == 0, outcome, result.iterations, result.residual, history,
                            method_name(choice.method), choice.method_reason.decode(), self.space)
        if must_converge and not solution.converged:
            raise NotConverged("%s did not converge: %s after %d iterations, residual %.1e, expected %.1e"
                               % (solution.method, outcome, result.iterations, result.residual, tolerance), solution)
        return solution


class AdvectionDiffusion(Shown):
    """Time steps of dT/dt + u.grad T = div(mu grad T) on a mesh.

    velocity     d formulas in x, y, z, t; None: no advection
    diffusivity  a formula, or d * d of a symmetric tensor by rows; None: no diffusion
    dirichlet    group -> formula; elsewhere mu dT/dn = 0
    initial      a formula, or the values at the nodes
    scheme       of the advection, by the name that `advection_diffusion --scheme` has; None: its default
    """

    def __init__(self, mesh: Mesh, dt: float, velocity: Optional[Sequence[Number]] = None,
                 diffusivity: Union[None, Number, Sequence[Number]] = None,
                 dirichlet: Optional[Mapping[str, Number]] = None, initial: Any = 0, theta: float = 0.5,
                 splitting: str = "strang", lumped: bool = False, assembly: str = "csr", tolerance: float = 1e-10,
                 max_iterations: int = 10000, device: Optional[Device] = None,
                 scheme: Optional[str] = None) -> None:
        import numpy

        check_type("mesh", mesh, Mesh, "a weft.Mesh")
        check_numbers(dt=dt, theta=theta, tolerance=tolerance)
        self.device, self.mesh = device or Device(), mesh
        self.space = Space(mesh, self.device)
        splitting_number = step_scheme_number("splitting", lib.weft_splitting_about, splitting)
        scheme_number = step_scheme_number("scheme", lib.weft_runge_kutta_about, scheme) if scheme else 0
        number = c_int()
        lib.weft_assembly_find(encode(assembly), byref(number))
        values = None
        if not isinstance(initial, (str, int, float)):
            values = numpy.array(initial, dtype="float64")
            if values.shape != (mesh.n_nodes,):
                raise UsageError("initial has the shape %s, expected [%d]" % (values.shape, mesh.n_nodes), "usage")
        rows = [s.weft_condition(kind=0, group=encode(group), value=encode(str(formula)),
                                 origin=encode("dirichlet " + group))
                for group, formula in (dirichlet or {}).items()]
        if velocity is not None and len(velocity) != mesh.dimension:
            raise UsageError("%d components of the velocity, expected %d" % (len(velocity), mesh.dimension), "usage")
        tensor = [] if diffusivity is None else ([diffusivity] if isinstance(diffusivity, (str, int, float)) else list(diffusivity))
        formulas: dict[str, Any] = {"velocity": list(velocity or []), "diffusivity": tensor}
        made = {}
        for what, given in formulas.items():
            texts = [s.weft_expression(b"", encode(str(text)), encode(what)) for text in given]
            made[what] = (s.weft_expression * len(texts))(*texts) if texts else None
        problem = s.weft_advection_diffusion_problem(
            space=self.space._handle.pointer, velocity=made["velocity"], diffusivity=made["diffusivity"],
            n_velocity=len(velocity or []), n_diffusivity=len(tensor),
            conditions=(s.weft_condition * max(len(rows), 1))(*rows), n_conditions=len(rows), preconditioner=-1,
            dt=dt, theta=theta, splitting=splitting_number, runge_kutta=scheme_number, lumped=lumped, assembly=number,
            tolerance=tolerance, max_iterations=max_iterations)
        if values is None:
            problem.initial = s.weft_expression(b"", encode(str(initial)), b"initial")
        else:
            problem.initial_values = values.ctypes.data_as(POINTER(c_double))
        self._handle = Handle("advection_diffusion", self.space._handle, problem, made, values, rows)
        lib.weft_advection_diffusion_make(self.space._context.pointer, byref(problem), byref(self._handle.pointer))
        self.state, self.dt, self._is_cut = s.weft_step_state(), dt, False

    def _about(self) -> About:
        return About("t = %.6g, step %d, %d nodes" % (self.t, self.state.step, self.mesh.n_nodes), [
            ("mesh", self.mesh), ("device", self.device.name), ("dt", self.dt), ("iterations", self.state.iterations),
            ("outcome", lib.weft_step_outcome_name(self.state.outcome).decode())])

    @property
    def t(self) -> float:
        return self.state.t

    @property
    def T(self) -> Array:
        """The field, [nodes], in the stepper's own memory."""
        memory = lib.weft_advection_diffusion_field(self._handle.pointer)
        return Array(self.device, Borrowed(memory, self._handle), (self.mesh.n_nodes,), "float64")

    def run(self, n: int = 1) -> Array:
        """Run n steps; returns the field."""
        check_counts(n=n)
        if self._is_cut:
            raise UsageError("the steps were interrupted, and the field is not defined: make the AdvectionDiffusion again", "usage")
        self._is_cut = True  # until the call returns
        lib.weft_advection_diffusion_run(self._handle.pointer, n, byref(self.state))
        self._is_cut = False
        outcome = lib.weft_step_outcome_name(self.state.outcome).decode()
        if self.state.outcome != 0:
            raise RuntimeError("the run ended in step %d: %s" % (self.state.step, outcome))
        return self.T
