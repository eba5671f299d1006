"""Solve a problem of tests/answers through the Python package, by the options of poisson that the tests use."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

import weft


def by_group(texts: Sequence[str]) -> str:
    """'@A=1', '@B=2' as one text of formulas by group."""
    return "; ".join(texts)


def conditions_of(options: argparse.Namespace) -> list[Any]:
    """The conditions of the command line."""
    found = [weft.Dirichlet(*text.split("=", 1)) for text in options.dirichlet]
    found += [weft.Neumann(*text.split("=", 1)) for text in options.neumann]
    for text in options.robin:
        group, values = text.split("=", 1)
        alpha, value = values.split(",", 1)
        found.append(weft.Robin(group, alpha, value))
    return found


def at_points(mesh: Any, u: np.ndarray, points: Sequence[Sequence[float]]) -> list[dict[str, Any]]:
    """The linear interpolation of values at the nodes, by the barycentric coordinates in every cell."""
    x, cells = np.asarray(mesh.points), np.asarray(mesh.cells)
    corners = x[cells]
    edges = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)
    found = []
    for point in points:
        inner = np.linalg.solve(edges, (np.array(point) - corners[:, 0])[:, :, None])[:, :, 0]
        weights = np.column_stack([1 - inner.sum(axis=1), inner])
        cell = int(weights.min(axis=1).argmax())
        found.append({"point": list(point), "u": float(weights[cell] @ u[cells[cell]])})
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("diffusivity", "source", "dirichlet", "neumann", "robin", "probe"):
        parser.add_argument("--" + name, action="append", default=[])
    for name in ("mesh", "json", "device", "preconditioner"):
        parser.add_argument("--" + name)
    parser.add_argument("--tolerance", type=float, default=1e-8)
    options = parser.parse_args()
    device = weft.Device(options.device or "host")
    mesh = weft.Mesh(options.mesh)
    space = weft.Space(mesh, device)
    conditions = weft.Conditions(space, conditions_of(options))
    form = weft.Form(space, "poisson_diffusivity.weft", expressions={"diffusivity": by_group(options.diffusivity)})
    solution = weft.Operator(form, conditions).solve(conditions.load(by_group(options.source)), tolerance=options.tolerance)
    points = [[float(number) for number in text.split(",")] for text in options.probe]
    json.dump({"probes": at_points(mesh, np.asarray(solution.x), points)}, sys.stdout)


if __name__ == "__main__":
    main()
