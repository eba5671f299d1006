#!/usr/bin/env bash
# labels: quick
# cmake/install_packages.sh, on a machine that is made up of stand-ins for dpkg-query, apt-get, id and
# sudo: silent where nothing is missing; asks apt for what is; exit 3 and the line where it may not; a
# package that is only wanted never stops what is needed.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bin=$scratch/bin
bash=$(command -v bash)
mkdir -p "$bin"
for tool in bash env grep mktemp rm cat head mkdir true sort dirname; do
    printf '#!%s\nexec %s "$@"\n' "$bash" "$(type -P "$tool")" >"$bin/$tool"
    chmod +x "$bin/$tool"
done
stand_in() {
    cat >"$bin/$1"
    chmod +x "$bin/$1"
}
# A package is installed unless it is in the list `missing`. apt-get install takes its packages out of
# that list, except that it knows none of the list `unknown`, fails for those of the list `broken`,
# fetches nothing where the file `offline` is, and complains at the end where the file `sick` is.
stand_in dpkg-query <<EOF
#!$bash
code=0
shift 3
for package; do
    if grep -qxF -- "\$package" "$scratch/missing"; then code=1; else echo "installed \$package"; fi
done
exit \$code
EOF
stand_in apt-get <<EOF
#!$bash
echo "\$*" >>"$scratch/calls"
simulate=0 packages=() status=1
for word; do
    case "\$word" in
    APT::Status-Fd=*) status=\${word#*=} ;;
    --simulate) simulate=1 ;;
    update) [ ! -e "$scratch/offline" ] || { echo "E: Could not resolve the mirror"; exit 100; } ;;
    -* | *=* | install) ;;
    *) packages+=("\$word") ;;
    esac
done
for package in "\${packages[@]}"; do
    grep -qxF -- "\$package" "$scratch/unknown" && { echo "E: Unable to locate package \$package"; exit 100; }
done
[ "\$simulate" = 0 ] || exit 0
[ \${#packages[@]} -gt 0 ] || exit 0
[ ! -e "$scratch/offline" ] || { echo "E: Failed to fetch \${packages[*]}"; exit 100; }
echo "dlstatus:1:50.0000:Retrieving file 1 of 2" >&\$status
# Scripts of packages find this descriptor closed, as apt leaves it; some print to their standard output.
(eval "exec \$status>&-" && printf 'Regenerating fonts cache\n') 2>/dev/null ||
    { echo "E: the script of a package cannot print"; exit 100; }
for package in "\${packages[@]}"; do
    grep -qxF -- "\$package" "$scratch/broken" && { echo "E: \$package cannot be configured"; exit 100; }
    echo "pmstatus:\$package:42.0000:Unpacking \$package" >&\$status
    left=\$(grep -vxF -- "\$package" "$scratch/missing")
    printf '%s\n' "\$left" >"$scratch/missing"
done
[ ! -e "$scratch/sick" ] || { echo "E: another package is broken"; exit 100; }
EOF
stand_in id <<EOF
#!$bash
cat "$scratch/user"
EOF
run() { # expected exit code, arguments
    local expected=$1 code=0
    shift
    : >"$scratch/calls"
    PATH=$bin HOME=$scratch XDG_CACHE_HOME=$scratch/cache "$bash" \
        "$WEFT_SOURCE/cmake/install_packages.sh" "$@" >"$scratch/out" 2>&1 </dev/null || code=$?
    if [ "$code" != "$expected" ]; then
        cat "$scratch/out"
        echo "exit code $code, expected $expected"
        exit 1
    fi
}
must() { # what, command...
    local what=$1
    shift
    if ! "$@"; then
        echo "failed: $what; output and calls of apt-get:"
        cat "$scratch/out" "$scratch/calls"
        exit 1
    fi
    echo "ok: $what"
}
silent() { [ ! -s "$scratch/out" ]; }
untouched() { [ ! -s "$scratch/calls" ]; }
# Did the calls of apt-get install ask for these, each argument being a call?
asked_for() {
    local calls
    calls=$(grep -v -e --simulate "$scratch/calls" |
        sed -n 's/.* install --no-install-recommends -y //p' | uniq)
    [ "$calls" = "$(printf '%s\n' "$@")" ]
}

for list in missing unknown broken; do : >"$scratch/$list"; done
echo 1000 >"$scratch/user"
run 0 test
must "silent where nothing is missing" silent
must "and apt-get is not called" untouched

echo libmetis-dev >"$scratch/missing"
run 3 build
must "neither root nor sudo: the line to type" grep -q 'apt-get install .*libmetis-dev' "$scratch/out"
must "and apt-get is not called" untouched

echo python3-ffcx >"$scratch/missing"
run 0 test
must "an optional package is not worth an error" silent

echo 0 >"$scratch/user"
echo libmetis-dev >"$scratch/missing"
run 0 build
must "root: installs what is missing" asked_for libmetis-dev
run 0 build
must "silent the second time" silent

printf '%s\n' libcmocka-dev python3-ffcx >"$scratch/missing"
echo python3-ffcx >"$scratch/unknown"
run 0 test
must "an optional package that is unknown is asked for alone" asked_for libcmocka-dev python3-ffcx
must "and named" grep -q 'python3-ffcx is not available' "$scratch/out"
run 0 test
must "and said only once" silent
: >"$scratch/unknown"
rm -r "$scratch/cache"

printf '%s\n' libcmocka-dev python3-vtk9 gnuplot-nox >"$scratch/missing"
echo python3-vtk9 >"$scratch/broken"
run 0 test
must "an optional package that breaks stops no other" asked_for libcmocka-dev python3-vtk9 gnuplot-nox
must "and is named" grep -q 'python3-vtk9 is not available' "$scratch/out"
: >"$scratch/broken"
rm -r "$scratch/cache"

echo libgmsh-dev >"$scratch/missing"
touch "$scratch/sick"
run 0 build
must "only whether the package is there counts" asked_for libgmsh-dev
rm "$scratch/sick"

printf '%s\n' libgmsh-dev libmetis-dev >"$scratch/missing"
echo libgmsh-dev >"$scratch/unknown"
run 3 build
must "a needed package that is nowhere" grep -q 'could not install.*libgmsh-dev' "$scratch/out"
must "with what apt-get said" grep -q 'Unable to locate package libgmsh-dev' "$scratch/out"
: >"$scratch/unknown"

echo libglpk-dev >"$scratch/missing"
touch "$scratch/offline"
run 3 build
must "no network: what is needed is named" \
    grep -q 'could not install what is needed: libglpk-dev$' "$scratch/out"
must "with the reason" grep -q 'Failed to fetch' "$scratch/out"
echo gnuplot-nox >"$scratch/missing"
run 0 test
must "no network, but all that is needed is there" \
    grep -q 'gnuplot-nox is not available' "$scratch/out"
rm "$scratch/offline"

stand_in sudo <<EOF
#!$bash
[ "\$1" = -n ] && shift
exec "\$@"
EOF
echo 1000 >"$scratch/user"
echo libmetis-dev >"$scratch/missing"
run 0 build
must "sudo without a password is used" asked_for libmetis-dev
must "no progress is drawn into a file" test -z "$(tr -dc '\r' <"$scratch/out")"
if command -v script >/dev/null; then
    echo libmetis-dev >"$scratch/missing"
    TERM=xterm PATH=$bin:$PATH HOME=$scratch XDG_CACHE_HOME=$scratch/cache script -qec \
        "bash '$WEFT_SOURCE/cmake/install_packages.sh' build" /dev/null </dev/null >"$scratch/out"
    must "a terminal shows progress" grep -q 'installing, 42 % (libmetis-dev)' "$scratch/out"
fi
run 2 nonsense
