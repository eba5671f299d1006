"""The blocks of docs/tutorial-python.md, run one after the other; their output is what the page shows."""

import ast
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest

PAGE = os.path.join(os.environ["WEFT_SOURCE"], "docs", "tutorial-python.md")


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
    def test_blocks(self):
        with open(PAGE, encoding="utf-8") as file:
            blocks = re.findall(r"^```(python|text)\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 12)
        names, output = {}, None
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                for kind, text in blocks:
                    if kind == "python":
                        self.assertFalse(output, "a block's output is not shown: %s" % output)
                        output = run(text, names)
                    else:
                        self.assertEqual(output, text)
                        output = None
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
