// Local matrices made of gradients. The measure is |det J| / d!.

//@ function  dshape_dot_dshape(G: real[n,d], J: real[d,d]) -> K: real[n,n]
//@ kind      map
//@ flops     3*(d-1) + 4*(d-1)*(d-2) + 1 + n*(n+1)*d
//@ source    K(i,j) = grad phi_i . grad phi_j |T|
//@ source    Markall, Ham and Kelly 2010, table 2
//@ where     d <= 3
//@ threads   1
real det;
if (d == 1)
    det = J(0,0);
if (d == 2)
    det = J(0,0) * J(1,1) - J(0,1) * J(1,0);
if (d == 3)
    det = J(0,0) * (J(1,1) * J(2,2) - J(1,2) * J(2,1)) + J(0,1) * (J(1,2) * J(2,0) - J(1,0) * J(2,2))
        + J(0,2) * (J(1,0) * J(2,1) - J(1,1) * J(2,0));
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
real det;
if (d == 1)
    det = J(0,0);
if (d == 2)
    det = J(0,0) * J(1,1) - J(0,1) * J(1,0);
if (d == 3)
    det = J(0,0) * (J(1,1) * J(2,2) - J(1,2) * J(2,1)) + J(0,1) * (J(1,2) * J(2,0) - J(1,0) * J(2,2))
        + J(0,2) * (J(1,0) * J(2,1) - J(1,1) * J(2,0));
real measure = abs(det) * select(d == 1, 1.0, select(d == 2, 0.5, 1.0 / 6.0));
for (int j = 0; j < n; ++j) {
    real s = G(t,0) * G(j,0);
    for (int l = 1; l < d; ++l)
        s += G(t,l) * G(j,l);
    K(t,j) = s * measure;
}
//@ threads   n*n   G(:,:) J(:,:) K(t/n,t%n)
real det;
if (d == 1)
    det = J(0,0);
if (d == 2)
    det = J(0,0) * J(1,1) - J(0,1) * J(1,0);
if (d == 3)
    det = J(0,0) * (J(1,1) * J(2,2) - J(1,2) * J(2,1)) + J(0,1) * (J(1,2) * J(2,0) - J(1,0) * J(2,2))
        + J(0,2) * (J(1,0) * J(2,1) - J(1,1) * J(2,0));
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
real det;
if (d == 1)
    det = J(0,0);
if (d == 2)
    det = J(0,0) * J(1,1) - J(0,1) * J(1,0);
if (d == 3)
    det = J(0,0) * (J(1,1) * J(2,2) - J(1,2) * J(2,1)) + J(0,1) * (J(1,2) * J(2,0) - J(1,0) * J(2,2))
        + J(0,2) * (J(1,0) * J(2,1) - J(1,1) * J(2,0));
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
real det;
if (d == 1)
    det = J(0,0);
if (d == 2)
    det = J(0,0) * J(1,1) - J(0,1) * J(1,0);
if (d == 3)
    det = J(0,0) * (J(1,1) * J(2,2) - J(1,2) * J(2,1)) + J(0,1) * (J(1,2) * J(2,0) - J(1,0) * J(2,2))
        + J(0,2) * (J(1,0) * J(2,1) - J(1,1) * J(2,0));
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
