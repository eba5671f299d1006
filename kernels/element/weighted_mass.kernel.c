// The mass matrix with a coefficient at the points of a rule: a reaction term, or the derivative of one.

//@ function  quadrature_shape_shape(a: real[q], J: real[d,d]) -> M: real[n,n]
//@ kind      map
//@ parameter degree = 2
//@ table     w: real[q] = simplex_weights(d, degree)
//@ table     phi: real[n,q] = simplex_shape(d, degree)
//@ flops     3*(d-1) + 4*(d-1)*(d-2) + q*n*(n+1) + n*(n+1)/2
//@ source    M(i,j) = sum_p a_p phi_i(xi_p) phi_j(xi_p) w_p |det J|, a at the points of quadrature_points
//@ source    Ern and Guermond 2021, Finite Elements II, chapter 30
//@ where     d <= 3
//@ example   quadrature_shape_shape([1], [[2,0],[0,1]], degree = 1) = [[1/9,1/9,1/9],[1/9,1/9,1/9],[1/9,1/9,1/9]]
//@ threads   1
use determinant;
real scale = abs(det);
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
//@ threads   n   a(:) J(:,:) M(t,:)
use determinant;
real scale = abs(det);
for (int j = 0; j < n; ++j) {
    real s = a(0) * (phi(t,0) * phi(j,0) * w(0));
    for (int p = 1; p < q; ++p)
        s += a(p) * (phi(t,p) * phi(j,p) * w(p));
    M(t,j) = s * scale;
}
