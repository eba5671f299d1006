// Products of small dense matrices and vectors, row by row in memory.

//@ function  mmul(A: real[m,k], B: real[k,n]) -> C: real[m,n]
//@ kind      map
//@ flops     (2*k - 1)*m*n
//@ product   A*B
//@ source    Golub and Van Loan 2013, Matrix Computations, section 1.1
//@ identity
for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
        C(i,j) = select(i == j, 1, 0);
//@ threads   1
for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
        real s = A(i,0) * B(0,j);
        for (int l = 1; l < k; ++l)
            s += A(i,l) * B(l,j);
        C(i,j) = s;
    }
//@ threads   m   A(t,:) B(:,:) C(t,:)
for (int j = 0; j < n; ++j) {
    real s = A(t,0) * B(0,j);
    for (int l = 1; l < k; ++l)
        s += A(t,l) * B(l,j);
    C(t,j) = s;
}
//@ threads   m*n   A(t/n,:) B(:,t%n) C(t/n,t%n)
int i = t / n, j = t % n;
real s = A(i,0) * B(0,j);
for (int l = 1; l < k; ++l)
    s += A(i,l) * B(l,j);
C(i,j) = s;

//@ function  row_blocks(c: real[q], M: real[d,d], B: real[d*q,n]) -> Y: real[d*q,n]
//@ kind      map
//@ flops     (2*d + 1)*d*q*n
//@ source    Y = (diag(c) x M) B by Kronecker's product: each d rows of B, at a quadrature point, times c M
//@ threads   1
for (int p = 0; p < q; ++p)
    for (int a = 0; a < d; ++a)
        for (int j = 0; j < n; ++j) {
            real s = M(a,0) * B(p * d,j);
            for (int b = 1; b < d; ++b)
                s += M(a,b) * B(p * d + b,j);
            Y(p * d + a,j) = c(p) * s;
        }
//@ threads   d*q*n   c(t/(d*n)) M(t/n%d,:) B(:,t%n) Y(t/n,t%n)
int p = t / (d * n), a = t / n % d, j = t % n;
real s = M(a,0) * B(p * d,j);
for (int b = 1; b < d; ++b)
    s += M(a,b) * B(p * d + b,j);
Y(t / n,j) = c(p) * s;

//@ function  mvmul(A: real[m,n], x: real[n]) -> y: real[m]
//@ kind      map
//@ flops     (2*n - 1)*m
//@ source    Golub and Van Loan 2013, Matrix Computations, section 1.1
//@ threads   1
for (int i = 0; i < m; ++i) {
    real s = A(i,0) * x(0);
    for (int j = 1; j < n; ++j)
        s += A(i,j) * x(j);
    y(i) = s;
}
//@ threads   m   A(t,:) x(:) y(t)
real s = A(t,0) * x(0);
for (int j = 1; j < n; ++j)
    s += A(t,j) * x(j);
y(t) = s;

//@ function  dot(x: real[n], y: real[n]) -> s: real
//@ kind      map
//@ flops     2*n - 1
//@ source    Golub and Van Loan 2013, Matrix Computations, section 1.1
//@ threads   1
real a = x(0) * y(0);
for (int i = 1; i < n; ++i)
    a += x(i) * y(i);
s = a;

//@ function  outer(x: real[m], y: real[n]) -> A: real[m,n]
//@ kind      map
//@ flops     m*n
//@ source    Golub and Van Loan 2013, Matrix Computations, section 1.1
//@ threads   1
for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
        A(i,j) = x(i) * y(j);
//@ threads   m   x(t) y(:) A(t,:)
for (int j = 0; j < n; ++j)
    A(t,j) = x(t) * y(j);
//@ threads   m*n   x(t/n) y(t%n) A(t/n,t%n)
A(t / n,t % n) = x(t / n) * y(t % n);
