"""A library with another version of the interface, or with other sizes of structures, is refused by name on import."""

import ctypes
import os
import subprocess
import sys
import tempfile
import unittest

from weft import _library, _structures

# A library that has nothing but what the check reads.
STUB = """
#include <stddef.h>
int weft_interface_version(void) { return %d; }
static const struct { const char *name; size_t size; } sizes[] = {%s};
const void *weft_interface_sizes(size_t *n) { *n = sizeof sizes / sizeof sizes[0]; return sizes; }
"""
SIZES = {name: ctypes.sizeof(value) for name, value in vars(_structures).items() if name.startswith("weft_")}


class Interface(unittest.TestCase):
    def load(self, source):
        """The last line that `import weft` prints with a library of this source."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "libstub.so")
            with open(os.path.join(folder, "stub.c"), "w", encoding="utf-8") as file:
                file.write(source)
            subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", path, file.name], check=True)
            run = subprocess.run([sys.executable, "-c", "import weft"], capture_output=True, text=True,
                                 env=dict(os.environ, WEFT_LIBRARY=path))
        self.assertNotEqual(run.returncode, 0)
        return run.stderr.strip().split("\n")[-1].replace(path, "LIBRARY")

    def stub(self, version=_library.INTERFACE_VERSION, **changes):
        sizes = {**SIZES, **changes}
        return STUB % (version, ", ".join('{"%s", %d}' % row for row in sizes.items() if row[1] is not None))

    def test_same(self):  # past the check; then there is none of the functions
        self.assertRegex(self.load(self.stub()), "^AttributeError: LIBRARY: undefined symbol")

    def test_version(self):
        self.assertRegex(self.load(self.stub(version=_library.INTERFACE_VERSION + 6)),
                         "^ImportError: LIBRARY has version %d of the interface, and this package is for version %d. "
                         % (_library.INTERFACE_VERSION + 6, _library.INTERFACE_VERSION))

    def test_no_version(self):
        self.assertRegex(self.load("int weft_version;"), "^ImportError: LIBRARY has no weft_interface_version: it is older")

    def test_size(self):
        for name in ("weft_mesh", "weft_error", "weft_ufl_problem"):
            self.assertRegex(self.load(self.stub(**{name: SIZES[name] + 8})),
                             "^ImportError: LIBRARY and this package differ in %s, although .*: it has %d bytes in the "
                             "library and %d in the package" % (name, SIZES[name] + 8, SIZES[name]))

    def test_missing(self):
        self.assertRegex(self.load(self.stub(weft_cg_result=None)),
                         "differ in weft_cg_result, although .*: it has no bytes in the library")


if __name__ == "__main__":
    unittest.main()
