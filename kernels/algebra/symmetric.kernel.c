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

//@ function  principal_values(S: real[n,n]) -> p: real[n]
//@ kind      map
//@ flops     select(n == 2, 12, 260)
//@ source    the eigenvalues of the upper triangle of a symmetric matrix, the greatest first: in closed form for
//@ source    n = 2, by five sweeps of Jacobi rotations for n = 3; Golub and Van Loan 2013, section 8.5
//@ where     n <= 3
//@ where     n >= 2
//@ example   principal_values([[2,1],[1,2]]) = [3,1]
//@ example   principal_values([[2,1,0],[1,2,0],[0,0,5]]) = [5,3,1]
//@ example   principal_values([[4,0,0],[0,4,0],[0,0,4]]) = [4,4,4]
//@ threads   1
if (n == 2) {
    real m = 0.5 * (S(0,0) + S(1,1)), h = hypot(0.5 * (S(0,0) - S(1,1)), S(0,1));
    p(0) = m + h;
    p(1) = m - h;
}
if (n == 3) {
    real W[3][3];
    for (int i = 0; i < 3; ++i)
        for (int j = i; j < 3; ++j) {
            W[i][j] = S(i,j);
            W[j][i] = S(i,j);
        }
    for (int sweep = 0; sweep < 5; ++sweep)
        for (int i = 0; i < 2; ++i)
            for (int j = i + 1; j < 3; ++j) {
                // g = tan of the angle that makes W_ij zero, |g| <= 1
                real a = W[i][j], b = W[j][j] - W[i][i];
                real q = abs(b) + hypot(b, 2.0 * a);
                real g = select(q > 0, select(b < 0, -2.0, 2.0) * a / select(q > 0, q, 1.0), 0.0);
                real c = 1.0 / sqrt(1.0 + g * g), s = g * c;
                W[i][i] = W[i][i] - g * a;
                W[j][j] = W[j][j] + g * a;
                W[i][j] = 0;
                W[j][i] = 0;
                real u = W[i][3 - i - j], v = W[j][3 - i - j];
                W[i][3 - i - j] = c * u - s * v;
                W[3 - i - j][i] = W[i][3 - i - j];
                W[j][3 - i - j] = s * u + c * v;
                W[3 - i - j][j] = W[j][3 - i - j];
            }
    real most = max(W[0][0], max(W[1][1], W[2][2])), least = min(W[0][0], min(W[1][1], W[2][2]));
    p(0) = most;
    p(1) = max(min(W[0][0], W[1][1]), min(max(W[0][0], W[1][1]), W[2][2]));
    p(2) = least;
}
