#!/usr/bin/env bash
# labels: quick
# The Python package: unit tests in tests/python/*.py, on libweft of this build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
python=/usr/bin/python3
library=$(echo "$WEFT_BUILD"/libweft.so.?.?)
[ -e "$library" ] || { echo "skipped: this build has no libweft.so"; exit 77; }
"$python" -c 'import numpy' 2>/dev/null || { echo "skipped: python3-numpy is missing"; exit 77; }
export WEFT_LIBRARY="$library" PYTHONPATH="$WEFT_SOURCE/python" PYTHONDONTWRITEBYTECODE=1
"$python" -m unittest -v test_layout # what follows would crash with other layouts
"$python" -m unittest -v "$@"
