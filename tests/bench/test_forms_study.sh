#!/usr/bin/env bash
# labels: full
# study_forms.py solves its problems on small meshes of the host and writes its tables.
set -euo pipefail
python=${PYTHON:-$(command -v python3)}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
study=$(cd "$(dirname "$0")" && pwd)/study_forms.py

"$python" "$study" "${WEFT_BUILD:?}" "$folder" --device host --small --runs 1 --only times > "$folder/log" 2>&1 ||
    { cat "$folder/log"; exit 1; }
rows=$(grep -c '^| .* | `' "$folder/times.md")
[ "$rows" -eq 11 ] || { echo "$rows rows, not 11"; cat "$folder/times.md"; exit 1; }
"$python" "$study" "$WEFT_BUILD" "$folder" --device host --small --runs 1 --seconds 0 > "$folder/log" 2>&1 &&
    { echo "no time is left, and nothing is missing"; exit 1; }
grep -q 'missing: stokes hexahedron 2 4: no time is left' "$folder/log" || { cat "$folder/log"; exit 1; }
