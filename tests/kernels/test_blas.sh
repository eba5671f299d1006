#!/usr/bin/env bash
# labels: quick
# Every function of kernels/blas, nested ones too, agrees with its body as plain C and with its examples, on
# the host and as GPU code; wrong examples and functions of a matrix that give something else are found.
set -euo pipefail
weft=${WEFT_BUILD:?}/weft
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$weft" test "$WEFT_SOURCE/kernels/blas" --device host --device host:1 --device emulated > "$folder/out" ||
    { cat "$folder/out"; exit 1; }
functions=$(cat "$WEFT_SOURCE"/kernels/blas/*.kernel.c | grep -c '^//@ function')
grep -q "^$functions functions, $((3 * functions)) granularities run, 0 wrong" "$folder/out"
for name in $(sed -n 's/^\/\/@ function *\([a-z0-9_]*\)(.*/\1/p' "$WEFT_SOURCE"/kernels/blas/*.kernel.c); do
    grep -q "^ok *$name .* emulated " "$folder/out"
    # a definition by numbers that does not come from the body
    grep -q "^//@ example *$name(" "$WEFT_SOURCE"/kernels/blas/*.kernel.c
done

# Reductions over rows, columns and both, of every operator, with vectors as elements.
cat > "$folder/nested.kernel.c" <<'KERNEL'
//@ function  row_least(A: real[n] over i, j, x: real[n] over j) -> y: real over i
//@ kind      reduce min
//@ flops     2*n
//@ source    y_i = min_j A_ij . x_j
//@ example   row_least([1, 2], [3, 4]) = 11
//@ threads   1
y = A(0) * x(0);
for (int k = 1; k < n; ++k)
    y += A(k) * x(k);

//@ function  column_greatest(A: real over i, j, x: real over i, s: real) -> y: real over j
//@ kind      reduce max
//@ flops     2
//@ source    y_j = max_i s A_ij x_i
//@ example   column_greatest(2, 3, 4) = 24
//@ threads   1
y = s * A * x;

//@ function  all(A: real over i, j, x: real over i, y: real over j) -> s: real
//@ kind      reduce +
//@ flops     3
//@ source    s = x^T A y
//@ example   all(2, 3, 4) = 24
//@ threads   1
s = x * A * y;
KERNEL
"$weft" test "$folder" --device host --device emulated > "$folder/out" || { cat "$folder/out"; exit 1; }
grep -q "^3 functions, 6 granularities run, 0 wrong" "$folder/out"

sed -i 's/= 11$/= 12/' "$folder/nested.kernel.c"
code=0
"$weft" test "$folder" --device host > "$folder/out" || code=$?
if [ "$code" -ne 1 ] || ! grep -q "^WRONG *row_least" "$folder/out" || ! grep -q "11, but the example says 12" "$folder/out"; then
    cat "$folder/out"
    exit 1
fi
