// NAFEMS FV32: a tapered membrane, 10 m long, 5 m wide where it is clamped and 1 m at its end.
Point(1) = {0, -2.5, 0};
Point(2) = {10, -0.5, 0};
Point(3) = {10, 0.5, 0};
Point(4) = {0, 2.5, 0};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Transfinite Curve {1, 3} = 33;
Transfinite Curve {2, 4} = 17;
Transfinite Surface {1};
Physical Curve("wall") = {4};
Physical Surface("membrane") = {1};
