// BLAS level 2: matrix-vector functions, over the rows i and columns j of a matrix.

//@ function  gemv(A: real over i, j, x: real over j) -> y: real over i
//@ kind      reduce +
//@ flops     2
//@ source    y_i = sum_j A_ij x_j; Lawson et al. 1979 and Dongarra et al. 1988, BLAS: GEMV
//@ threads   1
y = A * x;

//@ function  gemtv(A: real over i, j, x: real over i) -> y: real over j
//@ kind      reduce +
//@ flops     2
//@ source    y_j = sum_i A_ij x_i; Dongarra et al. 1988, BLAS: GEMV with TRANS = T
//@ threads   1
y = A * x;

//@ function  ger(A: real over i, j, x: real over i, y: real over j) -> B: real over i, j
//@ kind      map
//@ flops     2
//@ source    B_ij = A_ij + x_i y_j; Dongarra et al. 1988, BLAS: GER
//@ threads   1
B = A + x * y;
