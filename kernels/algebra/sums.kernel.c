// Sums and multiples, component by component.

//@ function  madd(A: real[m,n], B: real[m,n]) -> C: real[m,n]
//@ kind      map
//@ flops     m*n
//@ source    Golub and Van Loan 2013, Matrix Computations, section 1.1
//@ threads   1
for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
        C(i,j) = A(i,j) + B(i,j);
//@ threads   m   A(t,:) B(t,:) C(t,:)
for (int j = 0; j < n; ++j)
    C(t,j) = A(t,j) + B(t,j);
//@ threads   m*n   A(t/n,t%n) B(t/n,t%n) C(t/n,t%n)
C(t / n,t % n) = A(t / n,t % n) + B(t / n,t % n);

//@ function  smmul(A: real[m,n], s: real) -> C: real[m,n]
//@ kind      map
//@ flops     m*n
//@ source    Golub and Van Loan 2013, Matrix Computations, section 1.1
//@ threads   1
for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
        C(i,j) = A(i,j) * s;
//@ threads   m   A(t,:) s C(t,:)
for (int j = 0; j < n; ++j)
    C(t,j) = A(t,j) * s;
//@ threads   m*n   A(t/n,t%n) s C(t/n,t%n)
C(t / n,t % n) = A(t / n,t % n) * s;

//@ function  msub(A: real[m,n], B: real[m,n]) -> C: real[m,n]
//@ kind      map
//@ flops     m*n
//@ source    Golub and Van Loan 2013, Matrix Computations, section 1.1
//@ threads   1
for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
        C(i,j) = A(i,j) - B(i,j);
//@ threads   m   A(t,:) B(t,:) C(t,:)
for (int j = 0; j < n; ++j)
    C(t,j) = A(t,j) - B(t,j);
//@ threads   m*n   A(t/n,t%n) B(t/n,t%n) C(t/n,t%n)
C(t / n,t % n) = A(t / n,t % n) - B(t / n,t % n);

//@ function  vadd(x: real[n], y: real[n]) -> z: real[n]
//@ kind      map
//@ flops     n
//@ source    Golub and Van Loan 2013, Matrix Computations, section 1.1
//@ threads   1
for (int i = 0; i < n; ++i)
    z(i) = x(i) + y(i);
//@ threads   n   x(t) y(t) z(t)
z(t) = x(t) + y(t);

//@ function  vsub(x: real[n], y: real[n]) -> z: real[n]
//@ kind      map
//@ flops     n
//@ source    Golub and Van Loan 2013, Matrix Computations, section 1.1
//@ threads   1
for (int i = 0; i < n; ++i)
    z(i) = x(i) - y(i);
//@ threads   n   x(t) y(t) z(t)
z(t) = x(t) - y(t);

//@ function  svmul(x: real[n], s: real) -> y: real[n]
//@ kind      map
//@ flops     n
//@ source    Golub and Van Loan 2013, Matrix Computations, section 1.1
//@ threads   1
for (int i = 0; i < n; ++i)
    y(i) = x(i) * s;
//@ threads   n   x(t) s y(t)
y(t) = x(t) * s;
