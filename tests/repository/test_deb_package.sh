#!/usr/bin/env bash
# labels: full
# The Debian package that cpack makes: what it depends on, and what is in it.
set -u
export LC_ALL=C
if grep -qE '^WEFT_(SANITIZE:STRING=.|FUZZ:BOOL=ON|PORTABLE:BOOL=ON)' "$WEFT_BUILD/CMakeCache.txt"; then
    echo "skipped: a build that is not for installing"
    exit 77
fi
for tool in cpack dpkg-shlibdeps dpkg-deb file; do
    if ! command -v $tool >/dev/null; then
        echo "skipped: $tool is not installed (dpkg-dev and file have what makes Debian packages)"
        exit 77
    fi
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0
fail() {
    echo "$1"
    failures=$((failures + 1))
}
cpack --config "$WEFT_BUILD/CPackConfig.cmake" -G DEB -B "$scratch/package" >log 2>&1 || { tail log; fail cpack; }
deb=$(ls package/weft_*.deb)
dpkg-deb -f "$deb" Depends >depends || fail "no fields in $deb"
for word in "gcc | clang | c-compiler" libc6-dev libglpk40 libmetis5 libsqlite3-0; do
    grep -qF "$word" depends || fail "the package does not depend on $word: $(cat depends)"
done
dpkg-deb -c "$deb" | awk '{ print $6 }' >content
for file in ./usr/bin/poisson ./usr/bin/weft ./usr/include/weft/fem/weft_fem.h ./usr/share/weft/meshes/unit_square.geo \
    ./usr/share/bash-completion/completions/weft ./usr/share/doc/weft/README.md; do
    grep -qxF "$file" content || fail "$file is not in the package"
done
! command -v help2man >/dev/null || grep -qxF ./usr/share/man/man1/weft-explain.1 content ||
    fail "the man pages are not in the package"
grep -q 'libweft_fem.a$' content || fail "the library is not in the package"
! grep -qE '^\./(usr/)?(tmp|home|root|work)' content || fail "the package has files of this machine"
exit "$((failures > 0))"
