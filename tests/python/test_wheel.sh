#!/usr/bin/env bash
# labels: quick
# `pip install ./python` without a network; the installed package works in another folder.
set -euo pipefail
python=/usr/bin/python3
"$python" -m pip --version >/dev/null 2>&1 || { echo "skipped: python3-pip is missing"; exit 77; }
"$python" -c 'import numpy' 2>/dev/null || { echo "skipped: python3-numpy is missing"; exit 77; }
[ -e "$(echo "$WEFT_BUILD"/libweft.so.?.?)" ] || { echo "skipped: this build has no libweft.so"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$WEFT_SOURCE/python" "$folder/source" # pip must not write into the sources
http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9 "$python" -m pip install --quiet --no-deps \
    --disable-pip-version-check --no-cache-dir --target "$folder/site" "$folder/source"
cd "$folder"
rm -rf source
PYTHONPATH=$folder/site "$python" -m weft --version | grep -qE '^[0-9]+\.[0-9]+\.[0-9]+$'
# A folder for CMake is in the wheel of packaging/wheel.sh alone.
for word in --prefix --nonsense; do
    code=0
    PYTHONPATH=$folder/site "$python" -m weft "$word" >out 2>error || code=$?
    [ "$code" -eq 2 ] && [ ! -s out ] && [ -s error ] || { cat out error; exit 1; }
done
PYTHONPATH=$folder/site "$python" - <<'PYTHON'
import os
import weft
assert os.path.dirname(weft.__file__).startswith(os.getcwd()), weft.__file__
mesh = weft.Mesh("square:4")
space = weft.Space(mesh, weft.Device("host:1"))
conditions = weft.Conditions(space)
A = weft.Operator(weft.Form(space, "poisson.weft"), conditions)
assert A.solve(conditions.load(1)).converged
PYTHON
