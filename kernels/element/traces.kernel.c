// Integrals over a facet of any cell, straight or curved, of the functions of an element that do not vanish on it. The rows
// of X are the nodes of the map that are on the facet; `cell` is a weft_cell_type, `family` a weft_family, k the degree of
// the element, and m the degree of the map.

//@ function  trace_points(X: real[g,d]) -> P: real[d,q]
//@ kind      map
//@ parameter cell
//@ parameter m = 1
//@ parameter degree = 4
//@ table     phi: real[g,q] = trace_shape(cell, 0, m, degree)
//@ flops     2*g*d*q
//@ source    P(i,p) = sum_v phi_v(xi_p) X(v,i): coordinate i of point p, so that P[0] is x
//@ source    Ern and Guermond 2021, Finite Elements II, chapter 30
//@ threads   1
for (int i = 0; i < d; ++i)
    for (int p = 0; p < q; ++p) {
        real s = phi(0,p) * X(0,i);
        for (int v = 1; v < g; ++v)
            s += phi(v,p) * X(v,i);
        P(i,p) = s;
    }

//@ function  trace_measure(X: real[g,d]) -> w: real[q]
//@ kind      map
//@ parameter cell
//@ parameter m = 1
//@ parameter degree = 4
//@ table     weights: real[q] = trace_weights(cell, degree)
//@ table     slopes: real[s,g,q] = trace_slopes(cell, m, degree)
//@ flops     (2*g*(d-1)*d + 10) * q
//@ source    w_p = weight_p |dx/ds_1 x dx/ds_2| at the points of trace_points; in the plane weight_p |dx/ds|
//@ source    Ern and Guermond 2021, Finite Elements II, chapter 30
//@ where     d == 1 || d == 2 && s == 1 || d == 3 && s == 2
//@ threads   1
for (int p = 0; p < q; ++p) {
    real size = 1;
    if (d == 2) {
        real u = 0, v = 0;
        for (int i = 0; i < g; ++i) {
            u += slopes(0,i,p) * X(i,0);
            v += slopes(0,i,p) * X(i,1);
        }
        size = sqrt(u * u + v * v);
    }
    if (d == 3) {
        real u0 = 0, u1 = 0, u2 = 0, v0 = 0, v1 = 0, v2 = 0;
        for (int i = 0; i < g; ++i) {
            u0 += slopes(0,i,p) * X(i,0);
            u1 += slopes(0,i,p) * X(i,1);
            u2 += slopes(0,i,p) * X(i,2);
            v0 += slopes(1,i,p) * X(i,0);
            v1 += slopes(1,i,p) * X(i,1);
            v2 += slopes(1,i,p) * X(i,2);
        }
        real c0 = u1 * v2 - u2 * v1, c1 = u2 * v0 - u0 * v2, c2 = u0 * v1 - u1 * v0;
        size = sqrt(c0 * c0 + c1 * c1 + c2 * c2);
    }
    w(p) = weights(p) * size;
}

//@ function  trace_load(f: real[q], w: real[q]) -> b: real[n]
//@ kind      map
//@ parameter cell
//@ parameter family = 0
//@ parameter k = 1
//@ parameter degree = 4
//@ table     phi: real[n,q] = trace_shape(cell, family, k, degree)
//@ flops     2*q*n + q
//@ source    b_i = sum_p f_p phi_i(xi_p) w_p, f at the points of trace_points, w of trace_measure: Neumann data
//@ source    Ern and Guermond 2021, Finite Elements II, chapter 31
//@ threads   1
for (int i = 0; i < n; ++i) {
    real s = f(0) * w(0) * phi(i,0);
    for (int p = 1; p < q; ++p)
        s += f(p) * w(p) * phi(i,p);
    b(i) = s;
}

//@ function  trace_matrix(a: real[q], w: real[q]) -> M: real[n,n]
//@ kind      map
//@ parameter cell
//@ parameter family = 0
//@ parameter k = 1
//@ parameter degree = 4
//@ table     phi: real[n,q] = trace_shape(cell, family, k, degree)
//@ flops     2*q*n*(n+1) + q
//@ source    M(i,j) = sum_p a_p phi_i(xi_p) phi_j(xi_p) w_p: Robin conditions
//@ source    Ern and Guermond 2021, Finite Elements II, chapter 31
//@ threads   1
for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j) {
        real s = a(0) * w(0) * (phi(i,0) * phi(j,0));
        for (int p = 1; p < q; ++p)
            s += a(p) * w(p) * (phi(i,p) * phi(j,p));
        M(i,j) = s;
        if (i != j)
            M(j,i) = s;
    }
