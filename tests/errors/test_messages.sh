#!/usr/bin/env bash
# labels: quick
# What is said where an option, a script or a device is wrong: exit code, and one message that names the way out.
set -u
export LC_ALL=C
unset WEFT_LOG
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
export PATH="$WEFT_BUILD:$PATH"
failures=0

expect() { # exit code, words on stderr, command...
    local code=0 expected=$1 words=$2
    shift 2
    "$@" >out 2>err </dev/null || code=$?
    if [ "$code" -ne "$expected" ] || { [ -n "$words" ] && ! grep -qF -- "$words" err; }; then
        echo "$*: exit $code, expected $expected and '$words':"
        cat err
        failures=$((failures + 1))
    fi
}
count() { # how many lines of stderr have these words
    grep -cF -- "$1" err
}

# --why takes two calls, whatever stands around it.
expect 2 "option '--why' needs two values" weft explain poisson.weft --why J
expect 2 "write --why CALL CALL" weft explain poisson.weft --why
expect 2 "option '--why' needs two values" weft explain poisson.weft --why J --device host
expect 2 "option '--why' needs two values" weft explain poisson.weft --why=J
expect 2 "'poisson.weft' was taken for the second" weft explain --why J poisson.weft
expect 2 "no call makes 'Q'" weft explain poisson.weft --why J Q
expect 0 "" weft explain --why J K poisson.weft
expect 0 "" weft explain --why=J K poisson.weft

# What can be solved, and only that; each of it is solved.
expect 2 "shipped scripts that can be solved are anisotropic, diffusion, elasticity" solve nothere.weft
expect 2 "did you mean helmholtz.weft" solve helmholz.weft --mesh square:4
[ "$(count step_slope)" -eq 0 ] || { echo "solve lists parts of its own"; failures=$((failures + 1)); }
for script in diffusion elasticity helmholtz; do
    expect 0 "" solve $script --mesh square:4
done
expect 0 "" solve anisotropic --mesh square:4 --input D=2,0,0,1
expect 0 "" solve kirchhoff --nonlinear --mesh square:4

# --help names every script that can be solved.
solve --help >help
shipped=$(solve nothere.weft 2>&1 | grep -o 'can be solved are .*' | cut -c 19- | tr -d ',')
[ "$(wc -w <<<"$shipped")" -ge 7 ] || { echo "solve does not list its scripts: $shipped"; failures=$((failures + 1)); }
for script in $shipped; do
    [ "$script" = and ] || tr '\n' ' ' <help | grep -qE "[ ,]$script[ ,.]" ||
        { echo "solve --help does not name $script"; failures=$((failures + 1)); }
done

# A quantity that nothing shows is computed for nothing.
expect 0 'nothing shows `q`: add --output FILE or --line' poisson --mesh square:4 --derive q=2*u
expect 0 "" poisson --mesh square:4 --derive q=2*u --integral I=q
[ "$(count 'nothing shows')" -eq 0 ] || { echo "q is read by I"; failures=$((failures + 1)); }
expect 0 "" poisson --mesh square:4 --derive q=2*u --output q.vtkhdf
[ "$(count 'nothing shows')" -eq 0 ] || { echo "q is written"; failures=$((failures + 1)); }

# gpu is cuda, where there is one and where there is none.
for device in cuda gpu; do
    code=0
    poisson --mesh square:4 --device $device >$device.out 2>$device.err || code=$?
    [ "$code" -eq 0 ] || [ "$code" -eq 3 ] || { echo "--device $device: exit $code"; failures=$((failures + 1)); }
    echo "$code" >$device.code
done
cmp cuda.err gpu.err && cmp cuda.code gpu.code || failures=$((failures + 1))
expect 2 "did you mean gpu?" poisson --mesh square:4 --device gpuu

# One warning a cause, however often it is met.
WEFT_CACHE=bogus expect 0 "WEFT_CACHE=bogus" solve diffusion --mesh square:4
[ "$(count warning)" -eq 1 ] || { cat err; failures=$((failures + 1)); }
expect 1 "" scaling --sizes 4 --repeat 1 --no-plots --out study -- --source 1 --dirichlet nowhere=0
[ "$(count "no group \`nowhere\`")" -eq 1 ] || { cat err; failures=$((failures + 1)); }

# Columns of weft test begin at the same place in every line.
mkdir functions && (
    cd functions
    weft new function f
    weft new function a_function_with_a_name_of_some_length
) >/dev/null
expect 0 "" weft test functions --device host --device host:1
[ "$(grep '^ok' out | sed 's/ double.*//' | awk '{ print length }' | sort -u | wc -l)" -eq 1 ] &&
    [ "$(grep -c '^ok' out)" -ge 4 ] || { cat out; failures=$((failures + 1)); }
exit "$((failures > 0))"
