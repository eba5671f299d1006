#!/usr/bin/env bash
# labels: full
# Man pages are installed for every program and every command of weft, with what --help says.
set -u
export LC_ALL=C
if grep -qE '^WEFT_(SANITIZE:STRING=.|FUZZ:BOOL=ON|PORTABLE:BOOL=ON)' "$WEFT_BUILD/CMakeCache.txt"; then
    echo "skipped: a build that is not for installing"
    exit 77
fi
if ! command -v help2man >/dev/null; then
    echo "skipped: help2man is not installed, which writes the man pages"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0
fail() {
    echo "$1"
    failures=$((failures + 1))
}
programs=(poisson solve scaling advection_diffusion weft)
[ ! -x "$WEFT_BUILD/weft-gmsh" ] || programs+=(weft-gmsh)

cmake --install "$WEFT_BUILD" --prefix "$scratch/prefix" >log 2>&1 || { cat log; fail "cmake --install"; }
man=prefix/share/man/man1
check_page() { # page, words...
    local page=$man/$1.1 word
    shift
    [ -s "$page" ] || { fail "$page is missing"; return; }
    for word; do
        sed 's/\\f[IBR]//g; s/\\//g' "$page" | grep -qF -- "$word" || fail "$page lacks '$word'"
    done
    ! command -v groff >/dev/null || {
        groff -man -Tascii -ww -rHY=0 "$page" >text 2>warnings
        [ ! -s warnings ] || fail "$page: $(head -n 3 warnings)"
    }
}
for program in "${programs[@]}"; do
    check_page "$program" "SH NAME" "SEE ALSO"
done
check_page poisson "--assembly" "lma-gather" ".SH EXAMPLES" "poisson --mesh square:32 --source 1" "EXIT STATUS"
[ ! -x "$WEFT_BUILD/weft-gmsh" ] || check_page weft-gmsh "SH SYNOPSIS" "--save"
check_page weft-explain "--why" "weft explain poisson.weft --why J K"
for command in compile ufl plan library new test compare cache calibrate tune tuning gemm devices; do
    check_page "weft-$command" "--help"
done
exit "$((failures > 0))"
