# Sourced by the tests that compare solve on a GPU with the host: $solve, $python, a scratch $folder, and `run`. Without a GPU
# the test is skipped.
solve=${WEFT_BUILD:?}/solve
python=${PYTHON:-$(command -v python3)}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if ! "$solve" diffusion.weft --mesh square:2 --device cuda --quiet 2> "$folder/why"; then
    grep -q "no CUDA driver\|no GPU\|no cuda:0" "$folder/why" && { head -1 "$folder/why"; exit 77; }
    cat "$folder/why"
    exit 1
fi

run() { # name, device, arguments...
    local name=$1 device=$2
    shift 2
    "$solve" --device "$device" --tolerance 1e-11 --json "$folder/$name.json" --quiet "$@" || {
        echo "$name failed"
        exit 1
    }
}

compare() { # least number of values, problems...
    "$python" "${WEFT_SOURCE:?}/tests/gpu/compare_runs.py" "$folder" "$@"
}
