#!/usr/bin/env bash
# labels: full
# The random problems of answers.c on an emulated GPU (tests/support/fake_cuda.c), for which g++ compiles each kernel.
set -euo pipefail
build=${WEFT_BUILD:?}
command -v g++ >/dev/null || { echo "skipped: there is no g++"; exit 77; }
export LD_LIBRARY_PATH=$build/tests/emulated_gpu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
exec "$build/answers" --count 15 --seed 5000 --device cuda
