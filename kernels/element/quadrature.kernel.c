// Formulas at quadrature points: where the points are, values there, and sums over them.
// Weights w sum to 1/d!, hence the |det J|. Functions that work together take the same degree.

//@ function  quadrature_points(X: real[d+1,d]) -> P: real[d,q]
//@ kind      map
//@ parameter degree = 2
//@ table     phi: real[n,q] = simplex_shape(d, degree)
//@ flops     (2*d + 1)*d*q
//@ source    P(i,p) = sum_v phi_v(xi_p) X(v,i): coordinate i of point p, so that P[0] is x
//@ source    Ern and Guermond 2021, Finite Elements II, chapter 30
//@ where     d <= 3
//@ threads   1
for (int i = 0; i < d; ++i)
    for (int p = 0; p < q; ++p) {
        real s = phi(0,p) * X(0,i);
        for (int v = 1; v < d + 1; ++v)
            s += phi(v,p) * X(v,i);
        P(i,p) = s;
    }
//@ threads   d   X(:,t) P(t,:)
for (int p = 0; p < q; ++p) {
    real s = phi(0,p) * X(0,t);
    for (int v = 1; v < d + 1; ++v)
        s += phi(v,p) * X(v,t);
    P(t,p) = s;
}

//@ function  interpolate(u: real[d+1]) -> v: real[q]
//@ kind      map
//@ parameter degree = 2
//@ table     phi: real[n,q] = simplex_shape(d, degree)
//@ flops     (2*d + 1)*q
//@ source    v_p = sum_i phi_i(xi_p) u_i
//@ source    Ern and Guermond 2021, Finite Elements II, chapter 30
//@ where     d <= 3
//@ threads   1
for (int p = 0; p < q; ++p) {
    real s = phi(0,p) * u(0);
    for (int i = 1; i < d + 1; ++i)
        s += phi(i,p) * u(i);
    v(p) = s;
}
//@ threads   q   u(:) v(t)
real s = phi(0,t) * u(0);
for (int i = 1; i < d + 1; ++i)
    s += phi(i,t) * u(i);
v(t) = s;

//@ function  quadrature_load(f: real[q], J: real[d,d]) -> b: real[n]
//@ kind      map
//@ parameter degree = 2
//@ table     w: real[q] = simplex_weights(d, degree)
//@ table     phi: real[n,q] = simplex_shape(d, degree)
//@ flops     3*(d-1) + 4*(d-1)*(d-2) + 2*q*n
//@ source    b_i = sum_p f_p phi_i(xi_p) w_p |det J|
//@ source    Ern and Guermond 2021, Finite Elements II, chapter 30
//@ where     d <= 3
//@ threads   1
use determinant;
real scale = abs(det);
for (int i = 0; i < n; ++i) {
    real s = f(0) * (phi(i,0) * w(0));
    for (int p = 1; p < q; ++p)
        s += f(p) * (phi(i,p) * w(p));
    b(i) = s * scale;
}
//@ threads   n   f(:) J(:,:) b(t)
use determinant;
real s = f(0) * (phi(t,0) * w(0));
for (int p = 1; p < q; ++p)
    s += f(p) * (phi(t,p) * w(p));
b(t) = s * abs(det);

//@ function  quadrature_integral(f: real[q], J: real[d,d]) -> s: real
//@ kind      map
//@ parameter degree = 2
//@ table     w: real[q] = simplex_weights(d, degree)
//@ flops     3*(d-1) + 4*(d-1)*(d-2) + 2*q
//@ source    sum_p f_p w_p |det J|
//@ source    Ern and Guermond 2021, Finite Elements II, chapter 30
//@ where     d <= 3
//@ threads   1
use determinant;
real a = f(0) * w(0);
for (int p = 1; p < q; ++p)
    a += f(p) * w(p);
s = a * abs(det);

//@ function  quadrature_mean(f: real[q]) -> s: real
//@ kind      map
//@ parameter d = 2
//@ parameter degree = 2
//@ table     w: real[q] = simplex_weights(d, degree)
//@ flops     2*q - 1
//@ source    sum_p f_p w_p d!: the mean over the cell
//@ source    Ern and Guermond 2021, Finite Elements II, chapter 30
//@ where     d <= 3
//@ threads   1
real a = f(0) * (w(0) / select(d == 1, 1.0, select(d == 2, 0.5, 1.0 / 6.0)));
for (int p = 1; p < q; ++p)
    a += f(p) * (w(p) / select(d == 1, 1.0, select(d == 2, 0.5, 1.0 / 6.0)));
s = a;

//@ function  quadrature_shapes(J: real[d,d]) -> W: real[q,n]
//@ kind      map
//@ parameter degree = 2
//@ table     w: real[q] = simplex_weights(d, degree)
//@ table     phi: real[n,q] = simplex_shape(d, degree)
//@ flops     3*(d-1) + 4*(d-1)*(d-2) + q*n
//@ source    W(p,i) = phi_i(xi_p) w_p |det J|: the loads of what is 1 at point p and 0 at the others
//@ source    Ern and Guermond 2021, Finite Elements II, chapter 30
//@ where     d <= 3
//@ threads   1
use determinant;
real scale = abs(det);
for (int p = 0; p < q; ++p)
    for (int i = 0; i < n; ++i)
        W(p,i) = (phi(i,p) * w(p)) * scale;
