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
//@ threads   m*n   A(t/n,t%n) B(t%n,t/n)
B(t % n,t / n) = A(t / n,t % n);

//@ function  diagonal(A: real[n,n]) -> x: real[n]
//@ kind      map
//@ flops     0
//@ source    Golub and Van Loan 2013, Matrix Computations, section 1.2
//@ threads   1
for (int i = 0; i < n; ++i)
    x(i) = A(i,i);
//@ threads   n   A(t,t) x(t)
x(t) = A(t,t);

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
//@ flops     3*(n-1) + 4*(n-1)*(n-2)
//@ source    expansion by the first row; Golub and Van Loan 2013, Matrix Computations, section 2.1
//@ where     n <= 3
//@ threads   1
if (n == 1)
    s = A(0,0);
if (n == 2)
    s = A(0,0) * A(1,1) - A(0,1) * A(1,0);
if (n == 3)
    s = A(0,0) * (A(1,1) * A(2,2) - A(1,2) * A(2,1)) + A(0,1) * (A(1,2) * A(2,0) - A(1,0) * A(2,2))
      + A(0,2) * (A(1,0) * A(2,1) - A(1,1) * A(2,0));

//@ function  inverse(A: real[n,n]) -> B: real[n,n]
//@ kind      map
//@ flops     1 + 7*(n-1) + 27*(n-1)*(n-2)/2
//@ source    adjugate over determinant; Golub and Van Loan 2013, Matrix Computations, section 2.1
//@ where     n <= 3
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
