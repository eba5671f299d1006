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

//@ function  iamax(x: real over i) -> r: real[2]
//@ kind      reduce greater_first
//@ flops     1
//@ source    r = (max_i |x_i|, the first i that has it, from 0); Lawson et al. 1979, BLAS: ISAMAX
//@ example   iamax(-3) = [3, 0]
//@ threads   1
r(0) = abs(x);
r(1) = i;

// A sum of squares is scale^2 * squares with the largest magnitude as the scale, which neither overflows nor underflows.

//@ function  add_scaled_squares(a: real[2], b: real[2]) -> r: real[2]
//@ kind      map
//@ flops     16
//@ source    (s, q) stands for s^2 q; Lawson et al. 1979, BLAS: SNRM2, and LAPACK: SLASSQ
//@ example   add_scaled_squares([3, 1], [6, 1]) = [6, 1.25]
//@ commutative
//@ identity
r(0) = 0;
r(1) = 0;
//@ threads   1
real large = select(a(0) >= b(0), a(0), b(0));
real small = select(a(0) >= b(0), b(0), a(0));
real ratio = select(a(0) == b(0), 1, small / large);
r(0) = large;
r(1) = select(a(0) >= b(0), a(1), b(1)) + ratio * ratio * select(a(0) >= b(0), b(1), a(1));

//@ function  nrm2(x: real) -> r: real[2]
//@ kind      reduce add_scaled_squares
//@ flops     1
//@ source    sqrt(sum_i x_i^2) = r_0 sqrt(r_1), scaled; Lawson et al. 1979, BLAS: SNRM2
//@ example   nrm2(-3) = [3, 1]
//@ threads   1
r(0) = abs(x);
r(1) = 1;
