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
//@ flops     select(n <= 3, 3*(n-1) + 4*(n-1)*(n-2), 2*n*n*n/3)
//@ source    by the first row up to n = 3: Golub and Van Loan 2013, Matrix Computations, section 2.1
//@ source    then elimination with partial pivoting, rows exchanged by select: section 3.4
//@ threads   1
if (n == 1)
    s = A(0,0);
if (n == 2)
    s = A(0,0) * A(1,1) - A(0,1) * A(1,0);
if (n == 3)
    s = A(0,0) * (A(1,1) * A(2,2) - A(1,2) * A(2,1)) + A(0,1) * (A(1,2) * A(2,0) - A(1,0) * A(2,2))
      + A(0,2) * (A(1,0) * A(2,1) - A(1,1) * A(2,0));
if (n > 3) {
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
//@ flops     select(n <= 3, 1 + 7*(n-1) + 27*(n-1)*(n-2)/2, 2*n*n*n)
//@ source    adjugate over determinant up to n = 3: Golub and Van Loan 2013, Matrix Computations, section 2.1
//@ source    then Gauss-Jordan with partial pivoting, rows exchanged by select: section 3.4
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
if (n == 3) {
    real c[3][3];   // cofactors
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            c[i][j] = A((i + 1) % 3,(j + 1) % 3) * A((i + 2) % 3,(j + 2) % 3)
                    - A((i + 1) % 3,(j + 2) % 3) * A((i + 2) % 3,(j + 1) % 3);
    real r = 1.0 / (A(0,0) * c[0][0] + A(0,1) * c[0][1] + A(0,2) * c[0][2]);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            B(i,j) = c[j][i] * r;
}
if (n > 3) {
    real W[n][n], V[n][n];
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            W[i][j] = A(i,j);
            V[i][j] = select(i == j, 1, 0);
        }
    for (int k = 0; k < n; ++k) {
        for (int i = k + 1; i < n; ++i) {
            real swap = select(abs(W[i][k]) > abs(W[k][k]), 1, 0);
            for (int j = 0; j < n; ++j) {
                real a = W[k][j], b = W[i][j], c = V[k][j], d = V[i][j];
                W[k][j] = select(swap > 0, b, a);
                W[i][j] = select(swap > 0, a, b);
                V[k][j] = select(swap > 0, d, c);
                V[i][j] = select(swap > 0, c, d);
            }
        }
        real r = 1.0 / W[k][k];
        for (int j = 0; j < n; ++j) {
            W[k][j] *= r;
            V[k][j] *= r;
        }
        for (int i = 0; i < n; ++i)
            if (i != k) {
                real f = W[i][k];
                for (int j = 0; j < n; ++j) {
                    W[i][j] -= f * W[k][j];
                    V[i][j] -= f * V[k][j];
                }
            }
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            B(i,j) = V[i][j];
}
