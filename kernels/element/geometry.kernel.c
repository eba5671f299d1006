// The affine map of a simplex, x = x_0 + J xi, and what follows from it.
// Reference vertices: the origin and the unit vectors. X(v,:) are the coordinates of vertex v.

//@ function  jacobian(X: real[d+1,d]) -> J: real[d,d]
//@ kind      map
//@ flops     d*d
//@ shift     X
//@ source    J(i,j) = d x_i / d xi_j = X(j+1,i) - X(0,i)
//@ source    Ern and Guermond 2021, Finite Elements I, chapter 8
//@ threads   1
for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j)
        J(i,j) = X(j + 1,i) - X(0,i);
//@ threads   d   X(:,t) J(t,:)
for (int j = 0; j < d; ++j)
    J(t,j) = X(j + 1,t) - X(0,t);
//@ threads   d*d   X(:,t/d) J(t/d,t%d)
J(t / d,t % d) = X(t % d + 1,t / d) - X(0,t / d);

//@ function  tform_dshape(J: real[d,d]) -> G: real[d+1,d]
//@ kind      map
//@ flops     1 + 9*(d-1) + 29*(d-1)*(d-2)/2
//@ source    gradients of the barycentric coordinates: rows of inv(J), the first row minus their sum
//@ source    Markall, Ham and Kelly 2010, table 2
//@ where     d <= 3
//@ threads   1
if (d == 1) {
    real g = 1.0 / J(0,0);
    G(0,0) = -g;
    G(1,0) = g;
}
if (d == 2) {
    real r = reciprocal(J(0,0) * J(1,1) - J(0,1) * J(1,0));
    real g00 = J(1,1) * r, g01 = -J(0,1) * r;
    real g10 = -J(1,0) * r, g11 = J(0,0) * r;
    G(0,0) = -g00 - g10;
    G(0,1) = -g01 - g11;
    G(1,0) = g00;
    G(1,1) = g01;
    G(2,0) = g10;
    G(2,1) = g11;
}
if (d == 3) {
    real c[3][3];   // cofactors
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            c[i][j] = J((i + 1) % 3,(j + 1) % 3) * J((i + 2) % 3,(j + 2) % 3)
                    - J((i + 1) % 3,(j + 2) % 3) * J((i + 2) % 3,(j + 1) % 3);
    real r = reciprocal(J(0,0) * c[0][0] + J(0,1) * c[0][1] + J(0,2) * c[0][2]);
    for (int j = 0; j < 3; ++j) {
        real g0 = c[j][0] * r, g1 = c[j][1] * r, g2 = c[j][2] * r;
        G(0,j) = -g0 - g1 - g2;
        G(1,j) = g0;
        G(2,j) = g1;
        G(3,j) = g2;
    }
}

//@ common    determinant
real det;
if (d == 1)
    det = J(0,0);
if (d == 2)
    det = J(0,0) * J(1,1) - J(0,1) * J(1,0);
if (d == 3)
    det = J(0,0) * (J(1,1) * J(2,2) - J(1,2) * J(2,1)) + J(0,1) * (J(1,2) * J(2,0) - J(1,0) * J(2,2))
        + J(0,2) * (J(1,0) * J(2,1) - J(1,1) * J(2,0));

//@ function  measure(J: real[d,d]) -> s: real
//@ kind      map
//@ flops     1 + 3*(d-1) + 4*(d-1)*(d-2)
//@ source    |det J| / d!: length, area or volume
//@ source    Ern and Guermond 2021, Finite Elements I, chapter 8
//@ where     d <= 3
//@ threads   1
use determinant;
s = abs(det) * select(d == 1, 1.0, select(d == 2, 0.5, 1.0 / 6.0));

//@ function  facet_measure(X: real[d,d]) -> s: real
//@ kind      map
//@ flops     1 + 5*(d-1) + 13*(d-1)*(d-2)/2
//@ source    length of an edge, area of a triangle (half a cross product)
//@ source    X(v,:) is vertex v of the facet
//@ where     d <= 3
//@ threads   1
if (d == 1)
    s = 1;
if (d == 2) {
    real u = X(1,0) - X(0,0), v = X(1,1) - X(0,1);
    s = sqrt(u * u + v * v);
}
if (d == 3) {
    real u0 = X(1,0) - X(0,0), u1 = X(1,1) - X(0,1), u2 = X(1,2) - X(0,2);
    real w0 = X(2,0) - X(0,0), w1 = X(2,1) - X(0,1), w2 = X(2,2) - X(0,2);
    real c0 = u1 * w2 - u2 * w1, c1 = u2 * w0 - u0 * w2, c2 = u0 * w1 - u1 * w0;
    s = 0.5 * sqrt(c0 * c0 + c1 * c1 + c2 * c2);
}

//@ function  gradient(G: real[n,d], u: real[n]) -> g: real[d]
//@ kind      map
//@ flops     (2*n - 1)*d
//@ source    grad u = sum_i u_i grad phi_i
//@ source    Ern and Guermond 2021, Finite Elements I, chapter 8
//@ threads   1
for (int l = 0; l < d; ++l) {
    real s = G(0,l) * u(0);
    for (int i = 1; i < n; ++i)
        s += G(i,l) * u(i);
    g(l) = s;
}
//@ threads   d   G(:,t) u(:) g(t)
real s = G(0,t) * u(0);
for (int i = 1; i < n; ++i)
    s += G(i,t) * u(i);
g(t) = s;
