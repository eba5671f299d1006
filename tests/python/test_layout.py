"""The structures of weft._structures have the sizes and offsets of those in the headers."""

import ctypes
import os
import re
import subprocess
import tempfile
import unittest

from weft import _library, _structures

HEADERS = ["fem/weft_fem.h", "fem/weft_eigen.h", "fem/weft_time.h", "forms/weft_bind.h", "forms/weft_gradient.h", "forms/weft_interface.h", "forms/weft_ufl.h",
           "fusion/tune/tuned.h", "fusion/weft_outline.h", "gemm/weft_gemm.h"]


class Layout(unittest.TestCase):
    def test_version(self):
        with open(os.path.join(os.environ["WEFT_SOURCE"], "forms/weft_interface.h"), encoding="utf-8") as file:
            found = re.search(r"^#define WEFT_INTERFACE_VERSION (\d+)$", file.read(), re.MULTILINE)
        self.assertEqual(int(found.group(1)), _library.INTERFACE_VERSION)

    def test_sizes_and_offsets(self):
        structures = {name: value for name, value in vars(_structures).items()
                      if isinstance(value, type) and issubclass(value, ctypes.Structure)
                      and name.startswith("weft_")}
        self.assertGreater(len(structures), 30)
        lines = ["#include <%s>" % header for header in HEADERS] + ["#include <stdio.h>", "int main(void) {"]
        expected = []
        for name, structure in structures.items():
            lines.append('printf("%s %%zu\\n", sizeof(%s));' % (name, name))
            expected.append("%s %d" % (name, ctypes.sizeof(structure)))
            for field, *_ in structure._fields_:
                lines.append('printf("%s.%s %%zu %%zu\\n", offsetof(%s, %s), sizeof(((%s *)0)->%s));'
                             % (name, field, name, field, name, field))
                member = getattr(structure, field)
                expected.append("%s.%s %d %d" % (name, field, member.offset, member.size))
        with tempfile.TemporaryDirectory() as folder:
            source, program = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
            with open(source, "w", encoding="utf-8") as file:
                file.write("\n".join(lines + ["return 0; }\n"]))
            root = os.environ["WEFT_SOURCE"]
            subprocess.run(["cc", "-std=c17", "-D_GNU_SOURCE", "-I" + root, source, "-o", program], check=True)
            found = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split("\n")
        self.assertEqual(found[:-1], expected)


if __name__ == "__main__":
    unittest.main()
