#!/usr/bin/env bash
# labels: full
# Commands that a new user types in the first hour, and that once ended badly: ordinary problems said not to converge, a
# series lost by a restart, mistakes answered by something else. Each has a test of its own elsewhere; here they are
# run as they are typed.
set -u
export LC_ALL=C PATH="$WEFT_BUILD:$PATH"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0
# expect CODE TEXT COMMAND...: the exit code, and a piece of what is printed
expect() {
    local wanted=$1 text=$2 code=0
    shift 2
    "$@" >out 2>&1 </dev/null || code=$?
    if [ "$code" != "$wanted" ] || ! grep -qF -- "$text" out; then
        printf 'exit %s, expected %s and "%s": %s\n' "$code" "$wanted" "$text" "$*"
        head -n 12 out
        failures=$((failures + 1))
    fi
}
wrote() {
    [ -s "$1" ] || { echo "$1 was not written"; failures=$((failures + 1)); }
    rm -rf "$1"
}

# ordinary problems
jump='select(x<0.5,1,1e4)'
expect 0 converged poisson --mesh square:700 --source 1 --output a.vtkhdf
wrote a.vtkhdf
expect 0 converged poisson --mesh square:50 --source 1 --diffusivity "$jump" --dirichlet left=0 --output b.vtkhdf
wrote b.vtkhdf
expect 0 converged poisson --mesh cube:20 --source 1 --diffusivity 'select(x<0.5,1,1e3)' --dirichlet left=0 --output c.vtkhdf
wrote c.vtkhdf
expect 0 converged poisson --mesh square:200 --neumann left=1 --robin right=0.01,0 --source 0 --exact 101-x --output d.vtu
wrote d.vtu
expect 0 converged solve elasticity.weft --mesh square:40 --define "young=$jump" --define 'poisson=0.3' \
    --dirichlet 'left=0,0' --output e.vtkhdf
wrote e.vtkhdf
expect 0 converged poisson --mesh square:32 --source 1 --assembly csr --tolerance 1e-14
expect 1 residual poisson --mesh square:64 --source 1 --max-iterations 3 --keep-unconverged --output f.vtkhdf
wrote f.vtkhdf
sets=(sse2 avx2 avx512 neon)
for set in "${sets[@]}"; do # those of this processor solve; the others are refused with a list
    if poisson --mesh square:8 --source 1 --device "host:2:$set" >out 2>&1; then grep -q converged out; else grep -q 'this processor' out; fi || {
        echo "host:2:$set:" && cat out
        failures=$((failures + 1))
    }
done

# a series that goes on
ad=(advection_diffusion --mesh square:8 --diffusivity 0.01 --initial 'x*y' --dt 0.01 --output-every 5)
expect 0 steps "${ad[@]}" --steps 10 --checkpoint a.vtkhdf --output o.pvd
expect 0 steps "${ad[@]}" --steps 20 --restart a.vtkhdf --output o.pvd
[ "$(grep -c '<DataSet' o.pvd)" = 5 ] || { echo "the series does not hold steps 0 to 20:"; cat o.pvd; failures=$((failures + 1)); }
expect 2 'o.pvd exists' "${ad[@]}" --steps 10 --output o.pvd

# mistakes, and what they are answered
printf 'index cells, nodes;\nconnectivity dofs : cells -> nodes[3]\ninput x : real[2] over nodes;\n' >missing.weft
for command in 'solve missing.weft --mesh square:4' 'weft explain missing.weft' 'weft compile missing.weft'; do
    # shellcheck disable=SC2086
    expect 2 "expected ';'" $command
done
expect 2 hint weft explain poisson.weft --why J
expect 2 'shipped scripts that can be solved are' solve nothere.weft --mesh square:4
expect 2 select poisson --mesh square:4 --source 'if(x>0.5,1,0)'
expect 2 select poisson --mesh square:4 --source 'x>0.5'
expect 0 converged poisson --mesh square:4 --source 'sinh(x)+erf(y)+atan2(y,1)+floor(x)+sign(y)'
expect 2 "expected" poisson --mesh square:4 --source 'sin(x'
for program in poisson solve scaling advection_diffusion weft; do expect 0 Weft "$program" --version; done
if ! command -v nvidia-smi >/dev/null; then expect 3 'CUDA driver' poisson --mesh square:4 --device gpu; fi
expect 2 'is not one of its values' scaling -q --out study --sizes 4 --assembly nosuch

# a path that once ran as a program
mkdir -p 'x*/ system("touch pwned"); /*'
cp "$WEFT_SOURCE/fem/scripts/diffusion.weft" 'x*/ system("touch pwned"); /*/d.weft'
expect 0 converged solve 'x*/ system("touch pwned"); /*/d.weft' --mesh square:4
[ ! -e pwned ] || { echo "the path of a script ran as a program"; failures=$((failures + 1)); }
[ "$failures" = 0 ] && echo "all is answered as it should be"
[ "$failures" = 0 ]
