// A column, 0.1 m wide and 4 m high.
Point(1) = {0, 0, 0};
Point(2) = {0.1, 0, 0};
Point(3) = {0.1, 4, 0};
Point(4) = {0, 4, 0};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Transfinite Curve {1, 3} = 5;
Transfinite Curve {2, 4} = 81;
Transfinite Surface {1};
Physical Curve("foot") = {1};
Physical Surface("column") = {1};
