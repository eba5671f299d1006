#!/usr/bin/env bash
# labels: full
# Completion in bash: options, values, files and scripts, asked as bash asks; and that it is installed.
set -u
export LC_ALL=C
if grep -qE '^WEFT_(SANITIZE:STRING=.|FUZZ:BOOL=ON|PORTABLE:BOOL=ON)' "$WEFT_BUILD/CMakeCache.txt"; then
    echo "skipped: a build that is not for installing"
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

# Completion, asked as bash asks for it. $1: the line up to the cursor, words and = as bash cuts them
PATH=$WEFT_BUILD:$PATH
# shellcheck source=../../cmake/completion.bash
. "$WEFT_SOURCE/cmake/completion.bash"
touch plate.geo plate.unv plate.vtkhdf notes.txt mine.weft
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
expect "theta bdf2 sdirk2" "or" solve --scheme ""
expect "auto host cuda gpu null null:h200 host:1" "" solve --device ""
expect "square: cube: plate.geo plate.unv plate.vtkhdf folder/" "notes.txt" poisson --mesh ""
expect "plate.vtkhdf" "plate.geo" poisson --output pl
expect "folder/" "notes.txt" weft compile --kernels ""
expect "compile explain library new devices" "COMMAND fuse" weft ""
expect "--why --html --device" "--print" weft explain --
expect "--print" "--why" weft compile --p
expect "--param --plan-file --rematerialize" "--set --force --store" weft compile --
expect "tokens plan source" "" weft compile --print ""
expect "diffusion kirchhoff mine.weft" "cg notes.txt" solve ""
expect "list verify clear" "" weft cache ""
expect "D space" "list" weft gemm ""
expect "jacobian show" "" weft library ""
expect "poisson" "lma" scaling --app ""

# The installed tree.
cmake --install "$WEFT_BUILD" --prefix "$scratch/prefix" >log 2>&1 || { cat log; fail "cmake --install"; }
for program in "${programs[@]}"; do
    cmp -s "$WEFT_SOURCE/cmake/completion.bash" "prefix/share/bash-completion/completions/$program" ||
        fail "no completion for $program is installed"
done
exit "$((failures > 0))"
