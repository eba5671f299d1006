// Numbers made of a vector's components.

//@ function  norm2(x: real[n]) -> s: real
//@ kind      map
//@ flops     2*n
//@ source    Golub and Van Loan 2013, Matrix Computations, section 2.2
//@ threads   1
real a = x(0) * x(0);
for (int i = 1; i < n; ++i)
    a += x(i) * x(i);
s = sqrt(a);
