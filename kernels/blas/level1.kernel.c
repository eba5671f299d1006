// BLAS level 1: functions of vectors. dot is in kernels/reductions; arithmetic on lists says the others: alpha*x is
// scal, c*x + s*y and c*y - s*x are rot.

//@ function  axpy(alpha: real, x: real, y: real) -> z: real
//@ kind      map
//@ flops     2
//@ source    z = alpha x + y; Lawson, Hanson, Kincaid and Krogh 1979, BLAS: SAXPY
//@ example   axpy(2, 3, 4) = 10
//@ threads   1
z = alpha * x + y;

//@ function  axpby(alpha: real, x: real, beta: real, y: real) -> z: real
//@ kind      map
//@ flops     3
//@ source    z = alpha x + beta y; Blackford et al. 2002, updated BLAS: WAXPBY
//@ example   axpby(2, 3, -1, 4) = 2
//@ threads   1
z = alpha * x + beta * y;

//@ function  asum(x: real) -> s: real
//@ kind      reduce +
//@ flops     2
//@ source    s = sum_i |x_i|; Lawson, Hanson, Kincaid and Krogh 1979, BLAS: SASUM
//@ example   asum(-3) = 3
//@ threads   1
s = abs(x);

//@ function  amax(x: real) -> m: real
//@ kind      reduce max
//@ flops     2
//@ source    m = max_i |x_i|, the value that BLAS's ISAMAX finds
//@ example   amax(-3) = 3
//@ threads   1
m = abs(x);

//@ function  nrm2_squared(x: real) -> s: real
//@ kind      reduce +
//@ flops     2
//@ source    s = sum_i x_i^2, the square of BLAS's SNRM2 without its scaling
//@ example   nrm2_squared(-3) = 9
//@ threads   1
s = x * x;
