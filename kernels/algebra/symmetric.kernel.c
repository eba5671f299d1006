// Symmetric matrices as their upper triangles, row by row: n*(n+1)/2 entries in place of n*n.

//@ function  upper(K: real[n,n]) -> S: real[n*(n+1)/2]
//@ kind      map
//@ flops     0
//@ source    LAPACK, packed storage; here by rows: S = (K00, K01, ..., K0n, K11, ...)
//@ threads   1
for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j)
        S(i * n - i * (i + 1) / 2 + j) = K(i,j);

//@ function  symmetric_mvmul(S: real[m], x: real[n]) -> y: real[n]
//@ kind      map
//@ flops     (2*n - 1)*n
//@ source    BLAS level 2, dspmv; Golub and Van Loan 2013, section 1.2.8
//@ where     2*m == n*(n+1)
//@ threads   1
for (int i = 0; i < n; ++i) {
    real s = S(i * n - i * (i + 1) / 2 + i) * x(i);
    for (int j = 0; j < i; ++j)
        s += S(j * n - j * (j + 1) / 2 + i) * x(j);
    for (int j = i + 1; j < n; ++j)
        s += S(i * n - i * (i + 1) / 2 + j) * x(j);
    y(i) = s;
}
