#!/usr/bin/env bash
# labels: quick
# weft-gmsh on full disks and odd outputs: an error with exit code 2, and nothing half-written under
# any name. The disk is a tmpfs of 64 kB, or, where none can be mounted, a limit of file sizes.
set -eu
program=$WEFT_BUILD/weft-gmsh
if [ ! -x "$program" ]; then
    echo "skipped: weft-gmsh is not built (libgmsh-dev is missing)"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
failed=0
fail() {
    echo "FAILED: $*"
    failed=1
}

cat > square.geo <<'EOF'
Point(1) = {0, 0, 0, 0.012}; Point(2) = {1, 0, 0, 0.012}; Point(3) = {1, 1, 0, 0.012};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 1};
Curve Loop(1) = {1, 2, 3}; Plane Surface(1) = {1}; Physical Surface("domain") = {1};
EOF
"$program" --save whole.msh square.geo
[ "$(stat -c %s whole.msh)" -gt 70000 ] || fail "the mesh is too small for this test"
touch usual
[ "$(stat -c %a whole.msh)" = "$(stat -c %a usual)" ] || fail "mode $(stat -c %a whole.msh)"

# $1: a folder in which the mesh does not fit
check_full() {
    local code=0 kind message
    for kind in "" --binary "--msh 2.2"; do
        echo before > "$1/m.msh"
        code=0
        # shellcheck disable=SC2086
        message=$("$program" --save "$1/m.msh" $kind square.geo 2>&1) || code=$?
        [ $code -eq 2 ] || fail "$2 $kind: exit code $code"
        case $message in
            *"cannot write $1/m.msh: "*) ;;
            *) fail "$2 $kind: $message" ;;
        esac
        [ "$(cat "$1/m.msh")" = before ] || fail "$2 $kind: the file that was there has changed"
        [ "$(ls -A "$1")" = m.msh ] || fail "$2 $kind: left behind: $(ls -A "$1")"
    done
}

mkdir small
(
    ulimit -f 30
    check_full small "file size limit"
    exit $failed
) || failed=1

mkdir disk
export -f check_full fail
export program failed
run='mount -t tmpfs -o size=32k none disk || exit 78; check_full disk tmpfs; umount disk; exit $failed'
code=0
unshare -rm bash -c "$run" 2> mount.txt || code=$?
if [ $code -eq 78 ] || grep -q "unshare" mount.txt; then
    echo "note: no tmpfs can be mounted here: the limit of file sizes alone was tried"
elif [ $code -ne 0 ]; then
    fail "tmpfs: $code $(cat mount.txt)"
fi

# places that are not files, and that cannot be written
mkdir folder.msh
for place in folder.msh nowhere/m.msh; do
    code=0
    message=$("$program" --save "$place" square.geo 2>&1) || code=$?
    [ $code -eq 2 ] && [[ $message == *"cannot write $place: "* ]] || fail "$place: $code $message"
done
code=0
message=$("$program" --save m.vtk square.geo 2>&1) || code=$?
[ $code -eq 2 ] && [[ $message == *"m.vtk does not end with .msh"* ]] || fail "m.vtk: $code $message"
code=0
message=$("$program" square.geo 2>&1 > /dev/full) || code=$?
[ $code -eq 2 ] && [[ $message == *"the mesh could not be sent"* ]] || fail "/dev/full: $code $message"

# a terminal gets a message and no binary
if command -v script > /dev/null; then
    code=0
    script -qec "'$program' square.geo" /dev/null > terminal.txt < /dev/null || code=$?
    [ $code -eq 2 ] && grep -q "stdout is a terminal" terminal.txt || fail "terminal: $code"
    grep -q WEFTMESH terminal.txt && fail "binary data on a terminal"
else
    echo "note: script is not installed: weft-gmsh was not run on a terminal"
fi
# Allocations that fail inside of Gmsh, which then aborts or crashes: a message and an exit code, and no file left
injector=$WEFT_BUILD/tests/alloc_preload.so
if [ -e "$injector" ]; then
    sed 's/0.012/0.3/g' square.geo > coarse.geo
    for n in 11 40 300 1000 1109 1734 2168 2300 2711; do
        code=0
        WEFT_FAULT_PROGRAM=weft-gmsh WEFT_FAULT_AT=$n LD_PRELOAD=$injector \
            "$program" --save failed.msh coarse.geo > message.txt 2>&1 || code=$?
        case $code in
            0) ;;
            2 | 3) grep -q "error: " message.txt || fail "allocation $n: no message" ;;
            *) fail "allocation $n: exit code $code: $(cat message.txt)" ;;
        esac
        [ -z "$(find . -name '.weft-*')" ] || fail "allocation $n: $(find . -name '.weft-*') is left"
    done
else
    echo "note: alloc_preload.so is not built: no allocation was made to fail"
fi
"$program" --version | grep -qx "weft-gmsh (Weft) [0-9.]*, with Gmsh [0-9.]*" || fail "--version"
"$program" --help | grep -q -- --mesh-memory || fail "--help"
exit $failed
