// BLAS level 2: matrix-vector functions, over the rows i and columns j of a matrix.

//@ function  gemv(A: real over i, j, x: real over j) -> y: real over i
//@ kind      reduce +
//@ flops     2
//@ source    y_i = sum_j A_ij x_j; Lawson et al. 1979 and Dongarra et al. 1988, BLAS: GEMV
//@ example   gemv(2, 3) = 6
//@ threads   1
y = A * x;

//@ function  gemtv(A: real over i, j, x: real over i) -> y: real over j
//@ kind      reduce +
//@ flops     2
//@ source    y_j = sum_i A_ij x_i; Dongarra et al. 1988, BLAS: GEMV with TRANS = T
//@ example   gemtv(2, 3) = 6
//@ threads   1
y = A * x;

//@ function  ger(A: real over i, j, x: real over i, y: real over j) -> B: real over i, j
//@ kind      map
//@ flops     2
//@ source    B_ij = A_ij + x_i y_j; Dongarra et al. 1988, BLAS: GER
//@ example   ger(1, 2, 3) = 7
//@ threads   1
B = A + x * y;

//@ function  ger2(A: real over i, j, x1: real over i, y1: real over j, x2: real over i, y2: real over j) -> B: real over i, j
//@ kind      map
//@ flops     4
//@ source    B_ij = A_ij + x1_i y1_j + x2_i y2_j; Blackford et al. 2002, updated BLAS: GEMVER
//@ example   ger2(1, 2, 3, 4, 5) = 27
//@ threads   1
B = A + x1 * y1 + x2 * y2;
