"""Arrays: what is shared, what is copied, and how long memory lives."""

import copy
import gc
import os
import time
import unittest
from unittest import mock

import numpy

import weft
from weft import _dlpack

DEVICE = os.environ.get("WEFT_TEST_DEVICE", "host:2")


class Arrays(unittest.TestCase):
    def setUp(self):
        self.device = weft.Device(DEVICE)

    def test_numpy_arrays_are_shared_on_the_host(self):
        if self.device.is_cuda:
            self.skipTest("the host only")
        values = numpy.arange(200000.0)
        array = self.device.asarray(values)
        self.assertEqual(self.device.bytes, 0)
        values[3] = -7
        self.assertEqual(array.numpy()[3], -7)
        self.assertTrue(numpy.shares_memory(array.numpy(), values))
        again = numpy.from_dlpack(array)
        self.assertTrue(numpy.shares_memory(again, values))
        made = self.device.zeros((1000, 3))
        self.assertTrue(numpy.shares_memory(made.numpy(), numpy.asarray(made)))
        self.assertEqual(self.device.bytes, 24000)

    def test_what_cannot_be_shared_is_copied(self):
        for values in (numpy.arange(10), numpy.arange(20.0)[::2], [1, 2.5], numpy.float32([1, 2]), 3.5,
                       numpy.empty(0), numpy.empty((0, 3))):
            array = self.device.asarray(values)
            numpy.testing.assert_array_equal(array.numpy(), numpy.asarray(values, dtype="float64"))
        fixed = numpy.arange(5.0)
        fixed.flags.writeable = False
        array = self.device.asarray(fixed)
        array.set(1)
        self.assertEqual(fixed[4], 4)

    def test_views_with_any_strides_are_read(self):
        if self.device.is_cuda:
            self.skipTest("the host only: a GPU's are in test_tensors")
        whole = numpy.arange(60.0).reshape(3, 4, 5)
        for values in (whole, whole.T, whole[::-1, 1:, ::2], whole[:, ::-3], whole[1, 2], whole[0, 0, 3:4], whole > 7):
            view = _dlpack.View(values.ctypes.data, values.shape,
                                _dlpack._plain_strides(values.shape, values.strides, values.itemsize), values.dtype.name, whole)
            self.assertEqual(view.is_contiguous(), values.flags.c_contiguous)
            numpy.testing.assert_array_equal(self.device._read(view), values)

    def test_memory_lives_as_long_as_it_is_used(self):
        array = self.device.zeros(1000)
        array.set(numpy.arange(1000.0))
        view = array.numpy()
        tensor = numpy.from_dlpack(array) if not self.device.is_cuda else None
        before = len(_dlpack._exported)
        del array
        gc.collect()
        self.assertEqual(view[999], 999)
        if tensor is None:
            return
        self.assertEqual(self.device.bytes, 8000)
        del view
        gc.collect()
        self.assertEqual(tensor[999], 999)
        self.assertEqual(self.device.bytes, 8000)
        del tensor
        gc.collect()
        self.assertEqual(len(_dlpack._exported), before - 1)
        self.assertEqual(self.device.bytes, 0)

    def test_capsules_that_nobody_takes(self):
        array = self.device.zeros(10)
        before = len(_dlpack._exported)
        capsule = array.__dlpack__()
        self.assertEqual(len(_dlpack._exported), before + 1)
        del capsule
        gc.collect()
        self.assertEqual(len(_dlpack._exported), before)

    def test_types(self):
        for name in ("float64", "float32", "int32", "int64"):
            array = self.device.asarray(numpy.arange(12).reshape(3, 4), name)
            self.assertEqual(array.numpy().dtype.name, name)
            self.assertEqual(array.shape, (3, 4))
            if not self.device.is_cuda:
                self.assertEqual(numpy.from_dlpack(array).dtype.name, name)
        with self.assertRaisesRegex(weft.UsageError, "complex128"):
            self.device.zeros(3, "complex128")
        with self.assertRaisesRegex(ValueError, "negative size"):
            self.device.zeros(-1)

    def test_memory_of_the_device_is_limited(self):
        with self.assertRaises(MemoryError) as caught:
            self.device.zeros(1 << 50)
        self.assertIn("out of memory", str(caught.exception))

    def test_interface_of_gpu_arrays(self):
        array = self.device.zeros(4)
        if not self.device.is_cuda:
            self.assertFalse(hasattr(array, "__cuda_array_interface__"))

    def test_a_call_costs_less_than_20_microseconds(self):
        array = self.device.zeros(1)
        from weft._library import lib
        best = 1.0
        for _ in range(50):
            start = time.perf_counter()
            for _ in range(20):
                lib.weft_memory_copy(array._pointer, array._pointer, 8)
            best = min(best, (time.perf_counter() - start) / 20)
        self.assertLess(best, 20e-6)

    # ---- numpy's operators --------------------------------------------------------------------

    def test_operators_are_those_of_numpy(self):
        """On the host, and with arrays of which numpy() is a copy, as on a GPU."""
        self.check_operators()
        if not self.device.is_cuda:
            copied, of_host = weft.Array.numpy, mock.patch.object(weft.Array, "_is_view", False)
            with of_host, mock.patch.object(weft.Array, "numpy", lambda one: copied(one).copy()):
                self.check_operators()

    def check_operators(self):
        plain = numpy.arange(12.0).reshape(3, 4)
        array, two = self.device.asarray(plain.copy()), self.device.asarray(numpy.full((3, 4), 2.0))
        same = numpy.testing.assert_array_equal
        for found, expected in ((array + two, plain + 2), (2 - array, 2 - plain), (array * two, plain * 2), (array / two, plain / 2),
                                (array // two, plain // 2), (array % two, plain % 2), (array**2, plain**2), (2**two, 2**(plain * 0 + 2)),
                                (-array, -plain), (abs(-array), plain), (array @ plain.T, plain @ plain.T), (plain + array, 2 * plain),
                                (numpy.sin(array), numpy.sin(plain)), (numpy.add.reduce(array), plain.sum(axis=0)),
                                (numpy.modf(array / 2)[0], numpy.modf(plain / 2)[0]), (numpy.float64(2) * array, 2 * plain)):
            self.assertIsInstance(found, weft.Array)
            same(found, expected)
        for found, expected in ((array > 3, plain > 3), (array == plain, plain == plain), (array[1], plain[1]),
                                (array[:, 1::2], plain[:, 1::2]), (array[array > 3], plain[plain > 3]), (array[-1, ::-1], plain[-1, ::-1]),
                                (numpy.array(list(array)), plain)):
            self.assertIs(type(found), numpy.ndarray)
            same(found, expected)
        self.assertEqual((len(array), array.ndim, array[1, 2], numpy.max(array), numpy.linalg.norm(array), array.dtype),
                         (3, 2, 6, 11, numpy.linalg.norm(plain), numpy.float64))
        same(array.T, plain.T)
        same(array.reshape(4, 3).sum(axis=0), plain.reshape(4, 3).sum(axis=0))
        self.assertEqual((array.max(), array.mean(), array.tolist()), (11, 5.5, plain.tolist()))
        with self.assertRaisesRegex(AttributeError, "weft.Array has no 'maximum'"):
            array.maximum()
        self.assertTrue(array != None and not array == "text")  # noqa: E711
        for other in (object(), None, "text", len):
            with self.assertRaises(TypeError):
                array + other
        self.check_writing(array, plain)

    def check_writing(self, array, plain):
        same, kept = numpy.testing.assert_array_equal, array
        for key, value in ((1, 7), ((slice(None), 0), [1, 2, 3]), (plain > 6.5, 0), ((2, slice(1, 3)), array[0, 1:3])):
            array[key] = value
            plain[key] = value
            same(array, plain)
        array += 1
        array *= self.device.asarray([1.0, 2, 3, 4])
        array -= numpy.ones(4)
        array /= 2
        same(array, ((plain + 1) * [1, 2, 3, 4] - 1) / 2)
        numpy.add(plain, 1, out=array)
        numpy.multiply.at(array, (0, 0), 5.0)
        plain += 1
        plain[0, 0] *= 5
        same(array, plain)
        self.assertIs(array, kept)
        out = numpy.empty((3, 4))
        self.assertIs(numpy.add(array, array, out=out), out)
        same(out, 2 * plain)
        row, turned = array[0], array.T
        self.assertEqual(turned.flags.writeable, array._is_view)
        if array._is_view:
            row[0] = -3
            self.assertEqual(array[0, 0], -3)
        else:  # it would be written nowhere
            with self.assertRaisesRegex(ValueError, "read-only"):
                row[0] = -3
        other = copy.deepcopy(array)
        other[0] = 5
        self.assertNotEqual(array[0, 1], 5)

    def test_types_in_operators(self):
        whole = self.device.asarray([1, 2, 3], "int32")
        self.assertEqual(((whole + 1).dtype, (whole / 2).dtype), (numpy.int32, numpy.float64))
        with self.assertRaisesRegex(TypeError, "Cannot cast"):
            whole += 0.5
        real = self.device.asarray(whole)  # not its bits as if they were numbers of 8 bytes
        self.assertEqual((real.dtype, list(real)), (numpy.float64, [1, 2, 3]))
        long = self.device.asarray([1, 2, 3], "int64")
        numpy.testing.assert_array_equal(self.device.asarray(long), [1.0, 2, 3])
        self.assertEqual((float(self.device.asarray([3.0])), bool(self.device.asarray([0]))), (3, False))
        with self.assertRaisesRegex(ValueError, "ambiguous"):
            bool(whole)
        with self.assertRaises(TypeError):
            hash(whole)
        with self.assertRaisesRegex(weft.UsageError, "complex128"):
            real[0] = 1j

    def test_null_device(self):
        device = weft.Device("null")
        array = device.zeros(5)
        self.assertEqual(list(array.numpy()), [0] * 5)
        with self.assertRaises(weft.UsageError):
            array.__dlpack__()
        with self.assertRaisesRegex(weft.UsageError, "nothing"):
            weft.Device("nothing")


if __name__ == "__main__":
    unittest.main()
