#!/usr/bin/env bash
# labels: full
# What is installed beside programs and libraries: man pages (where help2man is), completion in bash, and
# the Debian package that cpack makes of it all (where dpkg-shlibdeps is).
set -u
export LC_ALL=C
if grep -qE '^WEFT_(SANITIZE:STRING=.|FUZZ:BOOL=ON|PORTABLE:BOOL=ON)' "$WEFT_BUILD/CMakeCache.txt"; then
    echo "skipped: a build that is not for installing"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
fail() {
    echo "$1"
    failures=$((failures + 1))
}
programs=(poisson solve scaling advection_diffusion weft)
[ ! -x "$WEFT_BUILD/weft-gmsh" ] || programs+=(weft-gmsh)

# Completion, asked as bash asks for it. $1: the line up to the cursor, words and = as bash cuts them
PATH=$WEFT_BUILD:$PATH
# shellcheck source=../../cmake/completion.bash
. "$WEFT_SOURCE/cmake/completion.bash"
cd "$scratch" || exit 1
touch plate.geo plate.vtkhdf notes.txt mine.weft
mkdir folder
offered() { # words...
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _weft_complete "$1" "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>&1
    echo " ${COMPREPLY[*]} "
}
expect() { # what must be offered; what must not (or ""); words...
    local has=$1 lacks=$2 all word
    shift 2
    all=$(offered "$@")
    for word in $has; do
        [[ $all == *" $word "* ]] || fail "$*: '$word' is not offered, but $all"
    done
    for word in $lacks; do
        [[ $all != *" $word "* ]] || fail "$*: '$word' is offered"
    done
}
expect "--mesh --assembly --help --version" "poisson" poisson --
expect "--assembly" "--mesh" poisson --as
expect "lma lma-gather csr matrix-free edge auto" "or" poisson --assembly ""
expect "csr" "lma" poisson --assembly = c
expect "fused unfused" "" advection_diffusion --plan ""
expect "consistent lumped" "" advection_diffusion --mass ""
expect "auto host cuda gpu null null:h200 host:1" "" solve --device ""
expect "square: cube: plate.geo plate.vtkhdf folder/" "notes.txt" poisson --mesh ""
expect "plate.vtkhdf" "plate.geo" poisson --output pl
expect "folder/" "notes.txt" weft fuse --kernels ""
expect "fuse explain library new devices" "COMMAND" weft ""
expect "--why --html --device" "--print" weft explain --
expect "--print" "--why" weft fuse --p
expect "tokens plan source" "" weft fuse --print ""
expect "diffusion kirchhoff mine.weft" "cg notes.txt" solve ""
expect "list verify clear" "" weft cache ""
expect "jacobian show" "" weft library ""
expect "poisson" "lma" scaling --app ""

# The installed tree.
cmake --install "$WEFT_BUILD" --prefix "$scratch/prefix" >log 2>&1 || { cat log; fail "cmake --install"; }
for program in "${programs[@]}"; do
    cmp -s "$WEFT_SOURCE/cmake/completion.bash" "prefix/share/bash-completion/completions/$program" ||
        fail "no completion for $program is installed"
done
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
if command -v help2man >/dev/null; then
    for program in "${programs[@]}"; do
        check_page "$program" "SH NAME" "SEE ALSO"
    done
    check_page poisson "--assembly" "lma-gather" ".SH EXAMPLES" "poisson --mesh square:32 --source 1" "EXIT STATUS"
    check_page weft-explain "--why" "weft explain poisson.weft --why J K"
    for command in fuse plan library new test compare cache calibrate tuning devices; do
        check_page "weft-$command" "--help"
    done
else
    echo "man pages are not looked at: help2man is not installed"
    [ -z "$(find "$man" -name '*.1' 2>/dev/null)" ] || fail "man pages without help2man"
fi

# The package, in a folder of its own.
if command -v dpkg-shlibdeps >/dev/null && command -v cpack >/dev/null; then
    cpack --config "$WEFT_BUILD/CPackConfig.cmake" -G DEB -B "$scratch/package" >log 2>&1 || { tail log; fail cpack; }
    deb=$(ls package/weft_*.deb)
    dpkg-deb -f "$deb" Depends >depends || fail "no fields in $deb"
    for word in "gcc | clang | c-compiler" libc6-dev libglpk40 libmetis5 libsqlite3-0; do
        grep -qF "$word" depends || fail "the package does not depend on $word: $(cat depends)"
    done
    dpkg-deb -c "$deb" | awk '{ print $6 }' >content
    for file in ./usr/bin/poisson ./usr/bin/weft ./usr/include/weft/weft_fem.h ./usr/share/weft/meshes/unit_square.geo \
        ./usr/share/bash-completion/completions/weft ./usr/share/doc/weft/README.md; do
        grep -qxF "$file" content || fail "$file is not in the package"
    done
    grep -q 'libweft_fem.a$' content || fail "the library is not in the package"
    ! grep -qE '^\./(usr/)?(tmp|home|root|work)' content || fail "the package has files of this machine"
else
    echo "no package is made: dpkg-shlibdeps (dpkg-dev) or cpack is not installed"
fi
exit "$((failures > 0))"
