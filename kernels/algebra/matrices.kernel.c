// What is asked of one small square or rectangular matrix.

//@ function  transpose(A: real[m,n]) -> B: real[n,m]
//@ kind      map
//@ flops     0
//@ source    Golub and Van Loan 2013, Matrix Computations, section 1.1
//@ threads   1
for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
        B(j,i) = A(i,j);
//@ threads   m   A(t,:) B(:,t)
for (int j = 0; j < n; ++j)
    B(j,t) = A(t,j);
//@ threads   m*n   A(t%m,t/m) B(t/m,t%m)
B(t / m,t % m) = A(t % m,t / m);

//@ function  submatrix(A: real[k,l]) -> B: real[m,n]
//@ kind      map
//@ parameter m
//@ parameter n
//@ parameter row = 0
//@ parameter column = 0
//@ flops     0
//@ source    B = A(row : row + m, column : column + n): Golub and Van Loan 2013, Matrix Computations, section 1.3
//@ where     row >= 0
//@ where     column >= 0
//@ where     row + m <= k
//@ where     column + n <= l
//@ example   submatrix([[1,2,3],[4,5,6]], m = 1, n = 2, row = 1, column = 1) = [[5,6]]
//@ threads   1
for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
        B(i,j) = A(row + i,column + j);
//@ threads   m   A(row+t,:) B(t,:)
for (int j = 0; j < n; ++j)
    B(t,j) = A(row + t,column + j);
//@ threads   m*n   A(row+t/n,column+t%n) B(t/n,t%n)
B(t / n,t % n) = A(row + t / n,column + t % n);

//@ function  subvector(x: real[k]) -> y: real[n]
//@ kind      map
//@ parameter n
//@ parameter first = 0
//@ flops     0
//@ source    y = x(first : first + n): Golub and Van Loan 2013, Matrix Computations, section 1.3
//@ where     first >= 0
//@ where     first + n <= k
//@ example   subvector([1,2,3], n = 2, first = 1) = [2,3]
//@ threads   1
for (int i = 0; i < n; ++i)
    y(i) = x(first + i);
//@ threads   n   x(first+t) y(t)
y(t) = x(first + t);

//@ function  diagonal(A: real[n,n]) -> x: real[n]
//@ kind      map
//@ flops     0
//@ source    Golub and Van Loan 2013, Matrix Computations, section 1.2
//@ threads   1
for (int i = 0; i < n; ++i)
    x(i) = A(i,i);
//@ threads   n   A(t,t) x(t)
x(t) = A(t,t);

//@ function  skew_square(A: real[n,n]) -> s: real
//@ kind      map
//@ flops     3*n*n
//@ source    the squared Frobenius norm of A - A^T: Golub and Van Loan 2013, Matrix Computations, section 2.3
//@ example   skew_square([[1,2],[5,4]]) = 18
//@ threads   1
s = 0;
for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
        s += (A(i,j) - A(j,i)) * (A(i,j) - A(j,i));

//@ function  equilibrate(A: real[n,n], g: real[n]) -> B: real[n,n]
//@ kind      map
//@ flops     8*n*n
//@ source    entry i,j over sqrt(R_i R_j), R_i the largest size in the rows and columns of i's group, those with the same
//@ source    whole number g: units of groups drop out. Van der Sluis 1969, Condition numbers and equilibration of matrices
//@ example   equilibrate([[4,2],[0,0]], [0,1]) = [[1,0.70710678118654757],[0,0]]
//@ threads   1
real r[n], R[n];
for (int i = 0; i < n; ++i) {
    r[i] = 0;
    for (int j = 0; j < n; ++j)
        r[i] = max(r[i], max(abs(A(i,j)), abs(A(j,i))));
}
for (int i = 0; i < n; ++i) {
    real most = 0;
    for (int j = 0; j < n; ++j)
        most = max(most, r[j] * max(1 - abs(g(j) - g(i)), 0));
    R[i] = sqrt(max(most, 1e-300));
}
for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
        B(i,j) = A(i,j) / R[i] / R[j];

//@ function  trace(A: real[n,n]) -> s: real
//@ kind      map
//@ flops     n - 1
//@ source    Golub and Van Loan 2013, Matrix Computations, section 2.1
//@ threads   1
real a = A(0,0);
for (int i = 1; i < n; ++i)
    a += A(i,i);
s = a;

//@ function  det(A: real[n,n]) -> s: real
//@ kind      map
//@ flops     select(n <= 2, 3*(n-1), 2*n*n*n/3 + n)
//@ source    from n = 3 on elimination with partial pivoting, rows exchanged by select: Golub and Van Loan 2013, Matrix
//@ source    Computations, sections 2.1 and 3.4. Expanding by cofactors would err by eps cond^2 where one singular value is
//@ source    much larger than the others
//@ unroll
//@ threads   1
if (n == 1)
    s = A(0,0);
if (n == 2)
    s = A(0,0) * A(1,1) - A(0,1) * A(1,0);
if (n > 2) {
    real W[n][n];
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            W[i][j] = A(i,j);
    real product = 1;
    for (int k = 0; k < n; ++k) {
        for (int i = k + 1; i < n; ++i) {
            real swap = select(abs(W[i][k]) > abs(W[k][k]), 1, 0);
            for (int j = k; j < n; ++j) {
                real a = W[k][j], b = W[i][j];
                W[k][j] = select(swap > 0, b, a);
                W[i][j] = select(swap > 0, a, b);
            }
            product = select(swap > 0, -product, product);
        }
        product *= W[k][k];
        real r = 1.0 / select(W[k][k] == 0, 1, W[k][k]);   // all is zero below a zero pivot
        for (int i = k + 1; i < n; ++i) {
            real f = W[i][k] * r;
            for (int j = k + 1; j < n; ++j)
                W[i][j] -= f * W[k][j];
        }
    }
    s = product;
}

//@ function  inverse(A: real[n,n]) -> B: real[n,n]
//@ kind      map
//@ flops     select(n <= 2, 1 + 7*(n-1), 8*n*n*n/3)
//@ source    adjugate over determinant up to n = 2: Golub and Van Loan 2013, Matrix Computations, section 2.1
//@ source    then elimination with partial pivoting, for cofactors err by eps cond^2 (see det): section 3.4
//@ unroll
//@ threads   1
if (n == 1)
    B(0,0) = 1.0 / A(0,0);
if (n == 2) {
    real r = 1.0 / (A(0,0) * A(1,1) - A(0,1) * A(1,0));
    B(0,0) = A(1,1) * r;
    B(0,1) = -A(0,1) * r;
    B(1,0) = -A(1,0) * r;
    B(1,1) = A(0,0) * r;
}
if (n > 2) {
    int columns = 2 * n;
    real W[n][2 * n];
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            W[i][j] = A(i,j);
            W[i][n + j] = select(i == j, 1, 0);
        }
    use elimination;
    for (int k = n - 1; k >= 0; --k)
        for (int j = 0; j < n; ++j) {
            B(k,j) = W[k][n + j] / W[k][k];
            for (int i = 0; i < k; ++i)
                W[i][n + j] -= W[i][k] * B(k,j);
        }
}
//@ threads   n   A(:,t) B(:,t)
// Each thread has a column of A and of the unit matrix. Column k of B has the multipliers of step k, and the row that was
// exchanged; then that of U; then that of the inverse.
real w[n], v[n];
for (int i = 0; i < n; ++i) {
    w[i] = A(i,t);
    v[i] = select(i == t, 1, 0);
}
for (int k = 0; k < n; ++k) {
    if (t == k) {
        use column_pivot;
        use column_exchange;
        B(k,k) = p;
        for (int i = k + 1; i < n; ++i)
            B(i,k) = w[i] / w[k];
    }
    barrier;
    real p = B(k,k), right = v[k];
    for (int i = k + 1; i < n; ++i) {
        v[k] = select(p == i, v[i], v[k]);
        v[i] = select(p == i, right, v[i]);
    }
    for (int i = k + 1; i < n; ++i)
        v[i] -= B(i,k) * v[k];
    if (t > k) {
        use column_exchange;
        for (int i = k + 1; i < n; ++i)
            w[i] -= B(i,k) * w[k];
    }
}
barrier;
for (int i = 0; i < n; ++i)
    if (i <= t)
        B(i,t) = w[i];
barrier;
for (int k = n - 1; k >= 0; --k) {
    v[k] /= B(k,k);
    for (int i = 0; i < k; ++i)
        v[i] -= B(i,k) * v[k];
}
barrier;
for (int i = 0; i < n; ++i)
    B(i,t) = v[i];
