// Integrals over a facet: a point, an edge or a triangle whose vertices are the rows of X. Closed forms as in
// mass.kernel.c, one dimension lower; `facet` is (d-1)! times the facet's measure.

//@ function  facet_load(g: real[d], X: real[d,d]) -> b: real[d]
//@ kind      map
//@ parameter degree = 2
//@ flops     1 + 5*(d-1) + 13*(d-1)*(d-2)/2 + d + 2*d
//@ source    b_i = int g phi_i over the facet, g linear: Neumann data
//@ source    Ern and Guermond 2021, Finite Elements II, chapter 31
//@ where     d <= 3
//@ where     degree >= 0
//@ threads   1
real facet;
if (d == 1)
    facet = 1;
if (d == 2) {
    real u = X(1,0) - X(0,0), v = X(1,1) - X(0,1);
    facet = sqrt(u * u + v * v);
}
if (d == 3) {
    real u0 = X(1,0) - X(0,0), u1 = X(1,1) - X(0,1), u2 = X(1,2) - X(0,2);
    real w0 = X(2,0) - X(0,0), w1 = X(2,1) - X(0,1), w2 = X(2,2) - X(0,2);
    real c0 = u1 * w2 - u2 * w1, c1 = u2 * w0 - u0 * w2, c2 = u0 * w1 - u1 * w0;
    facet = sqrt(c0 * c0 + c1 * c1 + c2 * c2);
}
real sum = g(0);
for (int i = 1; i < d; ++i)
    sum += g(i);
if (degree >= 2) {
    real c = facet * (select(d == 3, 0.5, 1.0) / (d * (d + 1)));
    for (int i = 0; i < d; ++i)
        b(i) = (sum + g(i)) * c;
} else {
    real c = sum * (facet * (select(d == 3, 0.5, 1.0) / (d * d)));
    for (int i = 0; i < d; ++i)
        b(i) = c;
}
//@ threads   d   g(:) X(:,:) b(t)
real facet;
if (d == 1)
    facet = 1;
if (d == 2) {
    real u = X(1,0) - X(0,0), v = X(1,1) - X(0,1);
    facet = sqrt(u * u + v * v);
}
if (d == 3) {
    real u0 = X(1,0) - X(0,0), u1 = X(1,1) - X(0,1), u2 = X(1,2) - X(0,2);
    real w0 = X(2,0) - X(0,0), w1 = X(2,1) - X(0,1), w2 = X(2,2) - X(0,2);
    real c0 = u1 * w2 - u2 * w1, c1 = u2 * w0 - u0 * w2, c2 = u0 * w1 - u1 * w0;
    facet = sqrt(c0 * c0 + c1 * c1 + c2 * c2);
}
real sum = g(0);
for (int i = 1; i < d; ++i)
    sum += g(i);
if (degree >= 2)
    b(t) = (sum + g(t)) * (facet * (select(d == 3, 0.5, 1.0) / (d * (d + 1))));
else
    b(t) = sum * (facet * (select(d == 3, 0.5, 1.0) / (d * d)));

//@ function  facet_shape_shape(X: real[d,d]) -> M: real[d,d]
//@ kind      map
//@ parameter degree = 2
//@ flops     1 + 5*(d-1) + 13*(d-1)*(d-2)/2 + 2
//@ source    M(i,j) = int phi_i phi_j over the facet: Robin conditions
//@ source    Ern and Guermond 2021, Finite Elements II, chapter 31
//@ where     d <= 3
//@ where     degree >= 0
//@ threads   1
real facet;
if (d == 1)
    facet = 1;
if (d == 2) {
    real u = X(1,0) - X(0,0), v = X(1,1) - X(0,1);
    facet = sqrt(u * u + v * v);
}
if (d == 3) {
    real u0 = X(1,0) - X(0,0), u1 = X(1,1) - X(0,1), u2 = X(1,2) - X(0,2);
    real w0 = X(2,0) - X(0,0), w1 = X(2,1) - X(0,1), w2 = X(2,2) - X(0,2);
    real c0 = u1 * w2 - u2 * w1, c1 = u2 * w0 - u0 * w2, c2 = u0 * w1 - u1 * w0;
    facet = sqrt(c0 * c0 + c1 * c1 + c2 * c2);
}
if (degree >= 2) {
    real c = facet * (select(d == 3, 0.5, 1.0) / (d * (d + 1)));
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j)
            M(i,j) = c * select(i == j, 2.0, 1.0);
} else {
    real c = facet * (select(d == 3, 0.5, 1.0) / (d * d));
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j)
            M(i,j) = c;
}
//@ threads   d   X(:,:) M(t,:)
real facet;
if (d == 1)
    facet = 1;
if (d == 2) {
    real u = X(1,0) - X(0,0), v = X(1,1) - X(0,1);
    facet = sqrt(u * u + v * v);
}
if (d == 3) {
    real u0 = X(1,0) - X(0,0), u1 = X(1,1) - X(0,1), u2 = X(1,2) - X(0,2);
    real w0 = X(2,0) - X(0,0), w1 = X(2,1) - X(0,1), w2 = X(2,2) - X(0,2);
    real c0 = u1 * w2 - u2 * w1, c1 = u2 * w0 - u0 * w2, c2 = u0 * w1 - u1 * w0;
    facet = sqrt(c0 * c0 + c1 * c1 + c2 * c2);
}
if (degree >= 2) {
    real c = facet * (select(d == 3, 0.5, 1.0) / (d * (d + 1)));
    for (int j = 0; j < d; ++j)
        M(t,j) = c * select(t == j, 2.0, 1.0);
} else {
    real c = facet * (select(d == 3, 0.5, 1.0) / (d * d));
    for (int j = 0; j < d; ++j)
        M(t,j) = c;
}

//@ function  facet_points(X: real[d,d]) -> P: real[d,q]
//@ kind      map
//@ parameter degree = 2
//@ table     phi: real[d,q] = simplex_shape(d - 1, degree)
//@ flops     (2*d - 1)*d*q
//@ source    P(i,p) = sum_v phi_v(xi_p) X(v,i): coordinate i of point p, so that P[0] is x
//@ source    Ern and Guermond 2021, Finite Elements II, chapter 30
//@ where     d >= 2
//@ threads   1
for (int i = 0; i < d; ++i)
    for (int p = 0; p < q; ++p) {
        real s = phi(0,p) * X(0,i);
        for (int v = 1; v < d; ++v)
            s += phi(v,p) * X(v,i);
        P(i,p) = s;
    }
//@ threads   d   X(:,t) P(t,:)
for (int p = 0; p < q; ++p) {
    real s = phi(0,p) * X(0,t);
    for (int v = 1; v < d; ++v)
        s += phi(v,p) * X(v,t);
    P(t,p) = s;
}

//@ function  facet_quadrature_load(g: real[q], X: real[d,d]) -> b: real[d]
//@ kind      map
//@ parameter degree = 2
//@ table     w: real[q] = simplex_weights(d - 1, degree)
//@ table     phi: real[d,q] = simplex_shape(d - 1, degree)
//@ flops     1 + 5*(d-1) + 13*(d-1)*(d-2)/2 + 2*q*d
//@ source    b_i = sum_p g_p phi_i(xi_p) w_p (d-1)! |F|, g at the points of facet_points
//@ source    Ern and Guermond 2021, Finite Elements II, chapter 30
//@ where     d >= 2
//@ where     d <= 3
//@ threads   1
real facet;
if (d == 1)
    facet = 1;
if (d == 2) {
    real u = X(1,0) - X(0,0), v = X(1,1) - X(0,1);
    facet = sqrt(u * u + v * v);
}
if (d == 3) {
    real u0 = X(1,0) - X(0,0), u1 = X(1,1) - X(0,1), u2 = X(1,2) - X(0,2);
    real w0 = X(2,0) - X(0,0), w1 = X(2,1) - X(0,1), w2 = X(2,2) - X(0,2);
    real c0 = u1 * w2 - u2 * w1, c1 = u2 * w0 - u0 * w2, c2 = u0 * w1 - u1 * w0;
    facet = sqrt(c0 * c0 + c1 * c1 + c2 * c2);
}
for (int i = 0; i < d; ++i) {
    real s = g(0) * (phi(i,0) * w(0));
    for (int p = 1; p < q; ++p)
        s += g(p) * (phi(i,p) * w(p));
    b(i) = s * facet;
}
//@ threads   d   g(:) X(:,:) b(t)
real facet;
if (d == 1)
    facet = 1;
if (d == 2) {
    real u = X(1,0) - X(0,0), v = X(1,1) - X(0,1);
    facet = sqrt(u * u + v * v);
}
if (d == 3) {
    real u0 = X(1,0) - X(0,0), u1 = X(1,1) - X(0,1), u2 = X(1,2) - X(0,2);
    real w0 = X(2,0) - X(0,0), w1 = X(2,1) - X(0,1), w2 = X(2,2) - X(0,2);
    real c0 = u1 * w2 - u2 * w1, c1 = u2 * w0 - u0 * w2, c2 = u0 * w1 - u1 * w0;
    facet = sqrt(c0 * c0 + c1 * c1 + c2 * c2);
}
real s = g(0) * (phi(t,0) * w(0));
for (int p = 1; p < q; ++p)
    s += g(p) * (phi(t,p) * w(p));
b(t) = s * facet;

//@ function  facet_quadrature_shape_shape(a: real[q], X: real[d,d]) -> M: real[d,d]
//@ kind      map
//@ parameter degree = 2
//@ table     w: real[q] = simplex_weights(d - 1, degree)
//@ table     phi: real[d,q] = simplex_shape(d - 1, degree)
//@ flops     1 + 5*(d-1) + 13*(d-1)*(d-2)/2 + q*d*(d+1)
//@ source    M(i,j) = sum_p a_p phi_i(xi_p) phi_j(xi_p) w_p (d-1)! |F|
//@ source    Ern and Guermond 2021, Finite Elements II, chapter 30
//@ where     d >= 2
//@ where     d <= 3
//@ threads   1
real facet;
if (d == 1)
    facet = 1;
if (d == 2) {
    real u = X(1,0) - X(0,0), v = X(1,1) - X(0,1);
    facet = sqrt(u * u + v * v);
}
if (d == 3) {
    real u0 = X(1,0) - X(0,0), u1 = X(1,1) - X(0,1), u2 = X(1,2) - X(0,2);
    real w0 = X(2,0) - X(0,0), w1 = X(2,1) - X(0,1), w2 = X(2,2) - X(0,2);
    real c0 = u1 * w2 - u2 * w1, c1 = u2 * w0 - u0 * w2, c2 = u0 * w1 - u1 * w0;
    facet = sqrt(c0 * c0 + c1 * c1 + c2 * c2);
}
for (int i = 0; i < d; ++i)
    for (int j = i; j < d; ++j) {
        real s = a(0) * (phi(i,0) * phi(j,0) * w(0));
        for (int p = 1; p < q; ++p)
            s += a(p) * (phi(i,p) * phi(j,p) * w(p));
        s *= facet;
        M(i,j) = s;
        if (i != j)
            M(j,i) = s;
    }
//@ threads   d   a(:) X(:,:) M(t,:)
real facet;
if (d == 1)
    facet = 1;
if (d == 2) {
    real u = X(1,0) - X(0,0), v = X(1,1) - X(0,1);
    facet = sqrt(u * u + v * v);
}
if (d == 3) {
    real u0 = X(1,0) - X(0,0), u1 = X(1,1) - X(0,1), u2 = X(1,2) - X(0,2);
    real w0 = X(2,0) - X(0,0), w1 = X(2,1) - X(0,1), w2 = X(2,2) - X(0,2);
    real c0 = u1 * w2 - u2 * w1, c1 = u2 * w0 - u0 * w2, c2 = u0 * w1 - u1 * w0;
    facet = sqrt(c0 * c0 + c1 * c1 + c2 * c2);
}
for (int j = 0; j < d; ++j) {
    real s = a(0) * (phi(t,0) * phi(j,0) * w(0));
    for (int p = 1; p < q; ++p)
        s += a(p) * (phi(t,p) * phi(j,p) * w(p));
    M(t,j) = s * facet;
}
