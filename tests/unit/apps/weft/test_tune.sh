#!/usr/bin/env bash
# labels: quick
# weft tune as a user types it, with a database of its own: the fastest of a function whose time is its parameter's, forty times that of
# the best for the default, is found and used by explain and run until the file changes; settings that give other results are refused.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME=$scratch/cache
weft=$WEFT_BUILD/weft
cd "$scratch"

expect() { # CODE WORDS COMMAND...
    local code=$1 words=$2 got=0
    shift 2
    "$@" >out 2>&1 || got=$?
    if [ "$got" != "$code" ] || ! grep -qF -- "$words" out; then
        printf '%s\nexit %s where %s was wanted, with "%s":\n' "$*" "$got" "$code" "$words"
        cat out
        exit 1
    fi
}
mkdir my bad
cat >my/wave.kernel.c <<'END'
//@ function  wave(x: real[n]) -> y: real[n]
//@ kind      map
//@ tune      work = 80, 1, 20 to 60 by 10
//@ where     work <= 70 * n
//@ flops     4*n*work
//@ source    none: y = x, in a time that work determines
//@ threads   1
for (int i = 0; i < n; ++i) {
    real s = x(i);
    for (int j = 0; j < work; ++j)
        s = sqrt(s * s + 1);
    y(i) = s - s + x(i);
}
END
cat >bad/bad.kernel.c <<'END'
//@ function  bad(x: real[n]) -> y: real[n]
//@ kind      map
//@ tune      width = 1, 2
//@ flops     n
//@ source    none
//@ threads   1
for (int i = 0; i < n; ++i)
    y(i) = x(i) * width;
END
cat >my.weft <<'END'
index cells;
input x : real[2] over cells;
y = wave(x);
return y;
END
how=(--kernels my --device host:1)
expect 0 'not tuned for this call, device and size (weft tune)' "$weft" explain my.weft "${how[@]}" --size 20000
expect 0 'work = 80' "$weft" explain my.weft "${how[@]}" --size 20000
expect 0 'wave(real[2])' "$weft" tune wave --sizes n=2 "${how[@]}" --size 20000
grep -qF '7 settings, 7 allowed, 7 timed' out
grep -qF 'work = 1  ' out
grep -qF 'times the speed of the default work = 80' out
expect 0 'work = 1                found by weft tune' "$weft" explain my.weft "${how[@]}" --size 20000
expect 0 'not tuned' "$weft" explain my.weft "${how[@]}" --size 20000 --precision single
expect 0 'not tuned' "$weft" explain my.weft "${how[@]}" --size 2000000
expect 0 'wave(real[2])' "$weft" tune my.weft "${how[@]}" --size 20000 --precision single
expect 0 'found by weft tune' "$weft" explain my.weft "${how[@]}" --size 20000 --precision single
expect 0 'wave(real[1])' "$weft" tune my/wave.kernel.c --sizes n=1 "${how[@]}" --size 20000 # whose default is excluded
grep -qF '7 settings, 6 allowed' out
expect 0 '3 best plans' "$weft" tuning list
sed -i 's/source    none/source    nothing/' my/wave.kernel.c
expect 0 'not tuned' "$weft" explain my.weft "${how[@]}" --size 20000

expect 2 'its result with width = 2 is not that with width = 1' "$weft" tune bad --sizes n=3 --kernels bad --device host:1 --size 20000
expect 1 'width = 2: element 0' "$weft" test bad --device host:1
expect 0 '0 wrong' "$weft" test my --device host:1
expect 0 'calls no function with tuned parameters' "$weft" tune poisson.weft --device host:1
expect 2 "the function mmul has no tuned parameters" "$weft" tune mmul --device host:1
expect 2 "did you mean 'wave'?" "$weft" tune wav --kernels my --device host:1
expect 2 "wave has no size or parameter 'm'" "$weft" tune wave --kernels my --sizes m=2 --device host:1
expect 2 "give each of its sizes a value" "$weft" tune wave --kernels my --device host:1
expect 2 "sizes are NAME=NUMBER" "$weft" tune wave --kernels my --sizes n --device host:1
expect 2 "there is nothing to measure" "$weft" tune wave --kernels my --sizes n=2 --device null:h200
expect 2 "nothing to tune is given" "$weft" tune --device host:1
expect 2 "give the folder of the file by --kernels" "$weft" tune my/wave.kernel.c --device host:1
