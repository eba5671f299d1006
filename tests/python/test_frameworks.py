"""weft.torch and weft.jax: derivatives through a solve, against differences of the same function; skipped without the framework."""

import importlib
import os
import unittest

import numpy

import weft

DEVICE = os.environ.get("WEFT_TEST_DEVICE", "host:2")
# c u^2 makes the problem nonlinear; k is over nodes, w over cells, c is a number
FORMS = """
V = FiniteElement("Lagrange", triangle, 1)
u, v = Coefficient(V), TestFunction(V)
k, w, c = Coefficient(V), Coefficient(FiniteElement("DG", triangle, 0)), Constant(triangle)
F = exp(k)*inner(grad(u), grad(v))*dx + c*u**2*v*dx - w*v*dx
"""
STEP = 1e-5


def framework(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class Frameworks(unittest.TestCase):
    def setUp(self):
        device = weft.Device(DEVICE)
        self.problem = weft.Problem(weft.Mesh("square:4"), weft.FormFile(FORMS, name="test.ufl"), {"k": 0, "w": 1, "c": 1}, device=device,
                                    conditions=[weft.Dirichlet("boundary", 0)], tolerance=1e-13)
        random = numpy.random.default_rng(1)
        self.values = {"k": random.random(25), "w": 1 + random.random(32), "c": numpy.array(1.5)}
        self.directions = {name: random.random(one.shape) for name, one in self.values.items()}
        self.weights = random.random(25)

    def check(self, value, gradients):
        """value  of arrays by name; gradients: its derivatives at self.values"""
        for name, direction in self.directions.items():
            moved = [value(dict(self.values, **{name: self.values[name] + sign*STEP*direction})) for sign in (1, -1)]
            expected = (moved[0] - moved[1])/(2*STEP)
            self.assertEqual(gradients[name].shape, self.values[name].shape)
            self.assertAlmostEqual(float((gradients[name]*direction).sum())/expected, 1, delta=1e-5, msg=name)

    @unittest.skipIf(framework("torch") is None, "PyTorch is not installed")
    def test_torch(self):
        import torch
        import weft.torch

        solve = weft.torch.solver(self.problem)
        weights = torch.from_numpy(self.weights)

        def value(values):
            return (weights*solve(**values)**2).sum()

        tensors = {name: torch.tensor(one, requires_grad=True) for name, one in self.values.items()}
        value(tensors).backward()
        self.check(lambda values: float(value({name: torch.tensor(one) for name, one in values.items()})),
                   {name: one.grad.numpy() for name, one in tensors.items()})
        # two solves before the derivatives of the first; single precision
        first, second = value(tensors), value({name: 1.1*one for name, one in tensors.items()})
        before = tensors["k"].grad.clone()
        first.backward()
        self.assertTrue(torch.allclose(tensors["k"].grad, 2*before, rtol=1e-9))
        second.backward()
        single = torch.tensor(self.values["k"], dtype=torch.float32, requires_grad=True)
        u = solve(k=single)
        self.assertEqual(u.dtype, torch.float32)
        u.sum().backward()
        self.assertEqual(single.grad.dtype, torch.float32)
        self.assertRaisesRegex(weft.UsageError, "no input nu", lambda: solve(nu=single))

    @unittest.skipIf(framework("jax") is None, "JAX is not installed")
    def test_jax(self):
        import jax
        import weft.jax

        jax.config.update("jax_enable_x64", True)
        solve = weft.jax.solver(self.problem)

        def value(values):
            return (self.weights*solve(**values)**2).sum()

        for function in (value, jax.jit(value)):
            self.check(lambda values: float(function(values)), {name: numpy.asarray(one) for name, one in
                                                                jax.grad(function)(self.values).items()})


if __name__ == "__main__":
    unittest.main()
