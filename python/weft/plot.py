"""Pictures of meshes and of functions on them, by pyvista."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Callable, Optional

from ._check import check_type, nearest
from ._library import Error, UsageError


class PlotError(Error, ImportError):
    """pyvista is not installed."""


def draw(write: Callable[[str], None], name: Optional[str], path: Any, dimension: int, warp: float, edges: bool, component: Optional[int],
         **options: Any) -> Any:
    """A plotter with what is written, or the path of a picture.

    write  makes a file for ParaView
    """
    check_type("the path", path, (str, os.PathLike, type(None)), "a name that ends in .png, or None")
    try:
        import pyvista  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise PlotError("plot() needs the package pyvista (%s)\nhint: pip install weft[plot], or pip install pyvista; write(...) makes files "
                        "for ParaView without it" % error, "unsupported") from None
    with tempfile.TemporaryDirectory(prefix="weft-plot-") as folder:
        write(os.path.join(folder, "shown.vtu"))
        data = pyvista.read(os.path.join(folder, "shown.vtu"))
    known = [*data.point_data.keys(), *data.cell_data.keys()]
    if name is not None and name not in known:
        raise UsageError("no field is called %r; %s" % (name, nearest(name, known)), "usage")
    shown = name or ("u" if "u" in known else known[0] if known else None)
    is_flat = dimension == 2
    if warp and shown in data.point_data.keys():
        is_vector = data.point_data[shown].ndim == 2
        data = data.warp_by_vector(shown, factor=warp) if is_vector else data.warp_by_scalar(shown, factor=warp, normal=(0, 0, 1))
        is_flat = is_flat and is_vector
    plotter = pyvista.Plotter(off_screen=True if path is not None else None)
    plotter.add_mesh(data, **{"scalars": shown, "show_edges": edges, "component": component, "lighting": not is_flat, **options})
    if dimension == 1:
        plotter.view_xz()
    elif is_flat:
        plotter.view_xy()
    if path is None:
        return plotter
    plotter.screenshot(os.fspath(path))
    plotter.close()
    return os.fspath(path)
