"""Tensors of CuPy, PyTorch and JAX: the same memory in both directions, products and solves, and what is copied.

With WEFT_TEST_DEVICE=cuda they are on the GPU, else on the host. A package that is missing is skipped."""

import gc
import os
import unittest

import numpy

import weft

DEVICE = os.environ.get("WEFT_TEST_DEVICE", "host:2")


class Cupy:
    name, mutable, on_host = "cupy", True, False

    def __init__(self, gpu):
        import cupy

        cupy.zeros(1)
        self.module = cupy
        self.take = cupy.from_dlpack

    def make(self, values):
        return self.module.asarray(values)

    def numpy(self, tensor):
        return self.module.asnumpy(tensor)

    def address(self, tensor):
        return tensor.data.ptr


class Torch:
    name, mutable, on_host = "torch", True, True

    def __init__(self, gpu):
        import torch

        self.module, self.place = torch, "cuda" if gpu else "cpu"
        torch.zeros(1, device=self.place)
        self.take = torch.from_dlpack

    def make(self, values):
        return self.module.as_tensor(numpy.array(values), device=self.place)

    def numpy(self, tensor):
        return tensor.cpu().numpy()

    def address(self, tensor):
        return tensor.data_ptr()


class Jax:
    name, mutable, on_host = "jax", False, True

    def __init__(self, gpu):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax

        jax.config.update("jax_enable_x64", True)
        self.module, self.place = jax, jax.devices("gpu" if gpu else "cpu")[0]
        self.take = jax.dlpack.from_dlpack

    def make(self, values):
        return self.module.device_put(numpy.array(values), self.place)

    def numpy(self, tensor):
        return numpy.asarray(tensor)

    def address(self, tensor):
        return tensor.unsafe_buffer_pointer()


class Tensors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = weft.Device(DEVICE)
        cls.packages = []
        for package in (Cupy, Torch, Jax):
            if not cls.device.is_cuda and not package.on_host:
                continue
            try:
                cls.packages.append(package(cls.device.is_cuda))
            except Exception as reason:  # the packages raise their own where there is no GPU
                print("skipped: %s: %s" % (package.name, str(reason).split("\n")[0]))
        if not cls.packages:
            raise unittest.SkipTest("no CuPy, PyTorch or JAX")

    def each(self):
        for package in self.packages:
            with self.subTest(package.name):
                yield package

    def test_tensors_are_used_where_they_are(self):
        for package in self.each():
            values = numpy.linspace(0, 1, 300000).reshape(1000, 300)
            tensor = package.make(values)
            before = self.device.bytes
            array = self.device.asarray(tensor)
            if self.device.is_cuda or package.mutable:
                self.assertEqual(self.device.bytes, before)
                self.assertEqual(array._address(), package.address(tensor))
            self.assertEqual(array.shape, (1000, 300))
            numpy.testing.assert_array_equal(array.numpy(), values)
            if package.mutable:
                tensor[3, 4] = -7
                self.assertEqual(array.numpy()[3, 4], -7)
            del tensor
            gc.collect()
            self.assertEqual(array.numpy()[5, 6], values[5, 6])

    def test_arrays_are_tensors(self):
        for package in self.each():
            array = self.device.zeros((40, 50))
            array.set(numpy.arange(2000.0).reshape(40, 50))
            address = array._address()
            tensor = package.take(array)
            self.assertEqual(package.address(tensor), address)
            self.assertEqual(tuple(tensor.shape), (40, 50))
            before = self.device.bytes
            del array
            gc.collect()
            self.assertEqual(self.device.bytes, before)
            numpy.testing.assert_array_equal(package.numpy(tensor), numpy.arange(2000.0).reshape(40, 50))
            del tensor
            gc.collect()
            self.assertEqual(self.device.bytes, before - 16000)

    def test_what_cannot_be_shared_is_copied(self):
        for package in self.each():
            values = numpy.arange(24.0).reshape(4, 6)
            tensors = [(package.make(values).T, values.T), (package.make(values)[1:, ::2], values[1:, ::2]),
                       (package.make(values.astype("float32")), values), (package.make(values.astype("int64")), values),
                       (package.make(values > 5), values > 5), (package.make(numpy.zeros((0, 3))), numpy.zeros((0, 3)))]
            for tensor, wanted in tensors:
                numpy.testing.assert_array_equal(self.device.asarray(tensor).numpy(), wanted.astype("float64"))
            room = self.device.zeros((6, 4))
            room.set(package.make(values).T)
            numpy.testing.assert_array_equal(room.numpy(), values.T)

    def test_products_and_solves(self):
        space = weft.Space(weft.Mesh("square:40"), self.device)
        conditions = weft.Conditions(space)
        # per cell: these are interleaved, and so copied
        k = numpy.linspace(1, 2, space.mesh.n_cells)
        text = """
            parameter d = 2;
            index cells, nodes;
            connectivity dofs : cells -> nodes[d + 1];
            input x : real[d] over nodes;
            input k : real over cells;
            J = jacobian(x[dofs]);
            K = k*dshape_dot_dshape(tform_dshape(J), J);
        """
        exact = "sin(pi*x)*sin(pi*y)"
        A = weft.Operator(weft.Form(space, "poisson.weft"), conditions)
        b = conditions.load("2*pi^2*" + exact)
        v = numpy.random.default_rng(3).random(space.n_dofs)
        wanted, solved = (A @ v).numpy(), A.solve(b, tolerance=1e-10).x.numpy()
        for package in self.each():
            numpy.testing.assert_allclose(package.numpy(package.take(A @ package.make(v))), wanted, atol=1e-13)
            found = A.solve(package.make(b.numpy()), tolerance=1e-10).x
            numpy.testing.assert_allclose(package.numpy(package.take(found)), solved, atol=1e-9)
            by_numpy = weft.Operator(weft.Form(space, text, inputs={"k": k})) @ v
            by_tensor = weft.Operator(weft.Form(space, text, inputs={"k": package.make(k)})) @ package.make(v)
            numpy.testing.assert_allclose(by_tensor.numpy(), by_numpy.numpy(), atol=1e-13)

    def test_work_on_another_stream_is_waited_for(self):
        if not self.device.is_cuda:
            self.skipTest("a GPU only")
        script = weft.Script(self.device, "index n plain; input a : real over n; y = 2*a + 1; return y;")
        for package in self.each():
            if package.name != "torch":
                continue
            torch = package.module
            with torch.cuda.stream(torch.cuda.Stream()):
                x = torch.ones(4000, 4000, dtype=torch.float64, device="cuda")
                for _ in range(20):
                    x = x @ x / 4000.0
                a = x.reshape(-1)[:1000].contiguous() * 3
                program = script.program(a=a, n=1000).run()
            numpy.testing.assert_allclose(program["y"], 7)

    def test_a_tensor_of_another_place(self):
        if self.device.is_cuda:
            host = weft.Device("host:1")
            for package in self.each():
                with self.assertRaisesRegex(weft.UsageError, "on GPU 0"):
                    host.asarray(package.make(numpy.ones(3)))


if __name__ == "__main__":
    unittest.main()
