// Factorisations of small dense matrices, and linear systems. Where a matrix is singular, or not positive definite, an
// operation gives NaN or infinity, and with it every component of the solution.

//@ common    elimination
// The first n of `columns` columns of W are eliminated with partial pivoting: Golub and Van Loan 2013, section 3.4. U is left
// on and above the diagonal, the multipliers of step k below W_kk, where they arise; row pivots[k] was exchanged with row k.
real pivots[n];
for (int k = 0; k < n; ++k) {
    real p = k, most = abs(W[k][k]);
    for (int i = k + 1; i < n; ++i) {
        p = select(abs(W[i][k]) > most, i, p);
        most = max(most, abs(W[i][k]));
    }
    pivots[k] = p;
    for (int j = k; j < columns; ++j) {
        real old = W[k][j];
        for (int i = k + 1; i < n; ++i) {
            W[k][j] = select(p == i, W[i][j], W[k][j]);
            W[i][j] = select(p == i, old, W[i][j]);
        }
    }
    for (int i = k + 1; i < n; ++i) {
        W[i][k] /= W[k][k];   // exactly 1 where rows are equal, so that their difference is 0
        for (int j = k + 1; j < columns; ++j)
            W[i][j] -= W[i][k] * W[k][j];
    }
}

//@ function  lu(A: real[n,n]) -> F: real[n+1,n]
//@ kind      map
//@ flops     2*n*n*n/3 + 2*n*n
//@ source    elimination with partial pivoting: Golub and Van Loan 2013, Matrix Computations, section 3.4
//@ source    F has U on and above its diagonal, below it the multipliers of each step as they arise (LINPACK, sgefa), and in
//@ source    its last row, for each step k, the number of the row that was exchanged with row k
//@ example   lu([[1,2],[4,4]]) = [[4,4],[0.25,1],[1,1]]
//@ unroll
//@ threads   1
int columns = n;
real W[n][n];
for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
        W[i][j] = A(i,j);
use elimination;
for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
        F(i,j) = W[i][j];
for (int j = 0; j < n; ++j)
    F(n,j) = pivots[j];
//@ threads   n   A(:,t) F(:,t)
real w[n];
for (int i = 0; i < n; ++i)
    w[i] = A(i,t);
for (int k = 0; k < n; ++k) {
    if (t == k) {
        real p = k, most = abs(w[k]), old = w[k];
        for (int i = k + 1; i < n; ++i) {
            p = select(abs(w[i]) > most, i, p);
            most = max(most, abs(w[i]));
        }
        F(n,k) = p;
        for (int i = k + 1; i < n; ++i) {
            w[k] = select(p == i, w[i], w[k]);
            w[i] = select(p == i, old, w[i]);
        }
        for (int i = 0; i <= k; ++i)
            F(i,k) = w[i];
        for (int i = k + 1; i < n; ++i)
            F(i,k) = w[i] / w[k];
    }
    barrier;
    if (t > k) {
        real p = F(n,k), old = w[k];
        for (int i = k + 1; i < n; ++i) {
            w[k] = select(p == i, w[i], w[k]);
            w[i] = select(p == i, old, w[i]);
        }
        for (int i = k + 1; i < n; ++i)
            w[i] -= F(i,k) * w[k];
    }
}

//@ function  lu_solve(F: real[n+1,n], b: real[n]) -> x: real[n]
//@ kind      map
//@ flops     2*n*n
//@ source    A x = b with F = lu(A): Golub and Van Loan 2013, Matrix Computations, sections 3.1 and 3.4
//@ example   lu_solve([[4,4],[0.25,1],[1,1]], [3,8]) = [1,1]
//@ unroll
//@ threads   1
for (int i = 0; i < n; ++i)
    x(i) = b(i);
for (int k = 0; k < n - 1; ++k) {
    real a = x(k), c = a;
    for (int i = k + 1; i < n; ++i) {
        c = select(F(n,k) == i, x(i), c);
        x(i) = select(F(n,k) == i, a, x(i));
    }
    x(k) = c;
    for (int i = k + 1; i < n; ++i)
        x(i) -= F(i,k) * c;
}
for (int k = n - 1; k >= 0; --k) {
    x(k) /= F(k,k);
    for (int i = 0; i < k; ++i)
        x(i) -= F(i,k) * x(k);
}
//@ threads   n   F(:,:) b(t) x(t)
real v = b(t);
x(t) = v;
for (int k = 0; k < n - 1; ++k) {
    barrier;
    if (t == k)
        for (int i = k + 1; i < n; ++i)
            v = select(F(n,k) == i, x(i), v);
    if (t > k)
        v = select(F(n,k) == t, x(k), v);
    barrier;
    x(t) = v;
    barrier;
    if (t > k) {
        v -= F(t,k) * x(k);
        x(t) = v;
    }
}
for (int k = n - 1; k >= 0; --k) {
    if (t == k)
        x(t) /= F(t,t);
    barrier;
    if (t < k)
        x(t) -= F(t,k) * x(k);
}

//@ common    substitution
// Column c of X from column c of B.
for (int i = 0; i < n; ++i)
    X(i,c) = B(i,c);
for (int k = 0; k < n - 1; ++k) {
    real a = X(k,c), d = a;
    for (int i = k + 1; i < n; ++i) {
        d = select(F(n,k) == i, X(i,c), d);
        X(i,c) = select(F(n,k) == i, a, X(i,c));
    }
    X(k,c) = d;
    for (int i = k + 1; i < n; ++i)
        X(i,c) -= F(i,k) * d;
}
for (int k = n - 1; k >= 0; --k) {
    X(k,c) /= F(k,k);
    for (int i = 0; i < k; ++i)
        X(i,c) -= F(i,k) * X(k,c);
}

//@ function  lu_msolve(F: real[n+1,n], B: real[n,m]) -> X: real[n,m]
//@ kind      map
//@ flops     2*n*n*m
//@ source    A X = B with F = lu(A): Golub and Van Loan 2013, Matrix Computations, sections 3.1 and 3.4
//@ example   lu_msolve([[4,4],[0.25,1],[1,1]], [[3,1],[8,4]]) = [[1,1],[1,0]]
//@ unroll
//@ threads   1
for (int c = 0; c < m; ++c) {
    use substitution;
}
//@ threads   m   F(:,:) B(:,t) X(:,t)
int c = t;
use substitution;

//@ function  lu_det(F: real[n+1,n]) -> s: real
//@ kind      map
//@ flops     2*n
//@ source    det A with F = lu(A); NaN where a pivot before the last one is 0: Golub and Van Loan 2013, section 3.4
//@ example   lu_det([[4,4],[0.25,1],[1,1]]) = -4
//@ threads   1
s = 1;
for (int k = 0; k < n; ++k)
    s *= select(F(n,k) == k, F(k,k), -F(k,k));

//@ function  solve(A: real[n,n], b: real[n]) -> x: real[n]
//@ kind      map
//@ flops     2*n*n*n/3 + 4*n*n
//@ source    A x = b by elimination with partial pivoting: Golub and Van Loan 2013, Matrix Computations, section 3.4
//@ example   solve([[1,2],[4,4]], [3,8]) = [1,1]
//@ unroll
//@ threads   1
int columns = n + 1;
real W[n][n + 1];
for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
        W[i][j] = A(i,j);
    W[i][n] = b(i);
}
use elimination;
for (int k = n - 1; k >= 0; --k) {
    x(k) = W[k][n] / W[k][k];
    for (int i = 0; i < k; ++i)
        W[i][n] -= W[i][k] * x(k);
}

//@ function  msolve(A: real[n,n], B: real[n,m]) -> X: real[n,m]
//@ kind      map
//@ flops     2*n*n*n/3 + 2*n*n + 2*n*n*m
//@ source    A X = B by elimination with partial pivoting: Golub and Van Loan 2013, Matrix Computations, section 3.4
//@ example   msolve([[1,2],[4,4]], [[3,1],[8,4]]) = [[1,1],[1,0]]
//@ unroll
//@ threads   1
int columns = n + m;
real W[n][n + m];
for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
        W[i][j] = A(i,j);
    for (int j = 0; j < m; ++j)
        W[i][n + j] = B(i,j);
}
use elimination;
for (int k = n - 1; k >= 0; --k)
    for (int j = 0; j < m; ++j) {
        X(k,j) = W[k][n + j] / W[k][k];
        for (int i = 0; i < k; ++i)
            W[i][n + j] -= W[i][k] * X(k,j);
    }

//@ function  cholesky(A: real[n,n]) -> L: real[n,n]
//@ kind      map
//@ flops     n*n*n/3 + n*n
//@ source    A = L L^T from the lower triangle of A: Golub and Van Loan 2013, Matrix Computations, section 4.2
//@ source    NaN or infinity where A is not positive definite
//@ example   cholesky([[4,9],[6,10]]) = [[2,0],[3,1]]
//@ unroll
//@ threads   1
for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
        if (j <= i)
            L(i,j) = A(i,j);
        else
            L(i,j) = 0;
    }
for (int k = 0; k < n; ++k) {
    L(k,k) = sqrt(L(k,k));
    real r = 1.0 / L(k,k);
    for (int i = k + 1; i < n; ++i)
        L(i,k) *= r;
    for (int i = k + 1; i < n; ++i)
        for (int j = k + 1; j <= i; ++j)
            L(i,j) -= L(i,k) * L(j,k);
}
//@ threads   n   A(:,t) L(:,t)
real w[n];
for (int i = 0; i < n; ++i)
    w[i] = A(i,t);
for (int k = 0; k < n; ++k) {
    if (t == k) {
        real d = sqrt(w[k]), r = 1.0 / d;
        for (int i = 0; i < k; ++i)
            L(i,k) = 0;
        L(k,k) = d;
        for (int i = k + 1; i < n; ++i)
            L(i,k) = w[i] * r;
    }
    barrier;
    if (t > k) {
        for (int i = k + 1; i < n; ++i)
            w[i] -= L(i,k) * L(t,k);
    }
}

//@ function  cholesky_solve(L: real[n,n], b: real[n]) -> x: real[n]
//@ kind      map
//@ flops     2*n*n
//@ source    L L^T x = b from the lower triangle of L: Golub and Van Loan 2013, Matrix Computations, section 4.2
//@ example   cholesky_solve([[2,0],[3,1]], [10,16]) = [1,1]
//@ unroll
//@ threads   1
for (int i = 0; i < n; ++i)
    x(i) = b(i);
for (int k = 0; k < n; ++k) {
    x(k) /= L(k,k);
    for (int i = k + 1; i < n; ++i)
        x(i) -= L(i,k) * x(k);
}
for (int k = n - 1; k >= 0; --k) {
    x(k) /= L(k,k);
    for (int i = 0; i < k; ++i)
        x(i) -= L(k,i) * x(k);
}
//@ threads   n   L(:,:) b(t) x(t)
x(t) = b(t);
for (int k = 0; k < n; ++k) {
    if (t == k)
        x(t) /= L(t,t);
    barrier;
    if (t > k)
        x(t) -= L(t,k) * x(k);
}
for (int k = n - 1; k >= 0; --k) {
    if (t == k)
        x(t) /= L(t,t);
    barrier;
    if (t < k)
        x(t) -= L(k,t) * x(k);
}

//@ common    cholesky_substitution
// Column c of X from column c of B.
for (int i = 0; i < n; ++i)
    X(i,c) = B(i,c);
for (int k = 0; k < n; ++k) {
    X(k,c) /= L(k,k);
    for (int i = k + 1; i < n; ++i)
        X(i,c) -= L(i,k) * X(k,c);
}
for (int k = n - 1; k >= 0; --k) {
    X(k,c) /= L(k,k);
    for (int i = 0; i < k; ++i)
        X(i,c) -= L(k,i) * X(k,c);
}

//@ function  cholesky_msolve(L: real[n,n], B: real[n,m]) -> X: real[n,m]
//@ kind      map
//@ flops     2*n*n*m
//@ source    L L^T X = B from the lower triangle of L: Golub and Van Loan 2013, Matrix Computations, section 4.2
//@ example   cholesky_msolve([[2,0],[3,1]], [[10,4],[16,6]]) = [[1,1],[1,0]]
//@ unroll
//@ threads   1
for (int c = 0; c < m; ++c) {
    use cholesky_substitution;
}
//@ threads   m   L(:,:) B(:,t) X(:,t)
int c = t;
use cholesky_substitution;
