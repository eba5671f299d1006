// Local matrices made of gradients. The measure is |det J| / d!.

//@ function  dshape_dot_dshape(G: real[n,d], J: real[d,d]) -> K: real[n,n]
//@ kind      map
//@ flops     3*(d-1) + 4*(d-1)*(d-2) + 1 + n*(n+1)*d
//@ source    K(i,j) = grad phi_i . grad phi_j |T|; Markall, Ham and Kelly 2010, table 2
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
