#!/usr/bin/env bash
# labels: full
# study_factorizations.py solves its problems on small meshes, on the host and on an emulated GPU with a stand-in for cuDSS, and
# finds the same solutions.
set -euo pipefail
build=${WEFT_BUILD:?}
python=${PYTHON:-$(command -v python3)}
command -v g++ >/dev/null || { echo "skipped: there is no g++"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset WEFT_UMFPACK # which other tests hide
export WEFT_CUDSS=$build/tests/fake_cudss LD_LIBRARY_PATH=$build/tests/emulated_gpu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
if "$build/solve" diffusion --mesh square:2 --device host --preconditioner lu 2>&1 | grep -q 'UMFPACK is not found'; then
    echo "skipped: UMFPACK is not installed"
    exit 77
fi
"$python" "$(dirname "$0")/study_factorizations.py" "$build" "$folder" --small --runs 0 >"$folder/log" 2>&1 ||
    { cat "$folder/log"; exit 1; }
rows=$(grep -c '^| .* | `.* | cuda | .*cuDSS' "$folder/factorizations.md")
[ "$rows" -eq 8 ] || { echo "$rows rows, not 8"; cat "$folder/factorizations.md"; exit 1; }
