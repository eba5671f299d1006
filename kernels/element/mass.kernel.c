// Local vectors and matrices made of P1 shape functions. The measure is |det J| / d!.

//@ function  shape_load(f: real[d+1], J: real[d,d]) -> b: real[d+1]
//@ kind      map
//@ flops     3*(d-1) + 4*(d-1)*(d-2) + 2 + d + 2*(d+1)
//@ parameter degree = 2
//@ source    b_i = int f phi_i, f linear: exact from degree 2 on, below by the midpoint; Ern and Guermond 2021, Finite Elements II, section 30.1
//@ where     d <= 3
//@ where     degree >= 0
//@ threads   1
real det;
if (d == 1)
    det = J(0,0);
if (d == 2)
    det = J(0,0) * J(1,1) - J(0,1) * J(1,0);
if (d == 3)
    det = J(0,0) * (J(1,1) * J(2,2) - J(1,2) * J(2,1)) + J(0,1) * (J(1,2) * J(2,0) - J(1,0) * J(2,2))
        + J(0,2) * (J(1,0) * J(2,1) - J(1,1) * J(2,0));
real sum = f(0);
for (int i = 1; i < d + 1; ++i)
    sum += f(i);
if (degree >= 2) {
    real c = abs(det) * select(d == 1, 1.0 / 6.0, select(d == 2, 1.0 / 24.0, 1.0 / 120.0));
    for (int i = 0; i < d + 1; ++i)
        b(i) = (sum + f(i)) * c;
} else {
    real c = sum * abs(det) * select(d == 1, 1.0 / 4.0, select(d == 2, 1.0 / 18.0, 1.0 / 96.0));
    for (int i = 0; i < d + 1; ++i)
        b(i) = c;
}
