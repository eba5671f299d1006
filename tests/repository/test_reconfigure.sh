#!/usr/bin/env bash
# labels: full
# cmake/build.sh configures again when a package has come or gone, and only then: ./run and ./test in any
# order, in a build folder of its own where nothing is compiled. Packages go by hiding what pkg-config and
# the compiler see of them.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export WEFT_BUILD_FOLDER="$scratch/a folder"
unset CC CFLAGS PKG_CONFIG_PATH

modules='hdf5-serial libxxhash jansson sqlite3 yaml-0.1 cmocka'
mkdir "$scratch/modules"
while read -r file; do
    cp -n "$file" "$scratch/modules"
done < <(pkg-config --variable pc_path pkg-config | tr ':' '\n' |
    while read -r folder; do find "$folder" -maxdepth 1 -name '*.pc' 2>/dev/null || true; done)
for module in $modules; do
    pkg-config --exists "$module" || { echo "skipped: no $module"; exit 77; }
done
export PKG_CONFIG_LIBDIR=$scratch/modules

failures=0
expect() { # what, configures (yes or no), has tests (yes or no)
    local configured=no tests=no
    if ! bash "$WEFT_SOURCE/cmake/build.sh" release help >"$scratch/log" 2>&1; then
        echo "$1: build.sh failed"
        cat "$scratch/log"
        exit 1
    fi
    grep -q '^Configuring' "$scratch/log" && configured=yes
    grep -q 'test_support' "$WEFT_BUILD_FOLDER/build.ninja" && tests=yes
    if [ "$configured $tests" != "$2 $3" ]; then
        echo "FAILED: $1: configured: $configured, expected $2; tests: $tests, expected $3"
        cat "$scratch/log"
        failures=$((failures + 1))
    else
        echo "ok: $1"
    fi
}

mv "$scratch/modules/cmocka.pc" "$scratch"
expect "./run first, without cmocka" yes no
expect "./run again" no no
mv "$scratch/cmocka.pc" "$scratch/modules"
expect "./test, which has installed cmocka" yes yes
expect "./run after ./test" no yes
mv "$scratch/modules/cmocka.pc" "$scratch"
expect "cmocka was removed" yes no
mv "$scratch/cmocka.pc" "$scratch/modules"
expect "and installed again" yes yes
sed -i 's/^Version:.*/Version: 1.1.99/' "$scratch/modules/cmocka.pc"
expect "and upgraded" yes yes

# A library that is needed goes: the message names the package; and comes back.
mv "$scratch/modules/jansson.pc" "$scratch"
code=0
bash "$WEFT_SOURCE/cmake/build.sh" release help >"$scratch/log" 2>&1 || code=$?
if [ "$code" -ne 3 ] || ! grep -q 'install libjansson-dev' "$scratch/log"; then
    echo "FAILED: without jansson: exit $code"
    cat "$scratch/log"
    failures=$((failures + 1))
fi
mv "$scratch/jansson.pc" "$scratch/modules"
expect "after the failure" yes yes

# A build shows its progress on a terminal.
if command -v script >/dev/null; then
    TERM=xterm script -qec "bash '$WEFT_SOURCE/cmake/build.sh' release CMakeFiles/weft_core.dir/core/base/clock.c.o" \
        /dev/null </dev/null >"$scratch/log"
    if ! grep -qE "\[[0-9]+/[0-9]+\] Building" "$scratch/log"; then
        echo "FAILED: no progress on a terminal:"
        cat "$scratch/log"
        failures=$((failures + 1))
    fi
fi
exit "$((failures > 0))"
