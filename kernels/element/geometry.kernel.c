// The affine map of a simplex, x = x_0 + J xi, and what follows from it.
// Reference vertices: the origin and the unit vectors. X(v,:) are the coordinates of vertex v.

//@ function  jacobian(X: real[d+1,d]) -> J: real[d,d]
//@ kind      map
//@ flops     d*d
//@ source    J(i,j) = d x_i / d xi_j = X(j+1,i) - X(0,i); Ern and Guermond 2021, Finite Elements I, section 9.2
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
//@ source    gradients of the barycentric coordinates: rows of inv(J), the first row minus their sum; Markall, Ham and Kelly 2010, table 2
//@ where     d <= 3
//@ threads   1
if (d == 1) {
    real g = 1.0 / J(0,0);
    G(0,0) = -g;
    G(1,0) = g;
}
if (d == 2) {
    real r = 1.0 / (J(0,0) * J(1,1) - J(0,1) * J(1,0));
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
    real r = 1.0 / (J(0,0) * c[0][0] + J(0,1) * c[0][1] + J(0,2) * c[0][2]);
    for (int j = 0; j < 3; ++j) {
        real g0 = c[j][0] * r, g1 = c[j][1] * r, g2 = c[j][2] * r;
        G(0,j) = -g0 - g1 - g2;
        G(1,j) = g0;
        G(2,j) = g1;
        G(3,j) = g2;
    }
}
