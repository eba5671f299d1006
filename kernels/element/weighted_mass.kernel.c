// The mass matrix with a coefficient at the points of a rule: a reaction term, or the derivative of one.

//@ function  quadrature_shape_shape(a: real[q], J: real[d,d]) -> M: real[n,n]
//@ kind      map
//@ parameter degree = 2
//@ parameter mean = 0
//@ table     w: real[q] = simplex_weights(d, degree)
//@ table     phi: real[n,q] = simplex_shape(d, degree)
//@ flops     3*(d-1) + 4*(d-1)*(d-2) + q*n*(n+1) + n*(n+1)/2
//@ source    M(i,j) = sum_p a_p phi_i(xi_p) phi_j(xi_p) w_p |det J|, a at the points of quadrature_points
//@ source    with mean = 1 a is replaced by its mean over the cell: M(i,j) = sum_p a_p w_p |det J| (1 + [i = j]) / ((d + 1)(d + 2))
//@ source    Ern and Guermond 2021, Finite Elements II, chapter 30
//@ where     d <= 3
//@ where     mean >= 0
//@ where     mean <= 1
//@ example   quadrature_shape_shape([1], [[2,0],[0,1]], degree = 1) = [[1/9,1/9,1/9],[1/9,1/9,1/9],[1/9,1/9,1/9]]
//@ example   quadrature_shape_shape([1,2,3], [[1,0],[0,1]], mean = 1) = [[1/6,1/12,1/12],[1/12,1/6,1/12],[1/12,1/12,1/6]]
//@ threads   1
use determinant;
real scale = abs(det);
if (mean == 1) {
    real c = a(0) * w(0);
    for (int p = 1; p < q; ++p)
        c += a(p) * w(p);
    c *= scale;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            M(i,j) = c * (select(i == j, 2.0, 1.0) / (n * (n + 1)));
} else {
    for (int i = 0; i < n; ++i)
        for (int j = i; j < n; ++j) {
            real s = a(0) * (phi(i,0) * phi(j,0) * w(0));
            for (int p = 1; p < q; ++p)
                s += a(p) * (phi(i,p) * phi(j,p) * w(p));
            s *= scale;
            M(i,j) = s;
            if (i != j)
                M(j,i) = s;
        }
}
//@ threads   n   a(:) J(:,:) M(t,:)
use determinant;
real scale = abs(det);
if (mean == 1) {
    real c = a(0) * w(0);
    for (int p = 1; p < q; ++p)
        c += a(p) * w(p);
    c *= scale;
    for (int j = 0; j < n; ++j)
        M(t,j) = c * (select(t == j, 2.0, 1.0) / (n * (n + 1)));
} else {
    for (int j = 0; j < n; ++j) {
        real s = a(0) * (phi(t,0) * phi(j,0) * w(0));
        for (int p = 1; p < q; ++p)
            s += a(p) * (phi(t,p) * phi(j,p) * w(p));
        M(t,j) = s * scale;
    }
}
