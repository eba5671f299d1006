"""Products of dense matrices on a device."""

from __future__ import annotations

from ctypes import byref, c_double
from typing import Any, Optional

from . import _structures as s
from ._library import UsageError, lib
from .device import Array, Device

_GEMM = {"float32": 0, "float64": 1}  # of weft_gemm_type


def _matrix(array: Array) -> s.weft_gemm_matrix:
    """Rows of an array as columns, as BLAS has them: the matrix of the library is the transpose."""
    rows, columns = array.shape[-2:]
    return s.weft_gemm_matrix(array._pointer, 0, max(columns, 1), rows * columns if len(array.shape) == 3 else 0)


def matmul(device: Device, a: Any, b: Any, out: Optional[Array] = None, transpose_a: bool = False,
           transpose_b: bool = False, alpha: float = 1.0, beta: float = 0.0, dtype: Optional[str] = None) -> Array:
    """alpha op(a) op(b) + beta out, as an array on the device, by kernels that are generated for it (docs/gemm.md).

    a, b    matrices [rows, columns] or batches of them [n, rows, columns], of any package; one matrix with a batch is used for
            all of it
    out     gets the result, and is read where beta is not 0; it must not overlap a or b. None: a new array
    dtype   "float64" or "float32"; None: that of a, if it is one of these, else "float64"
    """
    name = dtype or str(getattr(a, "dtype", "float64"))
    name = name if name in _GEMM or dtype else "float64"
    if name not in _GEMM:
        raise UsageError("products are of float32 or float64, not %s" % name, "usage")
    a, b = device.asarray(a, name), device.asarray(b, name)
    if {len(a.shape), len(b.shape)} - {2, 3} or {a._type, b._type} != {name}:
        raise UsageError("products are of matrices or batches of them, of one type: got %s %r and %s %r"
                         % (a.dtype, a.shape, b.dtype, b.shape), "usage")
    (m, k), (k_b, n) = (shape[::-1] if flip else shape for shape, flip in ((a.shape[-2:], transpose_a), (b.shape[-2:], transpose_b)))
    counts = {x.shape[0] for x in (a, b) if len(x.shape) == 3}
    if k != k_b or len(counts) > 1:
        raise UsageError("the shapes %r and %r%s do not fit" % (a.shape, b.shape, " (transposed: %s)" % ", ".join(
            word for word, flip in (("a", transpose_a), ("b", transpose_b)) if flip) if transpose_a or transpose_b else ""),
                         "usage")
    shape = (*counts, m, n)
    if out is None:
        out = device.zeros(shape, name)
        beta = 0.0
    if out.shape != shape or out._type != name or out.device is not device:
        raise UsageError("out is %s %r on %s, expected %s %r on %s"
                         % (out.dtype, out.shape, out.device.name, name, shape, device.name), "usage")
    # By columns C' = B' A', each the transpose of what the rows are.
    product = s.weft_gemm_product(
        type=_GEMM[name], op_a=int(transpose_b), op_b=int(transpose_a), m=n, n=m, k=k, alpha=(c_double * 2)(alpha, 0),
        beta=(c_double * 2)(beta, 0), a=_matrix(b), b=_matrix(a), c=_matrix(out))
    kernels = device._products()
    if counts:
        lib.weft_gemm_batched(kernels.pointer, byref(product), counts.pop())
    else:
        lib.weft_gemm(kernels.pointer, byref(product))
    return out
