#!/usr/bin/env bash
# labels: quick
# cmake/install_packages.sh, on a machine that is made up of stand-ins for dpkg-query, apt-get, id and
# sudo: quiet where nothing is missing; asks apt for what is; exit 3 and the line where it may not.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bin=$scratch/bin
bash=$(command -v bash)
mkdir -p "$bin"
for tool in bash env grep mktemp rm cat tail mkdir true; do
    printf '#!%s\nexec %s "$@"\n' "$bash" "$(type -P "$tool")" >"$bin/$tool"
    chmod +x "$bin/$tool"
done
stand_in() {
    cat >"$bin/$1"
    chmod +x "$bin/$1"
}
# A package is installed unless its name stands in `missing`; apt-get install empties that, but knows no
# package of the list `unknown`.
stand_in dpkg-query <<EOF
#!$bash
for last; do :; done
grep -qxF -- "\$last" "$scratch/missing" && exit 1
echo installed
EOF
stand_in apt-get <<EOF
#!$bash
echo "\$*" >>"$scratch/calls"
for word; do
    if grep -qxF -- "\$word" "$scratch/unknown"; then exit 100; fi
done
case " \$* " in
*" --simulate "*) exit 0 ;;
*" install "*) : >"$scratch/missing" ;;
esac
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

: >"$scratch/missing"
: >"$scratch/unknown"
echo 1000 >"$scratch/user"
run 0 test
must "quiet where nothing is missing" silent
must "and apt-get is not called" untouched

echo libmetis-dev >"$scratch/missing"
run 3 build
must "no root, no sudo: the line to type" grep -q 'apt-get install .*libmetis-dev' "$scratch/out"
must "and apt-get is not called" untouched

echo python3-ffcx >"$scratch/missing"
run 0 test
must "an optional package is not worth an error" silent

echo 0 >"$scratch/user"
echo libmetis-dev >"$scratch/missing"
run 0 build
must "root: installs what is missing" \
    grep -q 'install --no-install-recommends -y libmetis-dev$' "$scratch/calls"
run 0 build
must "quiet the second time" silent

echo python3-ffcx >"$scratch/missing"
echo python3-ffcx >"$scratch/unknown"
run 0 test
must "an optional package that is nowhere: said" \
    grep -q 'python3-ffcx is not available' "$scratch/out"
run 0 test
must "and said only once" silent

echo libgmsh-dev >"$scratch/missing"
echo libgmsh-dev >"$scratch/unknown"
run 3 build
must "a needed package that is nowhere" grep -q 'could not install' "$scratch/out"

stand_in sudo <<EOF
#!$bash
[ "\$1" = -n ] && shift
exec "\$@"
EOF
echo 1000 >"$scratch/user"
: >"$scratch/unknown"
echo libmetis-dev >"$scratch/missing"
run 0 build
must "sudo without a password is used" \
    grep -q 'install --no-install-recommends -y libmetis-dev$' "$scratch/calls"
run 2 nonsense
