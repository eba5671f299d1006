"""The cells of docs/tutorial-python.ipynb, run one after the other; their output is what the notebook shows. It is made of the page
docs/tutorial-python.md by make_notebook.py."""

import ast
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

from make_notebook import NOTEBOOK, PAGE, notebook


def run(code, names):
    """Run code as a notebook does: what is printed, and then the value of the last expression."""
    tree = ast.parse(code)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(tree, PAGE, "exec"), names)
        if last is not None:
            value = eval(compile(last, PAGE, "eval"), names)
            if value is not None:
                print(repr(value))
    # numpy 2 writes np.float64(1.0) where numpy 1 writes 1.0
    return re.sub(r"np\.\w+\(([^()]*)\)", r"\1", output.getvalue())


class Tutorial(unittest.TestCase):
    def test_notebook_of_the_page(self):
        with open(NOTEBOOK, encoding="utf-8") as file:
            self.assertEqual(file.read(), notebook(), "make it again: WEFT_SOURCE=. python3 tests/python/make_notebook.py")

    def test_cells(self):
        with open(NOTEBOOK, encoding="utf-8") as file:
            cells = [one for one in json.load(file)["cells"] if one["cell_type"] == "code"]
        self.assertGreater(len(cells), 12)
        names, before = {}, os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                for one in cells:
                    shown = "".join(line for output in one["outputs"] for line in output["text"])
                    self.assertEqual(run("".join(one["source"]), names), shown)
                self.assertTrue(os.path.exists("u.vtkhdf"))
            finally:
                os.chdir(before)

    def test_page_as_a_program(self):
        """All blocks as one file, at the top and in a function: it ends without an error, its objects too."""
        with open(PAGE, encoding="utf-8") as file:
            blocks = re.findall(r"^```python\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
        top = ast.parse("\n".join(blocks))
        function = ast.parse("def page():\n    pass\n\n\npage()\n")
        function.body[0].body = ast.parse("\n".join(blocks)).body
        uses_all = "\n\ndef later():\n    return device, mesh, space, A, solution, forms, run\n"
        for text in (ast.unparse(top) + uses_all, ast.unparse(function)):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "page.py")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                done = subprocess.run([sys.executable, path], cwd=folder, capture_output=True, text=True)
                self.assertEqual(done.stderr, "")
                self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
