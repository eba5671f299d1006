#!/usr/bin/env bash
# labels: full
# The problems of docs/gallery.md: each number against its published or exact value, and the page against the problems.
set -euo pipefail
if [ ! -x "$WEFT_BUILD/weft-gmsh" ]; then
    echo "skipped: weft-gmsh is not part of this build, and the gallery's meshes are .geo files"
    exit 77
fi
unset WEFT_UMFPACK # which other tests hide
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
python3 "$WEFT_SOURCE/docs/gallery.py" --check
