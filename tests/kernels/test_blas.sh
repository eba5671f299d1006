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

# Operators of one's own: laws that do not hold are shown by an example, and functions of matrices combine by them too.
mkdir "$folder/laws"
cat > "$folder/laws/laws.kernel.c" <<'KERNEL'
//@ function  mean(a: real, b: real) -> c: real
//@ kind      map
//@ flops     2
//@ source    not associative
//@ identity
c = 0;
//@ threads   1
c = 0.5 * (a + b);

//@ function  last(a: real, b: real) -> c: real
//@ kind      map
//@ flops     2
//@ source    not commutative
//@ commutative
//@ identity
c = 0;
//@ threads   1
c = select(b != 0, b, a);

//@ function  plus(a: real, b: real) -> c: real
//@ kind      map
//@ flops     1
//@ source    another identity
//@ identity
c = 1;
//@ threads   1
c = a + b;
KERNEL
for name in mean last plus; do
    printf '//@ function %ss(a: real) -> c: real\n//@ kind reduce %s\n//@ flops 0\n//@ source a test\n//@ threads 1\nc = a;\n' \
        "$name" "$name" >> "$folder/laws/laws.kernel.c"
done
cat > "$folder/laws/nested.kernel.c" <<'KERNEL'
//@ function  best(A: real over i, j, place: real over j) -> r: real[2] over i
//@ kind      reduce greater_first
//@ flops     0
//@ source    r_i = (max_j A_ij, its first place)
//@ threads   1
r(0) = A;
r(1) = place;

//@ function  norms(A: real over i, j) -> r: real[2] over j
//@ kind      reduce add_scaled_squares
//@ flops     1
//@ source    r_j stands for sum_i A_ij^2
//@ threads   1
r(0) = abs(A);
r(1) = 1;
KERNEL
code=0
"$weft" test "$folder/laws" --device host --device emulated > "$folder/out" || code=$?
for law in "means *mean is not associative: a = " "lasts *last is not commutative: a = " \
    "pluss *plus changes a value by its identity: a = "; do
    grep -q "^WRONG *$law" "$folder/out" || { cat "$folder/out"; exit 1; }
done
grep -q "^8 functions, 10 granularities run, 3 wrong" "$folder/out" && [ "$code" -eq 1 ] || { cat "$folder/out"; exit 1; }
rm -r "$folder/laws"

sed -i 's/= 11$/= 12/' "$folder/nested.kernel.c"
code=0
"$weft" test "$folder" --device host > "$folder/out" || code=$?
if [ "$code" -ne 1 ] || ! grep -q "^WRONG *row_least" "$folder/out" || ! grep -q "11, but the example says 12" "$folder/out"; then
    cat "$folder/out"
    exit 1
fi
