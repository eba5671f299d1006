// Matrices of blocks: n nodes with c components each, row i*c + k for component k of node i; vectors of them as
// real[n,c], a node a row.

//@ function  block_mvmul(K: real[n*c,n*c], X: real[n,c]) -> Y: real[n,c]
//@ kind      map
//@ flops     (2*n*c - 1)*n*c
//@ source    Y(i,k) = sum_jl K(i*c + k, j*c + l) X(j,l)
//@ source    Golub and Van Loan 2013, Matrix Computations, section 1.3
//@ example   block_mvmul([[1,2],[3,4]], [[5,6]]) = [[17,39]]
//@ threads   1
for (int i = 0; i < n; ++i)
    for (int k = 0; k < c; ++k) {
        real s = K(i * c + k,0) * X(0,0);
        for (int l = 1; l < c; ++l)
            s += K(i * c + k,l) * X(0,l);
        for (int j = 1; j < n; ++j)
            for (int l = 0; l < c; ++l)
                s += K(i * c + k,j * c + l) * X(j,l);
        Y(i,k) = s;
    }
//@ threads   n*c   K(t,:) X(:,:) Y(t/c,t%c)
real s = K(t,0) * X(0,0);
for (int l = 1; l < c; ++l)
    s += K(t,l) * X(0,l);
for (int j = 1; j < n; ++j)
    for (int l = 0; l < c; ++l)
        s += K(t,j * c + l) * X(j,l);
Y(t / c,t % c) = s;

//@ function  block_diagonal(K: real[m,m]) -> D: real[n,c]
//@ kind      map
//@ parameter n
//@ parameter c
//@ flops     0
//@ source    D(i,k) = K(i*c + k, i*c + k)
//@ source    Golub and Van Loan 2013, Matrix Computations, section 1.2
//@ where     m == n*c
//@ example   block_diagonal([[1,2],[3,4]], n = 1, c = 2) = [[1,4]]
//@ threads   1
for (int i = 0; i < n; ++i)
    for (int k = 0; k < c; ++k)
        D(i,k) = K(i * c + k,i * c + k);
//@ threads   n   K(:,:) D(t,:)
for (int k = 0; k < c; ++k)
    D(t,k) = K(t * c + k,t * c + k);

//@ function  coupling_square(K: real[m,m]) -> s: real
//@ kind      map
//@ parameter c
//@ flops     2*m*m
//@ source    the sum of squares of entries between different components, K(i*c + k, j*c + l) with k /= l
//@ where     c >= 1
//@ example   coupling_square([[1,2],[3,4]], c = 2) = 13
//@ threads   1
s = 0;
for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j)
        if (i % c != j % c)
            s += K(i,j) * K(i,j);

//@ function  component_matrix(M: real[n,n]) -> K: real[n*c,n*c]
//@ kind      map
//@ parameter c
//@ parameter k
//@ flops     0
//@ source    M for component k of c, zero for the others: K(i*c + k, j*c + k) = M(i,j)
//@ where     k >= 0
//@ where     k < c
//@ example   component_matrix([[7]], c = 2, k = 1) = [[0,0],[0,7]]
//@ threads   1
for (int i = 0; i < n * c; ++i)
    for (int j = 0; j < n * c; ++j) {
        if (i % c == k && j % c == k)
            K(i,j) = M(i / c,j / c);
        else
            K(i,j) = 0;
    }

//@ function  component_vector(b: real[n]) -> B: real[n,c]
//@ kind      map
//@ parameter c
//@ parameter k
//@ flops     0
//@ source    b for component k of c, zero for the others: B(i,k) = b(i)
//@ where     k >= 0
//@ where     k < c
//@ example   component_vector([3,4], c = 2, k = 0) = [[3,0],[4,0]]
//@ threads   1
for (int i = 0; i < n; ++i)
    for (int l = 0; l < c; ++l) {
        if (l == k)
            B(i,l) = b(i);
        else
            B(i,l) = 0;
    }

//@ function  inner(A: real[m,n], B: real[m,n]) -> s: real
//@ kind      map
//@ flops     2*m*n - 1
//@ source    A : B = sum_ij A(i,j) B(i,j)
//@ source    Golub and Van Loan 2013, Matrix Computations, section 2.3
//@ example   inner([[1,2],[3,4]], [[5,6],[7,8]]) = 70
//@ threads   1
real a = A(0,0) * B(0,0);
for (int j = 1; j < n; ++j)
    a += A(0,j) * B(0,j);
for (int i = 1; i < m; ++i)
    for (int j = 0; j < n; ++j)
        a += A(i,j) * B(i,j);
s = a;
