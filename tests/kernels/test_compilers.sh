#!/usr/bin/env bash
# labels: full long
# What generated code computes with every compiler that is installed (and those of WEFT_TEST_COMPILERS) and
# every instruction set of the processor, with the options that users get: every load and store, every
# elementary function over interleaved and plain lists, random scripts.
set -euo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
read -ra compilers <<<"${WEFT_TEST_COMPILERS:-}"
compilers+=("${CC:-cc}" gcc gcc-{11,12,13,14,15} clang clang-{14,15,16,17,18,19,20})
declare -A seen=()
n=0 status=0
run() {
    "$@" >"$log" 2>&1 && return
    echo "$CC, $WEFT_INSTRUCTIONS: $* fails"
    grep -E 'ERROR|is [^ ]*, not ' "$log" | head -n 5 || tail -n 5 "$log"
    status=1
}
export WEFT_TEST_ALL=1
for compiler in "${compilers[@]}"; do
    command -v "$compiler" >/dev/null || continue
    version=$("$compiler" --version | head -n 1)
    version=${version#* } # without the name that it was called by
    [ -z "${seen[$version]:-}" ] || continue
    seen[$version]=1
    for set in sse2 avx2 avx512 neon; do
        WEFT_INSTRUCTIONS=$set "$WEFT_BUILD/weft" devices >/dev/null 2>&1 || continue
        export CC=$compiler WEFT_INSTRUCTIONS=$set
        for program in load_store algebra element solid; do
            run "$WEFT_BUILD/tests/kernels_$program"
        done
        run "$WEFT_BUILD/fuzz_plans" --count 40 --seed 900 --plain --device optimised
        echo "$version, $set: done"
        n=$((n + 1))
    done
done
[ "$n" -gt 0 ] || { echo "nothing was run"; exit 1; }
exit "$status"
