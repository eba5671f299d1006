#!/usr/bin/env bash
# Configure and build one preset: build.sh PRESET [TARGET...]. Quiet unless something is built, and
# then one line; the whole log on failure.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
folder=build
[ "$preset" = release ] || folder=build-$preset
log=$(mktemp)
trap 'rm -f "$log"' EXIT
configure() {
    cmake --preset "$preset" "$@" >"$log" 2>&1
}
if [ ! -f "$folder/build.ninja" ]; then
    echo "Configuring $folder" >&2
    if ! configure; then
        # A folder that was copied or built by another cmake: start it anew, once.
        configure --fresh || { cat "$log" >&2; exit 3; }
    fi
    grep -A3 'left out' "$log" >&2 || true
fi
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(all)
# A dry run would list CMake's check for new files each time, so what ninja does says it instead.
announce() {
    local line announced=0
    while IFS= read -r line; do
        if [ "$announced" = 0 ] && [[ $line =~ ^\[[0-9/]+\]\ (Building|Linking|Embedding|Gathering) ]]; then
            echo "Building $folder" >&2
            announced=1
        fi
        printf '%s\n' "$line"
    done
}
if ! ninja -C "$folder" "${targets[@]}" 2>&1 | announce >"$log"; then
    grep -v '^\[[0-9/]*\] \(Building\|Linking\|Embedding\|Re-checking\)' "$log" >&2 || true
    echo "The build in $folder failed." >&2
    exit 3
fi
grep -A6 'warning:' "$log" >&2 || true
