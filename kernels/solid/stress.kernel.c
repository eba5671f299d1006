// What is asked of a stress: the tensor in space, equivalent stress, tractions, principal values.

//@ function  hooke_stress_3d(E: real[d,d], lambda: real, mu: real) -> S: real[3,3]
//@ kind      map
//@ flops     d*d + 2*d + 2
//@ source    S = lambda tr(E) 1 + 2 mu E; from a strain in the plane that of plane strain, with S_zz = lambda tr(E)
//@ source    Ciarlet 1988, Mathematical Elasticity I, section 3.8; Timoshenko and Goodier 1970, section 17
//@ where     d <= 3
//@ where     d >= 2
//@ example   hooke_stress_3d([[1,2],[2,3]], 10, 1) = [[42,4,0],[4,46,0],[0,0,40]]
//@ threads   1
real p = E(0,0);
for (int i = 1; i < d; ++i)
    p += E(i,i);
p *= lambda;
real m = 2.0 * mu;
for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
        if (i < d) {
            if (j < d)
                S(i,j) = m * E(i,j);
            else
                S(i,j) = 0;
        } else
            S(i,j) = 0;
        if (i == j)
            S(i,j) += p;
    }

//@ function  von_mises(S: real[n,n]) -> s: real
//@ kind      map
//@ flops     select(n == 2, 8, 18)
//@ source    sqrt(3/2 s : s), s the deviator of the symmetric S; a stress in the plane is taken as one of plane
//@ source    stress, S_zz = 0; Timoshenko and Goodier 1970, Theory of Elasticity, section 85
//@ where     n <= 3
//@ where     n >= 2
//@ example   von_mises([[3,0],[0,0]]) = 3
//@ example   von_mises([[0,2,0],[2,0,0],[0,0,0]]) = 3.4641016151377544
//@ example   von_mises([[5,0,0],[0,5,0],[0,0,5]]) = 0
//@ threads   1
if (n == 2)
    s = sqrt(S(0,0) * S(0,0) - S(0,0) * S(1,1) + S(1,1) * S(1,1) + 3.0 * S(0,1) * S(0,1));
if (n == 3) {
    real a = S(0,0) - S(1,1), b = S(1,1) - S(2,2), c = S(2,2) - S(0,0);
    s = sqrt(0.5 * (a * a + b * b + c * c) + 3.0 * (S(0,1) * S(0,1) + S(1,2) * S(1,2) + S(0,2) * S(0,2)));
}

//@ function  traction(S: real[m,m], normal: real[d]) -> f: real[d]
//@ kind      map
//@ flops     (2*d - 1)*d
//@ source    f_i = sum_j S_ij n_j, in the plane of the leading block of a stress in space: Cauchy
//@ source    Ciarlet 1988, Mathematical Elasticity I, section 2.2
//@ where     m >= d
//@ example   traction([[1,2,0],[2,4,0],[0,0,9]], [1,1]) = [3,6]
//@ threads   1
for (int i = 0; i < d; ++i) {
    real s = S(i,0) * normal(0);
    for (int j = 1; j < d; ++j)
        s += S(i,j) * normal(j);
    f(i) = s;
}
