#!/usr/bin/env bash
# labels: full
# study_gamg.py solves its problems on small meshes, where PETSc is installed.
set -euo pipefail
python=${PYTHON:-$(command -v python3)}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
code=0
"$python" "$(dirname "$0")/study_gamg.py" "${WEFT_BUILD:?}" "$folder" --small --runs 0 --threads 1 >"$folder/log" 2>&1 || code=$?
[ "$code" = 0 ] || cat "$folder/log"
[ "$code" = 0 ] || exit "$code"
rows=$(grep -c '^| .*cube:4' "$folder/gamg.md")
[ "$rows" -eq 6 ] || { echo "$rows rows, not 6"; cat "$folder/gamg.md"; exit 1; }
