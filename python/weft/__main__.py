"""python -m weft --prefix: the folder in which include, lib and bin of the wheel lie, for find_package and pkg-config."""

from __future__ import annotations

import os
import sys

from . import _library

usage = """usage: python -m weft --prefix | --cmake | --pkg-config | --version

  --prefix      the folder with bin, include, lib and share
  --cmake       that of the CMake package: cmake -Dweft_DIR=$(python -m weft --cmake)
  --pkg-config  that of weft.pc: PKG_CONFIG_PATH=$(python -m weft --pkg-config)
  --version     the version of Weft
"""


def main(arguments: list[str]) -> int:
    prefix = os.path.join(os.path.dirname(os.path.abspath(__file__)), "prefix")
    places = {"--prefix": "", "--cmake": "lib/cmake/weft", "--pkg-config": "lib/pkgconfig"}
    if arguments in (["--help"], ["-h"]):
        print(usage, end="")
    elif arguments == ["--version"]:
        print(_library.version)
    elif len(arguments) != 1 or arguments[0] not in places:
        print(usage, end="", file=sys.stderr)
        return 2
    elif not os.path.isdir(prefix):
        print("This package has no prefix: it was not made by packaging/wheel.sh. `cmake --install build --prefix "
              "FOLDER` installs libraries and headers.", file=sys.stderr)
        return 2
    else:
        print(os.path.join(prefix, places[arguments[0]]).rstrip("/"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
