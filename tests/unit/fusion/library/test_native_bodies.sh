#!/bin/bash
# labels: quick
# Native bodies of kernel files: the example of docs/kernel-files.md on the host and emulated, mistakes in a text that only
# running it shows, and the messages for mistakes in a declaration. Expected values are in the examples.
set -euo pipefail
weft=${WEFT_BUILD:?}/weft
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    echo "$1"
    cat "$scratch/out"
    exit 1
}

# the documentation's example
mkdir "$scratch/good"
sed -n '/^```native$/,/^```$/p' "${WEFT_SOURCE:?}/docs/kernel-files.md" | grep -v '^```' >"$scratch/good/dot.kernel.c"
devices="--device host:1"
if command -v g++ >/dev/null; then devices="$devices --device emulated"; fi
# shellcheck disable=SC2086
"$weft" test "$scratch/good" $devices >"$scratch/out" || fail "the example is wrong"
grep -q '^ok  *row_dot  threads 1 in c .* host:1 ' "$scratch/out" || fail "no body in C"
if [ "$devices" = "--device host:1" ]; then exit 0; fi
grep -q '^ok  *row_dot  threads 32 in cuda .* emulated ' "$scratch/out" || fail "no body in CUDA"
grep -q 'n = 64' "$scratch/out" || fail "not tried with a size that warps divide"

# kernels of one thread per element call native bodies of one thread; products by warps take plain bodies alone; a function
# without a plain body of one thread
cat >"$scratch/good/kinds.kernel.c" <<'END'
//@ function  gprod(A: real[m,k], B: real[k,n]) -> C: real[m,n]
//@ kind      map
//@ flops     2*m*k*n
//@ product   A*B
//@ source    C = A B
//@ where     m == 16
//@ where     n == 16
//@ where     k == 16
//@ threads   1
for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
        C(i,j) = 0;
        for (int l = 0; l < k; ++l)
            C(i,j) += A(i,l) * B(l,j);
    }
//@ body cuda
//@ threads   m*n   C(t/n,t%n)
//@ compute
real s = 0;
for (int l = 0; l < k; ++l)
    s += A(t / n, l) * B(l, t % n);
C(t / n, t % n) = s;

//@ function  doubled(x: real[n]) -> y: real[n]
//@ kind      map
//@ flops     n
//@ source    y = 2 x
//@ threads   n  x(t) y(t)
y(t) = 2 * x(t);
//@ body c
//@ threads 1
//@ compute
for (int i = 0; i < n; ++i)
    y(i) = x(i) + x(i);
//@ body cuda
//@ threads 1
//@ compute
for (int i = 0; i < n; ++i)
    y(i) = x(i) + x(i);

//@ function  weighted(A: real over i, j, x: real over j) -> y: real over i
//@ kind      reduce +
//@ flops     2
//@ source    y_i = sum_j A_ij x_j
//@ threads   1
y = A * x;
//@ body c
//@ threads 1
//@ helpers
static real both(real a, real b) { return a * b; }
//@ compute
y = both(A, x);
//@ body cuda
//@ threads 1
//@ helpers
static __device__ real both(real a, real b) { return a * b; }
//@ compute
y = both(x, A);

//@ function  energy(x: real[n]) -> e: real
//@ kind      reduce +
//@ flops     2*n
//@ source    sum |x|^2
//@ threads   1
e = 0;
for (int i = 0; i < n; ++i)
    e += x(i) * x(i);
//@ body c
//@ threads 1
//@ compute
e = x(0) * x(0);
for (int i = 1; i < n; ++i)
    e += x(i) * x(i);
//@ body cuda
//@ threads 1
//@ compute
real s = 0;
for (int i = 0; i < n; ++i)
    s = fma(x(i), x(i), s);
e = s;
END
# shellcheck disable=SC2086
"$weft" test "$scratch/good" $devices >"$scratch/out" || fail "another kind is wrong"
grep -q '^ok  *weighted  *threads 1 in cuda ' "$scratch/out" || fail "no native body in a nested function"

# helpers that several bodies share, and shared memory that two calls of a kernel use one after the other: the second call must
# not write before all threads of the first have read
mkdir "$scratch/shared"
cat >"$scratch/shared/backwards.kernel.c" <<'END'
//@ common    behind
static __device__ int behind(int t, int n) { return n - 1 - t; }

//@ function  backwards(x: real[n]) -> y: real[n]
//@ kind      map
//@ flops     n
//@ source    y_i = i + x_(n-1-i)
//@ where     n == 16
//@ threads   1
for (int i = 0; i < n; ++i)
    y(i) = i + x(n - 1 - i);
//@ body      cuda
//@ threads   16  x(t) y(t)
//@ shared    n reals
//@ helpers   behind
//@ compute
__shared__ real all[n];
all[t] = x(t);
__syncwarp();
y(t) = t + all[behind(t, n)];
END
"$weft" test "$scratch/shared" --device emulated >"$scratch/out" || fail "two calls share memory wrongly"
grep -q '^ok  *backwards  threads 16 in cuda ' "$scratch/out" || fail "no body with shared helpers"
"$weft" library show backwards --kernels "$scratch/shared" >"$scratch/out"
grep -q 'static __device__ int behind' "$scratch/out" || fail "helpers of another line are not shown"

# loads, a store and shared memory of its own: y = A x, whose rows are sums over the threads
mkdir "$scratch/moves"
cat >"$scratch/moves/scaled.kernel.c" <<'END'
//@ function  scaled(A: real[n,32], x: real[32]) -> y: real[n]
//@ kind      map
//@ flops     64*n
//@ source    y = A x
//@ where     n == 32
//@ threads   1
for (int i = 0; i < n; ++i) {
    y(i) = 0;
    for (int j = 0; j < 32; ++j)
        y(i) += A(i,j) * x(j);
}
//@ body      cuda
//@ threads   32   A(:,t) x(t) y(t::32)
//@ shared    33*32 reals
//@ load      A
for (int i = 0; i < n; ++i)
    A(i, t) = __ldcs(&from(i, t));
//@ compute
__shared__ real tile[32][33];
for (int i = 0; i < 32; ++i)
    tile[i][t] = A(i, t) * x(t);
__syncwarp();
real sum = 0;
for (int j = 0; j < 32; ++j)
    sum += tile[t][j];
y(t) = sum;
//@ store     y
to(t) = y(t);
END
# a part of the result per thread, which other threads read in the next call; shared memory of several types
cat >"$scratch/moves/reversed.kernel.c" <<'END'
//@ function  reversed(x: real[n]) -> y: real[n]
//@ kind      map
//@ flops     n
//@ source    y_i = x_(n-1-i)
//@ where     n <= 64
//@ example   reversed([1, 2, 4]) = [4, 2, 1]
//@ threads   1
for (int i = 0; i < n; ++i)
    y(i) = x(n - 1 - i);
//@ body      cuda
//@ threads   32   y(t::32)
//@ compute
for (int i = t; i < n; i += 32)
    y(i) = x(n - 1 - i);
//@ body      cuda
//@ threads   64   x(t::64) y(t::64)
//@ shared    n*4 + n*8 + 1 bytes
//@ registers 32
//@ compute
// __shared__ data are the element's; '
/* __shared__ real of[1]; } */
__shared__ int places[n];
__shared__ double copy[n];
__shared__ unsigned char done;
if (t == 0)
    done = 1;
if (t < n) {
    places[t] = n - 1 - t;
    copy[t] = x(t);
}
__syncthreads();
if (t < n)
    y(t) = (real)copy[places[t]] * done;
END
"$weft" test "$scratch/moves" --device emulated >"$scratch/out" || fail "routines of its own are wrong"
# a warp per row is predicted to be faster than a thread per row, and explain and plan say which body runs
printf 'index rows plain;\ninput x : real[256] over rows;\ns = vsum(x);\nreturn s;\n' >"$scratch/v.weft"
"$weft" compile "$scratch/v.weft" --device null:h200 --print plan >"$scratch/out"
grep -q 's = vsum(x)  255 flop, 32 threads in cuda' "$scratch/out" || fail "not by a warp"
"$weft" explain "$scratch/v.weft" --device null:h200 >"$scratch/out"
grep -q ' 1, 32 in cuda\*' "$scratch/out" || fail "the variant is not named"
# more shared memory than there is
sed 's/33\*32 reals/30000 reals/' "$scratch/moves/scaled.kernel.c" >"$scratch/large.kernel.c"
printf 'index rows plain;\ninput A : real[32,32] over rows;\ninput x : real[32] over rows;\ny = scaled(A, x);\nreturn y;\n' >"$scratch/l.weft"
mkdir "$scratch/large" && mv "$scratch/large.kernel.c" "$scratch/large/"
"$weft" explain "$scratch/l.weft" --kernels "$scratch/large" --device null:h200 >"$scratch/out"
grep -q "not 32 in cuda: an element's shared memory is more than a block can have" "$scratch/out" || fail "no reason"
if "$weft" compile "$scratch/l.weft" --kernels "$scratch/large" --variant scaled=1 --device null:h200 >"$scratch/out" 2>&1; then fail "too large"; fi
grep -qF "no thread block can have variant 1 of 'scaled': 32 threads and 240016 bytes" "$scratch/out" || fail "another message"
# what a kernel exchanges is not loaded by a routine: with the native body there are two kernels, with the plain one one
printf 'index rows plain;\ninput A : real[32,32] over rows;\ninput x : real[32] over rows;\ny = scaled(A, x);\nz = scaled(A, 2*y);\nreturn y, z;\n' >"$scratch/s.weft"
"$weft" compile "$scratch/s.weft" --kernels "$scratch/moves" --variant scaled=1 --device null:h200 --print plan >"$scratch/out"
grep -q '^plan: [23] kernels' "$scratch/out" || fail "fused with what it loads"
"$weft" explain "$scratch/s.weft" --kernels "$scratch/moves" --device host:1 >"$scratch/out"
grep -q 'not 32 in cuda: this device runs the plain body' "$scratch/out" || fail "no reason"
"$weft" compile "$scratch/s.weft" --kernels "$scratch/moves" --variant scaled=0 --device null:h200 --print plan >"$scratch/out"
grep -q '^plan: 1 kernel,' "$scratch/out" || fail "the plain body is not fused"
"$weft" compile "$scratch/s.weft" --kernels "$scratch/moves" --device host:1 --print plan >"$scratch/out" || fail "no plain body on the host"
if "$weft" compile "$scratch/s.weft" --kernels "$scratch/moves" --variant scaled=1 --device host:1 >"$scratch/out" 2>&1; then fail "CUDA on the host"; fi
grep -qF "is in cuda, which this device does not run" "$scratch/out" || fail "another message"

# $1 the first part of the body, $2 the declaration of threads, $3 other lines
kernel_with() {
    printf '%s\n' '//@ function f(x: real[n]) -> s: real' '//@ kind map' '//@ flops n' '//@ source a test' '//@ where n % 32 == 0' \
        '//@ threads 1' 's = 0;' 'for (int i = 0; i < n; ++i)' '    s += x(i);' \
        '//@ body cuda' "//@ threads $2" ${3:+"$3"} '//@ compute' "$1" \
        'for (int half = 16; half > 0; half /= 2)' '    sum += __shfl_down_sync(0xffffffffu, sum, half);' 's = sum;'
}
# what only running it shows
wrong() {
    mkdir -p "$scratch/wrong"
    kernel_with "$1" "32 x(t::32)" "${3:-}" >"$scratch/wrong/f.kernel.c"
    if "$weft" test "$scratch/wrong" --device emulated >"$scratch/out" 2>&1; then fail "not found: $1"; fi
    grep -qF -- "$2" "$scratch/out" || fail "expected: $2"
}
sum='real sum = 0; for (int i = t; i < n; i += 32) sum += x(i);'
wrong 'real sum = x(0);' 'thread 1 accesses a component that is out of range, or that its pattern does not give it'
wrong 'real sum = x(t + n);' 'f: x: thread 0 accesses a component'
wrong "$sum sum += 1;" 'WRONG  f  threads 32 in cuda'
wrong "$sum if (t < 20) __syncthreads();" 'thread 0 is at __syncthreads, thread 20 at an instruction of its warp'
wrong "$sum if (t > 0) __syncwarp(); __syncthreads();" 'threads wait for each other for ever'
wrong "__shared__ real all[16]; all[t % 16] = x(t); real sum = all[t % 16];" '__shared__ data of other than the declared size' '//@ shared 32 reals'
wrong "$sum sum = sum.nothing;" 'f.kernel.c:13'

# mistakes in a declaration: text of the kernel file, message
refused() {
    printf '%s\n' "$1" >"$scratch/bad.kernel.c"
    if "$weft" library show f --kernels "$scratch" >"$scratch/out" 2>&1; then
        printf 'index e;\ninput x : real[32] over e;\ns = f(x);\nreturn s;\n' >"$scratch/f.weft"
        if "$weft" compile "$scratch/f.weft" --kernels "$scratch" --device null:h200 >"$scratch/out" 2>&1; then fail "accepted: $2"; fi
    fi
    grep -qF -- "$2" "$scratch/out" || fail "expected: $2"
    grep -q '\^' "$scratch/out" || fail "no caret: $2"
}
head='//@ function f(x: real[n]) -> s: real
//@ kind map
//@ flops n
//@ source a test'
plain="$head
//@ threads 1
s = x(0);"
cuda="$plain
//@ body cuda"
rm -r "$scratch/large" "$scratch/good" "$scratch/wrong" "$scratch/moves"
refused "$plain
//@ body opencl
//@ threads 32
//@ compute
s = 0;" "expected the language of the body, c or cuda, found opencl"
refused "$head
//@ body cuda
//@ threads 32
//@ compute
s = 0;" 'a native body before the first plain one'
refused "$cuda
//@ compute
s = 0;" "'compute' comes after the '//@ threads' line of its body"
refused "$plain
//@ compute
s = 0;" "'compute' belongs below a '//@ body' line"
refused "$cuda
//@ threads 32" "this body has no '//@ compute' line"
refused "$cuda" "this body has no '//@ threads' line"
refused "$cuda
//@ threads 32
//@ threads 64" "a native body has one '//@ threads' line"
refused "$cuda
//@ threads 32
//@ compute" 'no text below this line'
refused "$cuda
//@ threads 32
//@ compute
s = (x(0);" "this is not closed: ')' is missing"
refused "$cuda
//@ threads 32
//@ compute
s = x(0)};" "this '}' closes nothing"
refused "$cuda
//@ threads 32
//@ compute
if (t == 0) { s = x(0);" "this is not closed: '}' is missing"
refused "$cuda
//@ threads 32
//@ compute
if (t > 0) return;
s = x(0);" "'return' in a routine"
refused "$cuda
//@ threads 32
//@ compute
#include <math.h>
s = x(0);" "'#include' is not allowed in a native body"
refused "$cuda
//@ threads 32
//@ compute
__shared__ real all[32];
s = x(0);" 'this body has shared memory, but does not say how much'
refused "$cuda
//@ threads 32
//@ shared 32 words
//@ compute
s = x(0);" "or 'reals' after the shared memory of an element"
refused "$cuda
//@ threads 1
//@ compute
__syncthreads(); s = x(0);" "'__syncthreads' in a body of one thread"
refused "$plain
//@ body c
//@ threads 1
//@ compute
s = __shfl_sync(0, x(0), 1);" "'__shfl_sync' is CUDA, and this body is in C"
refused "$plain
//@ body c
//@ threads 2
//@ compute
s = x(0);" 'a body in C has one thread, this one 2'
refused "$cuda
//@ threads 20
//@ compute
s = x(0);" '20 threads of a native body are neither a part of a warp of 32 nor several warps'
refused "$cuda
//@ threads 32  x(t::0)
//@ compute
s = x(0);" 'this step is 0: steps are positive'
refused "$cuda
//@ threads 64  x(t)
//@ compute
s = x(0);" 'this subscript is 32 in thread 32 of 64, outside the size 32'
refused "${head/-> s: real/-> s: real[4]}
//@ threads 4
s(t) = x(t);
//@ body cuda
//@ threads 32  s(t%4)
//@ compute
s(0) = x(0);" 'the threads 0 and 4 of 32 both have component 0 of s'
refused "$cuda
//@ threads 32
//@ compute
s = x(0);
//@ threads 2
s = x(0);" "a native body has one '//@ threads' line"
refused "$cuda
//@ threads 32
//@ helpers sums
//@ compute
s = x(0);" "there is no '//@ common sums' above in this file"
refused "$cuda
//@ threads 32
//@ load y
x(0) = 0;" "a load line names an argument of 'f'"
refused "$cuda
//@ threads 32
//@ store s
to(0) = 1;" 'a scalar has no load or store routine'
refused "$plain
//@ body c
//@ threads 1
//@ load x
x(0) = from(0);" 'a body in C has no load and store routines'
refused "${head/-> s: real/-> s: real[32]}
//@ threads 32
s(t) = x(t);
//@ body cuda
//@ threads 32  s(t)
//@ store s
to(t) = s(t); __syncthreads();" "'__syncthreads' in a store routine"
refused "${head/kind map/kind reduce +}
//@ threads 1
s = x(0);
//@ body cuda
//@ threads 32
//@ compute
s = x(0);" 'a native body of a reduction or a nested function has one thread'
