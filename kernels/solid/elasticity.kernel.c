// Solids that deform, P1 displacements: a node of a cell has d components, row i*d + k of a local matrix is component k
// of node i. G(i,:) is the gradient of shape function i, |T| the measure of the cell. In the plane: plane strain.

//@ function  elastic_stiffness(G: real[n,d], J: real[d,d], lambda: real, mu: real) -> K: real[n*d,n*d]
//@ kind      map
//@ flops     3*(d-1) + 4*(d-1)*(d-2) + 3 + n*n*(3*d*d + 2*d)
//@ source    K(i*d + k, j*d + l) = |T| (lambda G_ik G_jl + mu (G_il G_jk + [k = l] G_i . G_j)): Hooke's law,
//@ source    int lambda div u div v + 2 mu e(u) : e(v); Ciarlet 1988, Mathematical Elasticity I, section 6.2
//@ where     d <= 3
//@ where     d >= 2
//@ threads   1
use determinant;
real measure = abs(det) * select(d == 2, 0.5, 1.0 / 6.0);
real a = measure * lambda, m = measure * mu;
for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j) {
        real s = G(i,0) * G(j,0);
        for (int l = 1; l < d; ++l)
            s += G(i,l) * G(j,l);
        s *= m;
        for (int k = 0; k < d; ++k)
            for (int l = 0; l < d; ++l) {
                real e = a * (G(i,k) * G(j,l)) + m * (G(i,l) * G(j,k));
                if (k == l)
                    e += s;
                K(i * d + k,j * d + l) = e;
                if (i != j)
                    K(j * d + l,i * d + k) = e;
            }
    }
//@ threads   n   G(:,:) J(:,:) lambda mu
use determinant;
real measure = abs(det) * select(d == 2, 0.5, 1.0 / 6.0);
real a = measure * lambda, m = measure * mu;
for (int j = 0; j < n; ++j) {
    real s = G(t,0) * G(j,0);
    for (int l = 1; l < d; ++l)
        s += G(t,l) * G(j,l);
    s *= m;
    for (int k = 0; k < d; ++k)
        for (int l = 0; l < d; ++l) {
            real e = a * (G(t,k) * G(j,l)) + m * (G(t,l) * G(j,k));
            if (k == l)
                e += s;
            K(t * d + k,j * d + l) = e;
        }
}

//@ function  body_force_load(f0: real[q], f1: real[q], f2: real[q], J: real[d,d]) -> b: real[n,d]
//@ kind      map
//@ parameter degree = 2
//@ table     w: real[q] = simplex_weights(d, degree)
//@ table     phi: real[n,q] = simplex_shape(d, degree)
//@ flops     3*(d-1) + 4*(d-1)*(d-2) + 2*n*d*q
//@ source    b(i,k) = int f_k phi_i, f_k given at the points of the rule; f2 is of no effect in the plane
//@ source    Ern and Guermond 2021, Finite Elements II, chapter 42
//@ where     d <= 3
//@ where     d >= 2
//@ threads   1
use determinant;
real scale = abs(det);
for (int i = 0; i < n; ++i) {
    real s0 = 0, s1 = 0, s2 = 0;
    for (int p = 0; p < q; ++p) {
        s0 += f0(p) * (phi(i,p) * w(p));
        s1 += f1(p) * (phi(i,p) * w(p));
        if (d == 3)
            s2 += f2(p) * (phi(i,p) * w(p));
    }
    b(i,0) = s0 * scale;
    b(i,1) = s1 * scale;
    if (d == 3)
        b(i,2) = s2 * scale;
}

//@ function  displacement_gradient(G: real[n,d], U: real[n,c]) -> H: real[c,d]
//@ kind      map
//@ flops     c*d*(2*n - 1)
//@ source    H(k,l) = d u_k / d x_l = sum_i U(i,k) G(i,l)
//@ source    Ern and Guermond 2021, Finite Elements I, chapter 8
//@ threads   1
for (int k = 0; k < c; ++k)
    for (int l = 0; l < d; ++l) {
        real s = U(0,k) * G(0,l);
        for (int i = 1; i < n; ++i)
            s += U(i,k) * G(i,l);
        H(k,l) = s;
    }
//@ threads   c   G(:,:) U(:,t) H(t,:)
for (int l = 0; l < d; ++l) {
    real s = U(0,t) * G(0,l);
    for (int i = 1; i < n; ++i)
        s += U(i,t) * G(i,l);
    H(t,l) = s;
}

//@ function  green_strain(H: real[d,d]) -> E: real[d,d]
//@ kind      map
//@ flops     d*d*(2*d + 2)
//@ source    E = (H + H^T + H^T H)/2 = (F^T F - 1)/2 with F = 1 + H
//@ source    Ciarlet 1988, Mathematical Elasticity I, section 1.8
//@ example   green_strain([[1,0],[0,0]]) = [[1.5,0],[0,0]]
//@ threads   1
for (int i = 0; i < d; ++i)
    for (int j = i; j < d; ++j) {
        real s = H(i,j) + H(j,i);
        for (int k = 0; k < d; ++k)
            s += H(k,i) * H(k,j);
        s *= 0.5;
        E(i,j) = s;
        if (i != j)
            E(j,i) = s;
    }

//@ function  hooke_stress(E: real[d,d], lambda: real, mu: real) -> S: real[d,d]
//@ kind      map
//@ flops     d*d + 2*d + 2
//@ source    S = lambda tr(E) 1 + 2 mu E: of a St. Venant-Kirchhoff material the second Piola-Kirchhoff stress
//@ source    Ciarlet 1988, Mathematical Elasticity I, section 3.9
//@ example   hooke_stress([[1,2],[2,3]], 10, 1) = [[42,4],[4,46]]
//@ threads   1
real p = E(0,0);
for (int i = 1; i < d; ++i)
    p += E(i,i);
p *= lambda;
real m = 2.0 * mu;
for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) {
        S(i,j) = m * E(i,j);
        if (i == j)
            S(i,j) += p;
    }

//@ function  stress_energy(E: real[d,d], S: real[d,d], J: real[d,d]) -> W: real
//@ kind      map
//@ flops     2*d*d + 3*(d-1) + 4*(d-1)*(d-2)
//@ source    W = |T| E : S / 2, the energy that a cell stores
//@ source    Ciarlet 1988, Mathematical Elasticity I, section 4.4
//@ where     d <= 3
//@ where     d >= 2
//@ threads   1
use determinant;
real s = 0;
for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j)
        s += E(i,j) * S(i,j);
W = s * (abs(det) * select(d == 2, 0.25, 1.0 / 12.0));

//@ function  internal_force(G: real[n,d], J: real[d,d], H: real[d,d], S: real[d,d]) -> r: real[n,d]
//@ kind      map
//@ flops     3*(d-1) + 4*(d-1)*(d-2) + 1 + d*d*2*d + n*d*2*d
//@ source    r(i,k) = |T| sum_l P(k,l) G(i,l), P = F S, F = 1 + H: int P : grad v
//@ source    Ciarlet 1988, Mathematical Elasticity I, section 2.6
//@ where     d <= 3
//@ where     d >= 2
//@ threads   1
use determinant;
real measure = abs(det) * select(d == 2, 0.5, 1.0 / 6.0);
real P[d][d];
for (int k = 0; k < d; ++k)
    for (int l = 0; l < d; ++l) {
        real s = S(k,l);
        for (int m = 0; m < d; ++m)
            s += H(k,m) * S(m,l);
        P[k][l] = s * measure;
    }
for (int i = 0; i < n; ++i)
    for (int k = 0; k < d; ++k) {
        real s = P[k][0] * G(i,0);
        for (int l = 1; l < d; ++l)
            s += P[k][l] * G(i,l);
        r(i,k) = s;
    }

//@ function  kirchhoff_tangent(G: real[n,d], J: real[d,d], H: real[d,d], S: real[d,d], lambda: real, mu: real) -> K: real[n*d,n*d]
//@ kind      map
//@ flops     3*(d-1) + 4*(d-1)*(d-2) + 3 + d*d*2*d + n*d*2*d + d*d*(2*d - 1) + n*n*(4*d + d*d*5)
//@ source    d/dU of internal_force for a St. Venant-Kirchhoff material: with a_i = F G_i and b = F F^T,
//@ source    S symmetric, as hooke_stress makes it:
//@ source    K(i*d + k, j*d + l) = |T| ([k = l] G_i . S G_j + lambda a_ik a_jl + mu (a_il a_jk + b_kl G_i . G_j))
//@ source    Ciarlet 1988, Mathematical Elasticity I, section 3.9; Wriggers 2008, Nonlinear Finite Element Methods, 4.2
//@ where     d <= 3
//@ where     d >= 2
//@ threads   1
use determinant;
real measure = abs(det) * select(d == 2, 0.5, 1.0 / 6.0);
real a[n][d], b[d][d], e = measure * lambda, m = measure * mu;
for (int i = 0; i < n; ++i)
    for (int k = 0; k < d; ++k) {
        real s = G(i,k);
        for (int l = 0; l < d; ++l)
            s += H(k,l) * G(i,l);
        a[i][k] = s;
    }
for (int k = 0; k < d; ++k)
    for (int l = 0; l < d; ++l) {
        real s = H(k,l) + H(l,k);
        for (int r = 0; r < d; ++r)
            s += H(k,r) * H(l,r);
        if (k == l)
            s += 1;
        b[k][l] = s * m;
    }
for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j) {
        real g = 0, h = 0;
        for (int k = 0; k < d; ++k) {
            real s = S(k,0) * G(j,0);
            for (int l = 1; l < d; ++l)
                s += S(k,l) * G(j,l);
            h += G(i,k) * s;
            g += G(i,k) * G(j,k);
        }
        h *= measure;
        for (int k = 0; k < d; ++k)
            for (int l = 0; l < d; ++l) {
                real s = e * (a[i][k] * a[j][l]) + m * (a[i][l] * a[j][k]) + b[k][l] * g;
                if (k == l)
                    s += h;
                K(i * d + k,j * d + l) = s;
                if (i != j)
                    K(j * d + l,i * d + k) = s;
            }
    }
//@ threads   n   G(:,:) J(:,:) H(:,:) S(:,:) lambda mu
use determinant;
real measure = abs(det) * select(d == 2, 0.5, 1.0 / 6.0);
// c = F G_t, p = S^T G_t, q = S G_t: p for the upper blocks, as the body above, which mirrors them
real c[d], p[d], q[d], b[d][d], e = measure * lambda, m = measure * mu;
for (int k = 0; k < d; ++k) {
    real s = G(t,k), r = 0, o = 0;
    for (int l = 0; l < d; ++l) {
        s += H(k,l) * G(t,l);
        r += S(l,k) * G(t,l);
        o += S(k,l) * G(t,l);
    }
    c[k] = s;
    p[k] = r * measure;
    q[k] = o * measure;
}
for (int k = 0; k < d; ++k)
    for (int l = 0; l < d; ++l) {
        real s = H(k,l) + H(l,k);
        for (int r = 0; r < d; ++r)
            s += H(k,r) * H(l,r);
        if (k == l)
            s += 1;
        b[k][l] = s * m;
    }
for (int j = 0; j < n; ++j) {
    real g = 0, h = 0, a[d];
    for (int k = 0; k < d; ++k) {
        real s = G(j,k);
        for (int l = 0; l < d; ++l)
            s += H(k,l) * G(j,l);
        a[k] = s;
        h += select(j >= t, p[k], q[k]) * G(j,k);
        g += G(t,k) * G(j,k);
    }
    for (int k = 0; k < d; ++k)
        for (int l = 0; l < d; ++l) {
            real s = e * (c[k] * a[l]) + m * (c[l] * a[k]) + b[k][l] * g;
            if (k == l)
                s += h;
            K(t * d + k,j * d + l) = s;
        }
}

//@ function  symmetric_part(H: real[d,d]) -> E: real[d,d]
//@ kind      map
//@ flops     d*(d - 1)
//@ source    E = (H + H^T)/2, the strain of linear elasticity where H is the displacement's gradient
//@ source    Ciarlet 1988, Mathematical Elasticity I, section 6.2
//@ example   symmetric_part([[1,2],[4,5]]) = [[1,3],[3,5]]
//@ threads   1
for (int i = 0; i < d; ++i)
    for (int j = i; j < d; ++j) {
        if (i == j)
            E(i,i) = H(i,i);
        else {
            real s = 0.5 * (H(i,j) + H(j,i));
            E(i,j) = s;
            E(j,i) = s;
        }
    }

//@ function  strain_change(H: real[d,d], D: real[d,d]) -> E: real[d,d]
//@ kind      map
//@ flops     d*d*(2*d + 2)
//@ source    the derivative of green_strain at H in the direction D: sym(F^T D), F = 1 + H
//@ source    Ciarlet 1988, Mathematical Elasticity I, section 1.8
//@ example   strain_change([[1,0],[0,0]], [[3,4],[5,6]]) = [[6,6.5],[6.5,6]]
//@ threads   1
for (int i = 0; i < d; ++i)
    for (int j = i; j < d; ++j) {
        real s = D(i,j) + D(j,i);
        for (int k = 0; k < d; ++k)
            s += H(k,i) * D(k,j) + H(k,j) * D(k,i);
        s *= 0.5;
        E(i,j) = s;
        if (i != j)
            E(j,i) = s;
    }

//@ function  stress_force(G: real[n,d], J: real[d,d], P: real[c,d]) -> r: real[n,c]
//@ kind      map
//@ flops     3*(d-1) + 4*(d-1)*(d-2) + 1 + c*d + n*c*(2*d - 1)
//@ source    r(i,k) = |T| sum_l P(k,l) G(i,l): int P : grad v, P constant in the cell
//@ source    Ciarlet 1988, Mathematical Elasticity I, section 2.4
//@ where     d <= 3
//@ where     d >= 2
//@ example   stress_force([[-1,-1],[1,0],[0,1]], [[1,0],[0,1]], [[2,4],[6,8]]) = [[-3,-7],[1,3],[2,4]]
//@ threads   1
use determinant;
real measure = abs(det) * select(d == 2, 0.5, 1.0 / 6.0);
real p[c][d];
for (int k = 0; k < c; ++k)
    for (int l = 0; l < d; ++l)
        p[k][l] = P(k,l) * measure;
for (int i = 0; i < n; ++i)
    for (int k = 0; k < c; ++k) {
        real s = p[k][0] * G(i,0);
        for (int l = 1; l < d; ++l)
            s += p[k][l] * G(i,l);
        r(i,k) = s;
    }

//@ function  first_lame(young: real, poisson: real) -> lambda: real
//@ kind      map
//@ flops     6
//@ source    lambda = E nu / ((1 + nu)(1 - 2 nu)); Ciarlet 1988, Mathematical Elasticity I, section 3.8
//@ example   first_lame(1, 0.25) = 0.4
//@ threads   1
lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));

//@ function  shear_modulus(young: real, poisson: real) -> mu: real
//@ kind      map
//@ flops     3
//@ source    mu = E / (2 (1 + nu)); Ciarlet 1988, Mathematical Elasticity I, section 3.8
//@ example   shear_modulus(1, 0.25) = 0.4
//@ threads   1
mu = young / (2.0 * (1.0 + poisson));
