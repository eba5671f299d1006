#!/usr/bin/env bash
# Configure and build one preset: build.sh PRESET [TARGET...]. Quiet unless something is configured or
# built, and then one line and, on a terminal, progress; the whole log on failure.
#   WEFT_BUILD_FOLDER  another folder than build or build-PRESET
set -euo pipefail
cd "$(dirname "$0")/.."
. cmake/progress.sh
preset=$1
shift
folder=build
[ "$preset" = release ] || folder=build-$preset
folder=${WEFT_BUILD_FOLDER:-$folder}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# What decides what is built and ninja does not watch: where the sources are, and the libraries that
# come and go with packages. The modules are those of cmake/weft_dependencies.cmake and of the tests.
dependencies() {
    local module header
    pwd
    for module in hdf5-serial libxxhash jansson sqlite3 yaml-0.1 cmocka; do
        echo "$module $("${PKG_CONFIG:-pkg-config}" --modversion "$module" 2>/dev/null || echo missing)"
    done
    for header in metis.h glpk.h gmshc.h; do
        printf '#if __has_include(<%s>)\n%s is there\n#endif\n' "$header" "$header"
    done | "${CC:-cc}" -E -P - 2>/dev/null || true
}

configure() {
    cmake --preset "$preset" -B "$folder" "$@" >"$log" 2>&1
}

record=$folder/configured_for
now=$(dependencies)
if [ ! -f "$folder/build.ninja" ] || [ "$now" != "$(cat "$record" 2>/dev/null)" ]; then
    echo "Configuring $folder" >&2
    rm -f "$record"
    # A folder that was copied, or made by another cmake or with a compiler that is gone, is configured from the start.
    configure || configure --fresh || { cat "$log" >&2; exit 3; }
    printf '%s\n' "$now" >"$record"
    # Who asks for some targets has not asked for the tests.
    grep 'left out' "$log" | { [ $# -eq 0 ] && cat || grep -v '^The tests'; } >&2 || true
fi

targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(all)
# A dry run would list CMake's check for new files each time, so what ninja does says it instead.
announce() {
    local line announced=0
    while IFS= read -r line; do
        if [[ $line =~ ^\[([0-9]+/[0-9]+)\]\ (Building|Linking|Embedding|Gathering) ]]; then
            [ "$announced" = 1 ] || echo "Building $folder" >&2
            announced=1
            progress "[${BASH_REMATCH[1]}] Building $folder"
        fi
        printf '%s\n' "$line"
    done
    progress_end
}
if ! ninja -C "$folder" "${targets[@]}" 2>&1 | announce >"$log"; then
    grep -v '^\[[0-9/]*\] \(Building\|Linking\|Embedding\|Re-checking\)' "$log" >&2 || true
    echo "The build in $folder failed." >&2
    exit 3
fi
grep -A6 'warning:' "$log" >&2 || true
