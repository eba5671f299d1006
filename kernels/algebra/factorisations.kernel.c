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

//@ common    elimination_by_lanes
// Elimination with partial pivoting by T threads of a warp, each with the rows t, t + T, ... in registers. Rows stay where they
// are: `place` says which row of the exchanged matrix each is. In step k its pivot row goes to row k of W, from which all read
// it: U_kj is at W[k][j - k], the multiplier of step k for row i at W[i][S - 1 - k], the right-hand side at W[n][k], p_k at
// W[n + 1][k]. Registers move by one column a step, so that few statements serve all steps.
struct __align__(16) pack { real v[16 / sizeof(real)]; };
template <int n, int T> struct rows {
    static constexpr int R = (n + T - 1) / T;       // rows of a thread
    static constexpr int P = (n + 3) / 4 * 4;       // columns, in whole packs
    static constexpr int S = 4 * ((P / 4 + 1) | 1); // distance of rows: packs of eight threads are in different banks
    static constexpr int V = 16 / sizeof(real);
    typedef real matrix[n + 2][S];
    real w[R][P], b[R];
    int place[R];

    // Rows of the matrix whose columns t, t + T, ... the threads have put into W.
    __device__ void take(const matrix &W, int t) {
        __syncwarp();
        UNROLL for (int r = 0; r < R; ++r) {
            const int row = t + r * T;
            place[r] = row < n ? row : -1;
            b[r] = 0;
            UNROLL for (int q = 0; q < P; q += V) {
                const pack u = *(const pack *)&W[row < n ? row : 0][q];
                UNROLL for (int v = 0; v < V; ++v) w[r][q + v] = u.v[v];
            }
        }
        __syncwarp();
    }

    // The first of the largest sizes in the current column, among all threads: its place.
    __device__ int pivot(int k) const {
        real most = -1;
        int p = n;
        UNROLL for (int r = 0; r < R; ++r) {
            const real size = w[r][0] == w[r][0] ? fabs(w[r][0]) : (real)__longlong_as_double(0x7ff0000000000000LL);
            const bool more = place[r] >= k && (size > most || (size == most && place[r] < p));
            most = more ? size : most;
            p = more ? place[r] : p;
        }
        UNROLL for (int by = T / 2; by > 0; by /= 2) {
            const real size = __shfl_xor_sync(0xffffffffu, most, by);
            const int q = __shfl_xor_sync(0xffffffffu, p, by);
            p = size > most || (size == most && q < p) ? q : p;
            most = size > most ? size : most;
        }
        return p;
    }

    // Step k, with `width` columns left in registers.
    template <int width> __device__ void step(int k, matrix &W) {
        const int p = pivot(k);
        W[n + 1][k] = p;
        UNROLL for (int r = 0; r < R; ++r) {
            const bool found = place[r] == p;
            place[r] = found ? k : place[r] == k ? p : place[r];
            if (found)
                W[n][k] = b[r];
            UNROLL for (int q = 0; q < width && found; q += V) {
                pack u;
                UNROLL for (int v = 0; v < V; ++v) u.v[v] = w[r][q + v];
                *(pack *)&W[k][q] = u;
            }
        }
        __syncwarp();
        real f[R];
        UNROLL for (int r = 0; r < R; ++r) {
            f[r] = place[r] > k ? w[r][0] / W[k][0] : 0;
            if (place[r] > k) {
                W[place[r]][S - 1 - k] = f[r];
                b[r] -= f[r] * W[n][k];
            }
        }
        UNROLL for (int q = 0; q < width; q += V) {
            const pack u = *(const pack *)&W[k][q];
            UNROLL for (int v = q > 0 ? 0 : 1; v < V; ++v)
                UNROLL for (int r = 0; r < R; ++r) w[r][q + v - 1] = w[r][q + v] - f[r] * u.v[v];
        }
    }
    template <int first> __device__ void steps(matrix &W) {
        #pragma unroll 1
        for (int k = first; k < (first + 4 < n ? first + 4 : n); ++k)
            step<P - first>(k, W);
        if constexpr (first + 4 < n)
            steps<first + 4>(W);
        else
            __syncwarp();
    }

    // y of L y = b, in y, becomes x of U x = y.
    static __device__ void substitute(const matrix &W, real (&y)[R], int t) {
        real inverse[R];
        UNROLL for (int r = 0; r < R; ++r) inverse[r] = 1 / W[t + r * T < n ? t + r * T : 0][0];
        UNROLL for (int s = R - 1; s >= 0; --s)
            #pragma unroll 1
            for (int k = (n < s * T + T ? n : s * T + T) - 1; k >= s * T; --k) {
                const real x = __shfl_sync(0xffffffffu, y[s] * inverse[s], k - s * T, T);
                UNROLL for (int r = 0; r <= s; ++r)
                    if (t + r * T < k) y[r] -= W[t + r * T][k - t - r * T] * x;
            }
        UNROLL for (int r = 0; r < R; ++r) y[r] *= inverse[r];
    }
};

//@ common    column_exchange
// Rows k and p of the column w.
for (int i = k + 1; i < n; ++i) {
    real old = w[k];
    w[k] = select(p == i, w[i], w[k]);
    w[i] = select(p == i, old, w[i]);
}

//@ common    column_pivot
// The row p that is exchanged with row k, of the column w.
real p = k, most = abs(w[k]);
for (int i = k + 1; i < n; ++i) {
    p = select(abs(w[i]) > most, i, p);
    most = max(most, abs(w[i]));
}

//@ function  lu(A: real[n,n]) -> F: real[n+1,n]
//@ kind      map
//@ tune      lanes = 8, 16, 32
//@ flops     2*n*n*n/3 + 2*n*n
//@ where     n <= 2*lanes || lanes == 32
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
        use column_pivot;
        use column_exchange;
        F(n,k) = p;
        for (int i = 0; i <= k; ++i)
            F(i,k) = w[i];
        for (int i = k + 1; i < n; ++i)
            F(i,k) = w[i] / w[k];
    }
    barrier;
    if (t > k) {
        real p = F(n,k);
        use column_exchange;
        for (int i = k + 1; i < n; ++i)
            w[i] -= F(i,k) * w[k];
    }
}
//@ threads   n*n   A(t/n,t%n)
int i = t / n, j = t % n;
real w = A(i,j);
F(i,j) = w;
for (int k = 0; k < n; ++k) {
    barrier;
    if (t == k * n + k) {
        real p = k, most = abs(w);
        for (int l = k + 1; l < n; ++l) {
            p = select(abs(F(l,k)) > most, l, p);
            most = max(most, abs(F(l,k)));
        }
        F(n,k) = p;
    }
    barrier;
    if (i == k && j >= k)
        for (int l = k + 1; l < n; ++l)
            w = select(F(n,k) == l, F(l,j), w);
    if (i > k && j >= k)
        w = select(F(n,k) == i, F(k,j), w);
    barrier;
    if (i >= k && j >= k)
        F(i,j) = w;
    barrier;
    if (i > k && j == k) {
        w /= F(k,k);
        F(i,k) = w;
    }
    barrier;
    if (i > k && j > k) {
        w -= F(i,k) * F(k,j);
        F(i,j) = w;
    }
}
//@ body      cuda
//@ threads   lanes   A(:,t::lanes) F(:,t::lanes)
//@ shared    (n + 2)*4*((n + 3)/4 + 1 + (n + 3)/4%2) reals
//@ operations lanes*(80*n + 2*n*n)
//@ helpers   elimination_by_lanes
//@ compute
using own = rows<n, lanes>;
__shared__ real W[n + 2][own::S];
own a;
UNROLL for (int c = t; c < own::P; c += lanes)
    UNROLL for (int i = 0; i < n; ++i)
        W[i][c] = c < n ? A(i,c) : 0;
a.take(W, t);
a.template steps<0>(W);
UNROLL for (int c = t; c < n; c += lanes) {
    UNROLL for (int i = 0; i < n; ++i)
        F(i,c) = W[i][i <= c ? c - i : own::S - 1 - c];
    F(n,c) = W[n + 1][c];
}

//@ function  lu_solve(F: real[n+1,n], b: real[n]) -> x: real[n]
//@ kind      map
//@ tune      lanes = 8, 16, 32
//@ flops     2*n*n
//@ where     n <= 2*lanes || lanes == 32
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
//@ body      cuda
//@ threads   lanes   F(:,t::lanes) b(t::lanes) x(t::lanes)
//@ shared    (n + 2)*4*((n + 3)/4 + 1 + (n + 3)/4%2) reals
//@ operations lanes*40*n
//@ helpers   elimination_by_lanes
//@ compute
using own = rows<n, lanes>;
__shared__ real W[n + 2][own::S];
real y[own::R];
UNROLL for (int r = 0; r < own::R; ++r) {
    const int c = t + r * lanes;
    y[r] = 0;
    if (c < n) {
        UNROLL for (int i = 0; i < n; ++i)
            W[i][i <= c ? c - i : own::S - 1 - c] = F(i,c);
        W[n + 1][c] = F(n,c);
        y[r] = b(c);
    }
}
__syncwarp();
UNROLL for (int s = 0; s < own::R; ++s)
    #pragma unroll 1
    for (int k = s * lanes; k < (n < s * lanes + lanes ? n : s * lanes + lanes); ++k) {
        const int q = (int)W[n + 1][k], p = q == W[n + 1][k] && q > k && q < n ? q : k;
        const real old = __shfl_sync(0xffffffffu, y[s], k - s * lanes, lanes);
        real found = old;
        UNROLL for (int r = s; r < own::R; ++r) {
            const real other = __shfl_sync(0xffffffffu, y[r], p % lanes, lanes);
            found = p / lanes == r ? other : found;
        }
        UNROLL for (int r = s; r < own::R; ++r) {
            const int row = t + r * lanes;
            y[r] = row == k ? found : row == p ? old : y[r];
            if (row > k && row < n)
                y[r] -= W[row][own::S - 1 - k] * found;
        }
    }
own::substitute(W, y, t);
UNROLL for (int r = 0; r < own::R; ++r)
    if (t + r * lanes < n)
        x(t + r * lanes) = y[r];

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
//@ tune      lanes = 8, 16, 32
//@ flops     2*n*n*n/3 + 4*n*n
//@ where     n <= 2*lanes || lanes == 32
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
//@ body      cuda
//@ threads   lanes   A(:,t::lanes) b(t::lanes) x(t::lanes)
//@ shared    (n + 2)*4*((n + 3)/4 + 1 + (n + 3)/4%2) reals
//@ operations lanes*(100*n + 2*n*n)
//@ helpers   elimination_by_lanes
//@ compute
using own = rows<n, lanes>;
__shared__ real W[n + 2][own::S];
own a;
real y[own::R];
UNROLL for (int c = t; c < own::P; c += lanes)
    UNROLL for (int i = 0; i < n; ++i)
        W[i][c] = c < n ? A(i,c) : 0;
a.take(W, t);
UNROLL for (int r = 0; r < own::R; ++r)
    a.b[r] = t + r * lanes < n ? b(t + r * lanes) : 0;
a.template steps<0>(W);
UNROLL for (int r = 0; r < own::R; ++r)
    y[r] = t + r * lanes < n ? W[n][t + r * lanes] : 0;
own::substitute(W, y, t);
UNROLL for (int r = 0; r < own::R; ++r)
    if (t + r * lanes < n)
        x(t + r * lanes) = y[r];

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
//@ threads   n*n   A(t/n,t%n)
int i = t / n, j = t % n;
real w = A(i,j);
if (j > i)
    L(i,j) = 0;
for (int k = 0; k < n; ++k) {
    if (t == k * n + k) {
        w = sqrt(w);
        L(k,k) = w;
    }
    barrier;
    if (i > k && j == k) {
        w *= 1.0 / L(k,k);
        L(i,k) = w;
    }
    barrier;
    if (j > k && i >= j)
        w -= L(i,k) * L(j,k);
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
