#!/usr/bin/env bash
# The tables and figures of all five papers on a GPU, in one command of at most five minutes after the build:
#
#   study_papers.sh OUT [PAPER...]
#
# OUT    gets a folder a paper: data, charts, comparison.txt; and log.txt, with the seconds of each paper
# PAPER  fousek, filipovic, dey, kurzak, markall (default: all)
#
# A paper that fails is said at the end and does not keep the others from running.
set -uo pipefail
[ $# -ge 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- fousek filipovic dey kurzak markall
cd "$(dirname "$0")/../.."
bash cmake/build.sh release advection_diffusion bench_papers || exit 3
mkdir -p "${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}" 2>/dev/null ||
    export XDG_CACHE_HOME=$(mktemp -d) # without a cache each run would compile its kernels
device=${WEFT_STUDY_DEVICE:-cuda} # null:h200, to try the script
failed=()
: > "$out/log.txt"
for paper; do
    started=$SECONDS
    build/bench_papers "$paper" --device "$device" --out "$out" 2>&1 | tee -a "$out/log.txt" || failed+=("$paper")
    echo "$paper took $((SECONDS - started)) s" | tee -a "$out/log.txt"
done
[ ${#failed[@]} -eq 0 ] || { echo "failed: ${failed[*]}" | tee -a "$out/log.txt"; exit 1; }
