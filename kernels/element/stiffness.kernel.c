// Local matrices made of gradients. The measure is |det J| / d!.

//@ function  dshape_dot_dshape(G: real[n,d], J: real[d,d]) -> K: real[n,n]
//@ kind      map
//@ flops     3*(d-1) + 4*(d-1)*(d-2) + 1 + n*(n+1)*d
//@ source    K(i,j) = grad phi_i . grad phi_j |T|
//@ source    Markall, Ham and Kelly 2010, table 2
//@ where     d <= 3
//@ threads   1
use determinant;
real measure = abs(det) * select(d == 1, 1.0, select(d == 2, 0.5, 1.0 / 6.0));
for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j) {
        real s = G(i,0) * G(j,0);
        for (int l = 1; l < d; ++l)
            s += G(i,l) * G(j,l);
        s *= measure;
        K(i,j) = s;
        if (i != j)
            K(j,i) = s;
    }
//@ threads   n   G(:,:) J(:,:) K(t,:)
use determinant;
real measure = abs(det) * select(d == 1, 1.0, select(d == 2, 0.5, 1.0 / 6.0));
for (int j = 0; j < n; ++j) {
    real s = G(t,0) * G(j,0);
    for (int l = 1; l < d; ++l)
        s += G(t,l) * G(j,l);
    K(t,j) = s * measure;
}
//@ threads   n*n   G(:,:) J(:,:) K(t/n,t%n)
use determinant;
real measure = abs(det) * select(d == 1, 1.0, select(d == 2, 0.5, 1.0 / 6.0));
int i = t / n, j = t % n;
real s = G(i,0) * G(j,0);
for (int l = 1; l < d; ++l)
    s += G(i,l) * G(j,l);
K(i,j) = s * measure;

//@ function  dshape_tensor_dshape(G: real[n,d], D: real[d,d], J: real[d,d]) -> K: real[n,n]
//@ kind      map
//@ flops     3*(d-1) + 4*(d-1)*(d-2) + 1 + n*d + n*d*(2*d - 1) + n*n*(2*d - 1)
//@ source    K(i,j) = grad phi_i . D grad phi_j |T|, D need not be symmetric
//@ source    Markall, Ham and Kelly 2010, table 2
//@ where     d <= 3
//@ threads   1
use determinant;
real measure = abs(det) * select(d == 1, 1.0, select(d == 2, 0.5, 1.0 / 6.0));
for (int j = 0; j < n; ++j) {
    real h[d];   // D grad phi_j |T|
    for (int l = 0; l < d; ++l) {
        real s = D(l,0) * G(j,0);
        for (int m = 1; m < d; ++m)
            s += D(l,m) * G(j,m);
        h[l] = s * measure;
    }
    for (int i = 0; i < n; ++i) {
        real s = G(i,0) * h[0];
        for (int l = 1; l < d; ++l)
            s += G(i,l) * h[l];
        K(i,j) = s;
    }
}
//@ threads   n   G(:,:) D(:,:) J(:,:) K(t,:)
use determinant;
real measure = abs(det) * select(d == 1, 1.0, select(d == 2, 0.5, 1.0 / 6.0));
real h[d];   // grad phi_t . D |T|
for (int m = 0; m < d; ++m) {
    real s = G(t,0) * D(0,m);
    for (int l = 1; l < d; ++l)
        s += G(t,l) * D(l,m);
    h[m] = s * measure;
}
for (int j = 0; j < n; ++j) {
    real s = h[0] * G(j,0);
    for (int m = 1; m < d; ++m)
        s += h[m] * G(j,m);
    K(t,j) = s;
}

//@ function  stiffness_product(X: real[d+1,d], u: real[d+1]) -> y: real[d+1]
//@ kind      map
//@ flops     (d + 1)*(d - 1) + 13*(d-1) + 14*(d-1)*(d-2) + (d + 1)*(2*d - 1)
//@ shift     X
//@ shift     u
//@ source    y = K u with K of dshape_dot_dshape, gradient first: y_i = |T| grad phi_i . grad u
//@ source    Ern and Guermond 2021, Finite Elements I, chapter 8
//@ where     d <= 3
//@ threads   1
// rows sum up to zero; u(i) - u(0) keeps a constant's product zero to the last bit
if (d == 1) {
    real r = (u(1) - u(0)) / abs(X(1,0) - X(0,0));
    y(0) = -r;
    y(1) = r;
}
if (d == 2) {
    real a0 = X(1,0) - X(0,0), a1 = X(1,1) - X(0,1), b0 = X(2,0) - X(0,0), b1 = X(2,1) - X(0,1);
    real u1 = u(1) - u(0), u2 = u(2) - u(0);
    real g0 = b1 * u1 - a1 * u2, g1 = a0 * u2 - b0 * u1;
    real s = reciprocal(2.0 * abs(a0 * b1 - a1 * b0));
    y(0) = s * ((a1 - b1) * g0 + (b0 - a0) * g1);
    y(1) = s * (b1 * g0 - b0 * g1);
    y(2) = s * (a0 * g1 - a1 * g0);
}
if (d == 3) {
    real c[3][3], e[3][3], g[3];   // c(i,:) = det J grad phi_(i+1)
    for (int i = 0; i < 3; ++i)
        for (int l = 0; l < 3; ++l)
            e[i][l] = X(i + 1,l) - X(0,l);
    for (int i = 0; i < 3; ++i)
        for (int l = 0; l < 3; ++l)
            c[i][l] = e[(i + 1) % 3][(l + 1) % 3] * e[(i + 2) % 3][(l + 2) % 3]
                    - e[(i + 1) % 3][(l + 2) % 3] * e[(i + 2) % 3][(l + 1) % 3];
    for (int l = 0; l < 3; ++l)
        g[l] = c[0][l] * (u(1) - u(0)) + c[1][l] * (u(2) - u(0)) + c[2][l] * (u(3) - u(0));
    real s = reciprocal(6.0 * abs(e[0][0] * c[0][0] + e[0][1] * c[0][1] + e[0][2] * c[0][2]));
    real sum = 0;
    for (int i = 0; i < 3; ++i) {
        y(i + 1) = s * (c[i][0] * g[0] + c[i][1] * g[1] + c[i][2] * g[2]);
        sum += y(i + 1);
    }
    y(0) = -sum;
}
