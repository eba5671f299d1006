// Local vectors and matrices made of P1 shape functions, in closed form: on a simplex of dimension e,
//     int phi_i phi_j = |T| (1 + [i = j]) / ((e + 1)(e + 2)),   int phi_i = |T| / (e + 1).
// Degree 2 and more are exact; degrees 0 and 1 take the midpoint, where each phi_i is 1 / (e + 1).

//@ function  tform_shape(J: real[d,d]) -> S: real[n,q]
//@ kind      map
//@ parameter degree = 2
//@ table     w: real[q] = simplex_weights(d, degree)
//@ table     phi: real[n,q] = simplex_shape(d, degree)
//@ flops     3*(d-1) + 4*(d-1)*(d-2) + n*q
//@ source    S(i,p) = phi_i(xi_p) w_p |det J|: a sum over p with f(xi_p) is int f phi_i
//@ source    Markall, Ham and Kelly 2010, table 2
//@ where     d <= 3
//@ threads   1
use determinant;
real scale = abs(det);
for (int i = 0; i < n; ++i)
    for (int p = 0; p < q; ++p)
        S(i,p) = scale * (phi(i,p) * w(p));
//@ threads   n   J(:,:) S(t,:)
use determinant;
real scale = abs(det);
for (int p = 0; p < q; ++p)
    S(t,p) = scale * (phi(t,p) * w(p));

//@ function  shape_shape(J: real[d,d]) -> M: real[d+1,d+1]
//@ kind      map
//@ parameter degree = 2
//@ flops     3*(d-1) + 4*(d-1)*(d-2) + 2
//@ source    M(i,j) = int phi_i phi_j
//@ source    Markall, Ham and Kelly 2010, table 2
//@ source    Ern and Guermond 2021, Finite Elements II, chapter 29
//@ where     d <= 3
//@ where     degree >= 0
//@ threads   1
use determinant;
if (degree >= 2) {
    real c = abs(det) * (select(d == 1, 1.0, select(d == 2, 0.5, 1.0 / 6.0)) / ((d + 1) * (d + 2)));
    for (int i = 0; i < d + 1; ++i)
        for (int j = 0; j < d + 1; ++j)
            M(i,j) = c * select(i == j, 2.0, 1.0);
} else {
    real c = abs(det) * (select(d == 1, 1.0, select(d == 2, 0.5, 1.0 / 6.0)) / ((d + 1) * (d + 1)));
    for (int i = 0; i < d + 1; ++i)
        for (int j = 0; j < d + 1; ++j)
            M(i,j) = c;
}
//@ threads   d+1   J(:,:) M(t,:)
use determinant;
if (degree >= 2) {
    real c = abs(det) * (select(d == 1, 1.0, select(d == 2, 0.5, 1.0 / 6.0)) / ((d + 1) * (d + 2)));
    for (int j = 0; j < d + 1; ++j)
        M(t,j) = c * select(t == j, 2.0, 1.0);
} else {
    real c = abs(det) * (select(d == 1, 1.0, select(d == 2, 0.5, 1.0 / 6.0)) / ((d + 1) * (d + 1)));
    for (int j = 0; j < d + 1; ++j)
        M(t,j) = c;
}

//@ function  shape_load(f: real[d+1], J: real[d,d]) -> b: real[d+1]
//@ kind      map
//@ parameter degree = 2
//@ flops     3*(d-1) + 4*(d-1)*(d-2) + 1 + d + 2*(d+1)
//@ source    b_i = int f phi_i, f given at the vertices and linear between
//@ source    Markall, Ham and Kelly 2010, table 2
//@ where     d <= 3
//@ where     degree >= 0
//@ threads   1
use determinant;
real sum = f(0);
for (int i = 1; i < d + 1; ++i)
    sum += f(i);
if (degree >= 2) {
    real c = abs(det) * (select(d == 1, 1.0, select(d == 2, 0.5, 1.0 / 6.0)) / ((d + 1) * (d + 2)));
    for (int i = 0; i < d + 1; ++i)
        b(i) = (sum + f(i)) * c;
} else {
    real c = sum * (abs(det) * (select(d == 1, 1.0, select(d == 2, 0.5, 1.0 / 6.0)) / ((d + 1) * (d + 1))));
    for (int i = 0; i < d + 1; ++i)
        b(i) = c;
}
//@ threads   d+1   f(:) J(:,:) b(t)
use determinant;
real sum = f(0);
for (int i = 1; i < d + 1; ++i)
    sum += f(i);
if (degree >= 2)
    b(t) = (sum + f(t))
         * (abs(det) * (select(d == 1, 1.0, select(d == 2, 0.5, 1.0 / 6.0)) / ((d + 1) * (d + 2))));
else
    b(t) = sum * (abs(det) * (select(d == 1, 1.0, select(d == 2, 0.5, 1.0 / 6.0)) / ((d + 1) * (d + 1))));

//@ function  lumped_mass(J: real[d,d]) -> M: real[d+1,d+1]
//@ kind      map
//@ flops     3*(d-1) + 4*(d-1)*(d-2) + 1
//@ source    M(i,j) = [i = j] int phi_i: the rows of the mass matrix summed onto its diagonal
//@ source    Ern and Guermond 2021, Finite Elements III, chapter 66
//@ where     d <= 3
//@ threads   1
use determinant;
real c = abs(det) * (select(d == 1, 1.0, select(d == 2, 0.5, 1.0 / 6.0)) / (d + 1));
for (int i = 0; i < d + 1; ++i)
    for (int j = 0; j < d + 1; ++j)
        M(i,j) = select(i == j, c, 0.0);
//@ threads   d+1   J(:,:) M(t,:)
use determinant;
real c = abs(det) * (select(d == 1, 1.0, select(d == 2, 0.5, 1.0 / 6.0)) / (d + 1));
for (int j = 0; j < d + 1; ++j)
    M(t,j) = select(t == j, c, 0.0);
