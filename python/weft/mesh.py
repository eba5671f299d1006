"""Meshes, with their groups."""

from __future__ import annotations

import ctypes
import math
import os
from ctypes import POINTER, byref, c_double, c_int, c_int32, c_int64, c_void_p
from typing import TYPE_CHECKING, Any, Mapping, Optional

from . import _structures as s
from ._check import check_counts, check_names, check_numbers, check_type, with_names
from ._library import Handle, InputError, UsageError, buffer_of, encode, free, lib
from ._show import About, Shown, named
from .plot import draw

if TYPE_CHECKING:
    import numpy

    from .device import Device


def _view(pointer: Any, shape: tuple[int, ...], dtype: str, owner: Any) -> numpy.ndarray:
    """A read-only view of the library's memory, which keeps the owner alive."""
    import numpy

    n = math.prod(shape)
    if n == 0 or not pointer:
        return numpy.empty(shape, dtype)
    buffer = buffer_of(ctypes.cast(pointer, c_void_p).value or 0, n * numpy.dtype(dtype).itemsize, owner)
    values = numpy.frombuffer(buffer, dtype=dtype).reshape(shape)
    values.flags.writeable = False
    return values


class Mesh(Shown):
    """A mesh of intervals, triangles, quadrilaterals, tetrahedra or hexahedra, with named groups of facets, cells and points.

    name    a file (.vtkhdf; through Gmsh .geo, .msh, .unv, ...), "square:N", "cube:N", "interval:N", "quads:N" or "hexes:N"
    size    mesh size of a .geo file; None: as the file says
    refine  uniform refinements; every level is kept, as multigrid needs it
    order   renumber nodes and cells for locality, which makes products faster
    device  whose threads refine and order; None: one thread
    memory, seconds  that Gmsh or HDF5 may use, in bytes, and take; 0: those of the programs
    trust_geo  accept a .geo file that runs programs or writes files
    """

    _again: Optional[tuple[Any, ...]] = None  # arguments of the one that was made by its name

    @with_names
    def __init__(self, name: str, size: Optional[float] = None, refine: int = 0, order: bool = False,
                 device: Optional[Device] = None, memory: float = 0, seconds: float = 0, trust_geo: bool = False) -> None:
        check_type("the name of a mesh", name, (str, os.PathLike), "a file, or square:N, cube:N, interval:N, quads:N or hexes:N")
        check_counts(refine=refine)
        check_numbers(size=0 if size is None else size, memory=memory, seconds=seconds)
        mesh = POINTER(s.weft_mesh)()
        options = s.weft_mesh_options(cell_size=size or 0, memory=memory, seconds=seconds, trust_geo=trust_geo,
                                      device=device._pointer if device else None)
        lib.weft_mesh_read_with(encode(str(name)), byref(options), byref(lib.monitor), byref(mesh))
        self._start(mesh, refine, order, device)
        self._again = (str(name), size, refine, order, None, memory, seconds, trust_geo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """By its name, from which another process makes it again; of arrays by these."""
        if self._again:
            return _made_again, (self._again, self.n_nodes, self.n_cells)
        mesh, d = self._mesh.contents, self.dimension
        if self._hierarchy or mesh.curve or mesh.part or self.cells.shape[1] != d + 1 or d == 1:
            return super().__reduce_ex__(protocol)
        of: dict[int, dict[str, Any]] = {d: {}, d - 1: {}, 0: {}}
        for name, dimension in self.groups.items():
            of[dimension][name] = (self.cell_group(name) if dimension == d else self.nodes(name) if dimension == 0 else self.facets(name))
        return Mesh.from_arrays, (self.points, self.cells, of[d - 1], of[d], of[0])

    def _start(self, mesh: Any, refine: int, order: bool, device: Optional[Device]) -> None:
        self._mesh, self._hierarchy = mesh, None
        self._handle = Handle("mesh", value=mesh)
        pointer = device._pointer if device else None
        if refine > 0:
            hierarchy = POINTER(s.weft_hierarchy)()
            handle = Handle("hierarchy", value=hierarchy)
            how = s.weft_hierarchy_options(times=refine, ordered=order)
            lib.weft_hierarchy_make(pointer, byref(mesh), byref(how), None, byref(hierarchy))
            self._handle, self._hierarchy = handle, hierarchy
            self._mesh = hierarchy.contents.levels[hierarchy.contents.n_levels - 1].mesh
        elif order:
            lib.weft_mesh_order(pointer, mesh, 0, 0, None, None)

    @classmethod
    def _part(cls, mesh: Any) -> Mesh:
        """The part of a mesh that a rank has."""
        made = cls.__new__(cls)
        made._start(mesh, 0, False, None)
        return made

    def _numbers_in_whole(self, is_cells: bool) -> numpy.ndarray:
        """Of a part: the numbers of its cells, or nodes, in the whole mesh."""
        n = self.n_cells if is_cells else self.n_nodes
        return _view(lib.weft_part_numbers(self._mesh, is_cells), (n,), "int32", self._handle.owner)

    @classmethod
    def from_arrays(cls, points: Any, cells: Any, facet_groups: Optional[Mapping[str, Any]] = None,
                    cell_groups: Optional[Mapping[str, Any]] = None,
                    point_groups: Optional[Mapping[str, Any]] = None, refine: int = 0, order: bool = False,
                    device: Optional[Device] = None) -> Mesh:
        """A mesh of arrays, which are copied and checked: cells of negative orientation are flipped.

        points        [nodes, d] coordinates; with 2D cells, d = 3 and z = 0 are accepted
        cells         [cells, d + 1] nodes, from 0
        facet_groups  name -> [facets, d] nodes
        cell_groups   name -> numbers of cells
        point_groups  name -> nodes
        """
        import numpy

        points = numpy.asarray(points, dtype="float64")
        cells = numpy.asarray(cells)
        if points.ndim != 2 or cells.ndim != 2 or cells.shape[1] not in (3, 4):
            raise InputError("points %s and cells %s: expected [nodes, d] and [cells, d + 1] with d = 2 or 3"
                             % (points.shape, cells.shape), "input")
        d = cells.shape[1] - 1
        if d == 2 and points.shape[1] == 3 and not points[:, 2].any():
            points = points[:, :2]
        if points.shape[1] != d:
            raise InputError("cells of %d nodes need points of %d coordinates, these have %d" % (d + 1, d, points.shape[1]), "input")
        groups, lists = [], {}
        for what, dimension, given in (("facet", d - 1, facet_groups), ("cell", d, cell_groups), ("point", 0, point_groups)):
            lists[what] = [numpy.zeros((0, d) if what == "facet" else 0, "int32")]
            for name, numbers in (given or {}).items():
                if len(encode(name) or b"") > 255:
                    raise InputError("the name of a group is longer than 255 bytes: %s..." % name[:40], "input")
                numbers = numpy.asarray(numbers).reshape((-1, d) if what == "facet" else -1)
                if what == "cell" and len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(cells):
                    raise InputError("group %s has a cell out of range: there are %d" % (name, len(cells)), "input")
                group = s.weft_group(encode(name), dimension)
                setattr(group, "first_" + what, sum(map(len, lists[what])))
                setattr(group, "n_%ss" % what, len(numbers))
                groups.append(group)
                lists[what].append(numbers)
        joined = {what: numpy.concatenate(list_) for what, list_ in lists.items()}
        data = s.weft_mesh_data(
            dimension=d, n_nodes=len(points), n_cells=len(cells), x=_give(points, "float64"),
            cells=_give(cells, "int32"), n_groups=len(groups),
            groups=_give(numpy.frombuffer(b"".join(map(bytes, groups)), "uint8"), "uint8"), n_group_facets=len(joined["facet"]),
            group_facet_nodes=_give(joined["facet"], "int32"), n_group_cells=len(joined["cell"]), group_cells=_give(joined["cell"], "int32"),
            points=s.weft_point_lists(n_nodes=len(joined["point"]), nodes=_give(joined["point"], "int32")))
        mesh = POINTER(s.weft_mesh)()
        lib.weft_mesh_make(byref(data), b"arrays", None, byref(mesh))
        made = cls.__new__(cls)
        made._start(mesh, refine, order, device)
        return made

    @classmethod
    def from_meshio(cls, mesh: Any, **options: Any) -> Mesh:
        """A mesh of a meshio.Mesh: its cells of the highest dimension, and its physical groups."""
        import numpy

        blocks = {"triangle": 2, "tetra": 3}
        found = {blocks[block.type] for block in mesh.cells if block.type in blocks}
        if not found:
            raise InputError("no triangles or tetrahedra, but %s" % ", ".join(sorted({block.type for block in mesh.cells})), "input")
        d = max(found)
        facet_type = "line" if d == 2 else "triangle"
        cells = [block.data for block in mesh.cells if blocks.get(block.type) == d]
        tags = mesh.cell_data.get("gmsh:physical")
        names = {(int(tag), int(dimension)): name for name, (tag, dimension) in mesh.field_data.items()}
        facet_groups: dict[str, list[Any]] = {}
        cell_groups: dict[str, list[Any]] = {}
        first = 0
        for i, block in enumerate(mesh.cells):
            dimension = d if blocks.get(block.type) == d else d - 1 if block.type == facet_type else None
            if dimension is None:
                continue
            if tags is not None:
                for tag in numpy.unique(tags[i]):
                    name = names.get((int(tag), dimension), str(int(tag)))
                    chosen = numpy.flatnonzero(numpy.asarray(tags[i]) == tag)
                    if dimension == d:
                        cell_groups.setdefault(name, []).append(first + chosen)
                    else:
                        facet_groups.setdefault(name, []).append(block.data[chosen])
            if dimension == d:
                first += len(block.data)
        return cls.from_arrays(mesh.points, numpy.concatenate(cells),
                               {name: numpy.concatenate(parts) for name, parts in facet_groups.items()},
                               {name: numpy.concatenate(parts) for name, parts in cell_groups.items()}, **options)

    @classmethod
    def from_dolfinx(cls, mesh: Any, *tags: Any, names: Optional[Mapping[int, str]] = None, **options: Any) -> Mesh:
        """A mesh of a dolfinx.mesh.Mesh in one process. Cells are those of its geometry, numbered as there.

        tags   dolfinx.mesh.MeshTags of cells and facets, each value of which becomes a group
        names  value -> name of the group; others are called by their value
        """
        import numpy

        topology, geometry = mesh.topology, mesh.geometry
        d = topology.dim
        topology.create_connectivity(d, 0)
        n_cells = len(topology.connectivity(d, 0).array) // (d + 1)
        cells: Any = numpy.asarray(getattr(geometry.dofmap, "array", geometry.dofmap)).reshape(-1)
        if len(cells) != n_cells * (d + 1) or d not in (2, 3):
            raise InputError("expected straight triangles or tetrahedra", "input")
        cells = cells.reshape(-1, d + 1)
        vertices = topology.connectivity(d, 0).array.reshape(-1, d + 1)
        nodes = numpy.zeros(vertices.max() + 1 if len(vertices) else 0, "int32")
        nodes[vertices] = cells  # geometry and topology number the vertices differently
        groups: dict[int, dict[str, Any]] = {d: {}, d - 1: {}}
        for tag in tags:
            if tag.dim not in groups:
                raise InputError("tags of dimension %d: expected those of cells or facets" % tag.dim, "input")
            for value in numpy.unique(tag.values):
                groups[tag.dim][(names or {}).get(int(value), str(int(value)))] = tag.indices[tag.values == value]
        if groups[d - 1]:
            topology.create_connectivity(d - 1, 0)
            facets = nodes[topology.connectivity(d - 1, 0).array.reshape(-1, d)]
            groups[d - 1] = {name: facets[numbers] for name, numbers in groups[d - 1].items()}
        return cls.from_arrays(geometry.x[:, :d] if d < 3 and not geometry.x[:, d:].any() else geometry.x, cells,
                               groups[d - 1], groups[d], **options)

    @property
    def dimension(self) -> int:
        return self._mesh.contents.dimension

    @property
    def n_nodes(self) -> int:
        return self._mesh.contents.n_nodes

    @property
    def n_cells(self) -> int:
        return self._mesh.contents.n_cells

    @property
    def points(self) -> numpy.ndarray:
        """[nodes, d] coordinates, a read-only view."""
        return _view(self._mesh.contents.x, (self.n_nodes, self.dimension), "float64", self._handle.owner)

    @property
    def cells(self) -> numpy.ndarray:
        """[cells, vertices] nodes, a read-only view: of simplices d + 1 vertices, of quadrilaterals and hexahedra 2^d, x fastest."""
        n = lib.weft_mesh_cell_vertices(self._mesh)
        return _view(self._mesh.contents.cells, (self.n_cells, n), "int32", self._handle.owner)

    @property
    def groups(self) -> dict[str, int]:
        """Names of the groups, and their dimension: d of cells, d - 1 of facets, 0 of points."""
        mesh = self._mesh.contents
        return {mesh.groups[i].name.decode(errors="replace"): mesh.groups[i].dimension for i in range(mesh.n_groups)}

    def cell_group(self, name: str) -> numpy.ndarray:
        """The numbers of the cells of a group, a read-only view."""
        mesh = self._mesh.contents
        for i in range(mesh.n_groups):
            group = mesh.groups[i]
            if group.name == encode(name) and group.dimension == mesh.dimension:
                start = ctypes.addressof(mesh.group_cells.contents) + 4 * group.first_cell if group.n_cells else None
                return _view(start, (group.n_cells,), "int32", self._handle.owner)
        known = sorted(name for name, dimension in self.groups.items() if dimension == mesh.dimension)
        raise InputError("no group of cells is called %r; there are: %s" % (name, ", ".join(known) or "none"), "input")

    def _group(self, name: str, function: Any, width: int, find: Any) -> numpy.ndarray:
        import numpy

        group, numbers, n = c_int(), POINTER(c_int32)(), c_int64()
        find(self._mesh, encode(name), byref(group))
        function(self._mesh, group, byref(numbers), byref(n))
        try:
            shape = (n.value, width) if width > 1 else (n.value,)
            return numpy.array(_view(numbers, shape, "int32", None))
        finally:
            free(numbers)

    def nodes(self, group: str = "boundary") -> numpy.ndarray:
        """The distinct nodes of a group of facets or points, ascending."""
        return self._group(group, lib.weft_mesh_group_nodes, 1, lib.weft_mesh_place)

    def facets(self, group: str = "boundary") -> numpy.ndarray:
        """[facets, vertices] nodes of a group of facets."""
        width = lib.weft_mesh_facet_vertices(self._mesh)
        return self._group(group, lib.weft_mesh_group_facets, width, lib.weft_mesh_group).reshape(-1, width)

    def write(self, path: str, fields: Optional[Mapping[str, Any]] = None) -> None:
        """Write the mesh, and fields over its nodes or cells, for ParaView.

        path    .vtkhdf or .vtu
        fields  name -> [nodes], [nodes, c], [cells] or [cells, c]
        """
        import numpy

        check_type("the path", path, (str, os.PathLike), "a name that ends in .vtkhdf or .vtu")
        check_names("fields", {} if fields is None else fields, "name -> array")
        kept, rows = [], []
        for name, values in (fields or {}).items():
            plain = numpy.ascontiguousarray(values, dtype="float64")
            kept.append(plain)
            if plain.ndim not in (1, 2) or len(plain) not in (self.n_nodes, self.n_cells):
                raise UsageError("field %s has the shape %s; expected [n] or [n, c] with n = %d nodes or %d cells"
                                 % (name, plain.shape, self.n_nodes, self.n_cells), "usage")
            rows.append(s.weft_field(encode(name), len(plain) != self.n_nodes,
                                     plain.shape[1] if plain.ndim == 2 else 1,
                                     plain.ctypes.data_as(POINTER(c_double))))
        lib.weft_result_write(encode(str(path)), self._mesh, (s.weft_field * max(len(rows), 1))(*rows), len(rows))

    def plot(self, fields: Optional[Mapping[str, Any]] = None, name: Optional[str] = None, path: Any = None, warp: float = 0,
             edges: bool = True, component: Optional[int] = None, **options: Any) -> Any:
        """Show the mesh, and fields over its nodes or cells, by pyvista (pip install weft[plot]): of a name, else u or the first one.

        path       None: returns a pyvista.Plotter, for show(); else a picture is written there off-screen, .png
        warp       by so much times the field: displacements, or a surface over a plane
        component  of a vector; None: its length
        options    of pyvista.Plotter.add_mesh
        """
        return draw(lambda to: self.write(to, fields), name, path, self.dimension, warp, edges, component, **options)

    def _about(self) -> About:
        mesh, d = self._mesh.contents, self.dimension
        groups = [mesh.groups[i] for i in range(mesh.n_groups)]
        of = {0: "points", d - 1: "facets", d: "cells"}
        rows = [(one.name.decode(errors="replace"), of[one.dimension],
                 one.n_cells if one.dimension == d else one.n_points if of[one.dimension] == "points" else one.n_facets) for one in groups]
        box = self.points.min(axis=0), self.points.max(axis=0)
        return About("%dD, %d nodes, %d cells, groups %s" % (d, self.n_nodes, self.n_cells, named(row[0] for row in rows)),
                     [("from", ", ".join("%.4g" % x for x in box[0])), ("to", ", ".join("%.4g" % x for x in box[1]))],
                     [[("group", "of", "number"), *rows[:50]]] if rows else [])


def _made_again(how: tuple[Any, ...], *size: int) -> Mesh:
    made = Mesh(*how)
    if (made.n_nodes, made.n_cells) != size:
        raise InputError("mesh %s is not the one that was pickled, with %d nodes and %d cells" % (how[0], *size), "input")
    return made


def _give(values: Any, dtype: str) -> Any:
    """Memory of the library's own with these values, for the library to keep."""
    import numpy

    plain = numpy.asarray(values)
    if dtype == "int32" and plain.size and not (
            numpy.issubdtype(plain.dtype, numpy.integer) and -2 ** 31 <= plain.min() and plain.max() < 2 ** 31):
        raise InputError("numbers of nodes and cells must be integers below 2^31", "input")
    plain = numpy.ascontiguousarray(plain, dtype=dtype)
    address = lib.weft_array_make(max(plain.size, 1), plain.itemsize)
    if not address:
        raise MemoryError("no memory for %d bytes" % plain.nbytes)
    ctypes.memmove(address, plain.ctypes.data, plain.nbytes)
    return address
