// Steps of a sum of n numbers by n threads (Dey 2020, "Recap Reduction"; after Harris 2007, "Optimizing
// parallel reduction in CUDA"). A call is one level of the tree; the planner puts the barriers between.

//@ function  pairs_interleaved(x: real[n]) -> y: real[n]
//@ kind      map
//@ parameter s
//@ flops     n
//@ source    reduction 1: y(t) = x(t) + x(t + s) in every (2 s)-th thread, so that each warp diverges
//@ where     s >= 1
//@ where     2*s <= n
//@ example   pairs_interleaved([1,2,4,8], s = 1) = [3,0,12,0]
//@ example   pairs_interleaved([3,0,12,0], s = 2) = [15,0,0,0]
//@ threads   1
for (int i = 0; i < n; ++i) {
    if (i % (2 * s) == 0 && i + s < n)
        y(i) = x(i) + x(i + s);
    else
        y(i) = 0;
}
//@ threads   n   x(:) y(t)
if (t % (2 * s) == 0 && t + s < n)
    y(t) = x(t) + x(t + s);
else
    y(t) = 0;

//@ function  pairs_adjacent(x: real[n]) -> y: real[n]
//@ kind      map
//@ parameter m
//@ flops     n
//@ source    reduction 2: y(t) = x(2 t) + x(2 t + 1) in the first m threads, with bank conflicts of two
//@ where     m >= 1
//@ where     2*m <= n
//@ example   pairs_adjacent([1,2,4,8], m = 2) = [3,12,0,0]
//@ example   pairs_adjacent([3,12,0,0], m = 1) = [15,0,0,0]
//@ threads   1
for (int i = 0; i < n; ++i) {
    if (i < m)
        y(i) = x(2 * i) + x(2 * i + 1);
    else
        y(i) = 0;
}
//@ threads   n   x(:) y(t)
if (t < m)
    y(t) = x(2 * t) + x(2 * t + 1);
else
    y(t) = 0;

//@ function  halves(x: real[n]) -> y: real[n]
//@ kind      map
//@ parameter m
//@ flops     n
//@ source    reductions 3 and 4: y(t) = x(t) + x(t + m) in the first m threads
//@ where     m >= 1
//@ where     2*m <= n
//@ example   halves([1,2,4,8], m = 2) = [5,10,0,0]
//@ example   halves([5,10,0,0], m = 1) = [15,0,0,0]
//@ threads   1
for (int i = 0; i < n; ++i) {
    if (i < m)
        y(i) = x(i) + x(i + m);
    else
        y(i) = 0;
}
//@ threads   n   x(:) y(t)
if (t < m)
    y(t) = x(t) + x(t + m);
else
    y(t) = 0;

//@ function  fold(x: real[n]) -> y: real[m]
//@ kind      map
//@ parameter m
//@ flops     n - m
//@ source    reductions 5 to 7: y(t) = x(t) + x(t + m) + x(t + 2 m) + ...; a call of at most 32
//@ source    threads waits for its warp alone
//@ where     n % m == 0
//@ example   fold([1,2,4,8], m = 2) = [5,10]
//@ example   fold([1,2,4,8], m = 1) = [15]
//@ threads   1
for (int i = 0; i < m; ++i) {
    real sum = x(i);
    for (int k = 1; k < n / m; ++k)
        sum += x(i + k * m);
    y(i) = sum;
}
//@ threads   m   x(:) y(t)
real sum = x(t);
for (int k = 1; k < n / m; ++k)
    sum += x(t + k * m);
y(t) = sum;

//@ function  row_sum(x: real[c,n]) -> y: real[n]
//@ kind      map
//@ flops     (c-1)*n
//@ source    reductions 4 to 7: a thread adds c numbers while it loads them
//@ example   row_sum([[1,2],[4,8]]) = [5,10]
//@ threads   1
for (int i = 0; i < n; ++i) {
    real sum = x(0, i);
    for (int k = 1; k < c; ++k)
        sum += x(k, i);
    y(i) = sum;
}
//@ threads   n   x(:,t) y(t)
real sum = x(0, t);
for (int k = 1; k < c; ++k)
    sum += x(k, t);
y(t) = sum;

//@ function  first(x: real[n]) -> y: real
//@ kind      map
//@ flops     0
//@ source    the sum is the first component of what reductions 1 to 4 leave
//@ example   first([15,0,0,0]) = 15
//@ threads   1
y = x(0);

// Transposition of a matrix of n x n tiles (Dey 2020, "Simple Matrix Transpose").

//@ function  tile_transpose(X: real[1,n,n]) -> Y: real[n,n]
//@ kind      map
//@ flops     0
//@ source    Y = X^T; neighbouring threads read a column, which is in one bank of shared memory
//@ example   tile_transpose([[[1,2],[3,4]]]) = [[1,3],[2,4]]
//@ threads   1
for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
        Y(i, j) = X(0, j, i);
//@ threads   n*n   X(:,:,:) Y(t/n,t%n)
Y(t / n, t % n) = X(0, t % n, t / n);

//@ function  tile_skew(X: real[1,n,n]) -> S: real[n,n]
//@ kind      map
//@ flops     0
//@ source    each row moved on by its number, so that neighbouring threads read and write all banks
//@ example   tile_skew([[[1,2],[3,4]]]) = [[1,2],[4,3]]
//@ threads   1
for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
        S(i, (i + j) % n) = X(0, i, j);
//@ threads   n*n   X(:,t/n,t%n) S(t/n,(t/n+t%n)%n)
S(t / n, (t / n + t % n) % n) = X(0, t / n, t % n);

//@ function  unskew_transposed(S: real[n,n]) -> Y: real[n,n]
//@ kind      map
//@ flops     0
//@ source    Y = X^T of S = tile_skew(X)
//@ example   unskew_transposed([[1,2],[4,3]]) = [[1,3],[2,4]]
//@ threads   1
for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
        Y(i, j) = S(j, (i + j) % n);
//@ threads   n*n   S(:,:) Y(t/n,t%n)
Y(t / n, t % n) = S(t % n, (t / n + t % n) % n);
