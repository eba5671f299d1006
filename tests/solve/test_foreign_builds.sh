#!/usr/bin/env bash
# labels: full
# Plug-ins for PETSc and hypre against other builds of these: integers of 64 bits have the iterations of 32; complex numbers, another
# MPI, missing headers and what is no such library are refused in words. Sources of plug-ins compile without a warning.
# Decision: docs/decisions/0068-plug-ins-are-compiled-against-headers.md
set -euo pipefail
poisson=("${WEFT_BUILD:?}/poisson" --mesh square:40)
libraries=/usr/lib/$(uname -m)-linux-gnu
plugins=${WEFT_SOURCE:?}/kernels/plugins
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
n=0
fail() {
    echo "$1"
    exit 1
}
# there TITLE FILE: a build that the test needs
there() {
    [ -e "$2" ] || {
        echo "skipped in part: $1 is not installed"
        return 1
    }
    n=$((n + 1))
}
# works VARIABLE LIBRARY KIND WORDS: in as many iterations as the first one, give or take one
works() {
    env "$1=$2" "${poisson[@]}" --preconditioner "$3" >out 2>errors || fail "$2: $(cat errors)"
    grep -q "^$3 .*$4" out || fail "$2: $(cat out)"
    local iterations
    iterations=$(sed -n 's/^CG .* \([0-9]*\) iterations.*/\1/p' out)
    local difference=$((iterations - ${first[$3]:-iterations}))
    if [ "$iterations" -lt 5 ] || [ "$iterations" -gt 25 ] || [ "${difference#-}" -gt 1 ]; then
        fail "$2: $iterations iterations, before ${first[$3]:-none}"
    fi
    first[$3]=$iterations
}
declare -A first=()
# refused WORDS COMMAND...: exit 2 with the words, and no output of the solve
refused() {
    local words=$1 code=0
    shift
    "$@" >out 2>errors || code=$?
    [ $code = 2 ] || fail "$*: exit $code: $(cat errors)"
    grep -qF -- "$words" errors || fail "$*: expected '$words': $(cat errors)"
}

! there PETSc "$libraries/libpetsc_real.so" || works WEFT_PETSC "$libraries/libpetsc_real.so" petsc "PETSc 3.*, gamg"
! there "PETSc with 64-bit integers" "$libraries/libpetsc64_real.so" || works WEFT_PETSC "$libraries/libpetsc64_real.so" petsc "PETSc 3.*, gamg"
! there hypre "$libraries/libHYPRE.so" || works WEFT_HYPRE "$libraries/libHYPRE.so" hypre "hypre .*, BoomerAMG"
! there "hypre with 64-bit integers" "$libraries/libHYPRE64.so" || works WEFT_HYPRE "$libraries/libHYPRE64.so" hypre "hypre .*, BoomerAMG"
[ $n -gt 0 ] || {
    echo "skipped: neither PETSc nor hypre is installed with headers"
    exit 77
}
! there "complex PETSc" "$libraries/libpetsc_complex.so" ||
    refused "this PETSc has complex numbers" env "WEFT_PETSC=$libraries/libpetsc_complex.so" "${poisson[@]}" --preconditioner petsc
if there MPICH /usr/bin/mpicc.mpich && [[ $(readlink -f "$(command -v mpicc)") != *mpich* ]]; then
    [ ! -e "$libraries/libpetsc_real.so" ] ||
        refused "PETSc was configured with" env WEFT_MPICC=mpicc.mpich "${poisson[@]}" --preconditioner petsc
    [ ! -e "$libraries/libHYPRE.so" ] ||
        refused "this hypre uses another MPI" env WEFT_MPICC=mpicc.mpich "${poisson[@]}" --preconditioner hypre
fi
refused "mpicc is not found" env WEFT_MPICC=no-mpicc "${poisson[@]}" --preconditioner "$([ -e "$libraries/libHYPRE.so" ] && echo hypre || echo petsc)"
if [ -e "$libraries/libHYPRE.so" ]; then
    mkdir -p "with blank/lib"
    cp -L "$libraries/libHYPRE.so" libHYPREalone.so
    cp libHYPREalone.so "with blank/lib/libHYPRE.so"
    refused "there is no header HYPRE_parcsr_ls.h" env "WEFT_HYPRE=$folder/libHYPREalone.so" "${poisson[@]}" --preconditioner hypre
    ln -s /usr/include/hypre "with blank/include"
    refused "has a blank" env "WEFT_HYPRE=$folder/with blank" "${poisson[@]}" --preconditioner hypre
fi
flags=(-std=gnu17 -Wall -Wextra -Werror -fsyntax-only)
[ ! -e /usr/lib/petscdir/petsc-real/include ] || mpicc "${flags[@]}" -I/usr/lib/petscdir/petsc-real/include "$plugins/petsc.c" || fail "warnings"
[ ! -e /usr/include/hypre ] || mpicc "${flags[@]}" -I/usr/include/hypre "$plugins/hypre.c" || fail "warnings"
