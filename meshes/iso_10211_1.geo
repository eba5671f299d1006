// Half of a square column: reference case 1 of ISO 10211, Thermal bridges in building construction. 20 C above, 0 C on the
// left and below, symmetric on the right; temperatures at 28 points of a grid of 1/4 are given to 0.1 C.
DefineConstant[ h = 0.05 ];
Point(1) = {0, 0, 0, h};
Point(2) = {1, 0, 0, h};
Point(3) = {1, 2, 0, h};
Point(4) = {0, 2, 0, h};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Physical Curve("cold") = {1, 4};
Physical Curve("symmetry") = {2};
Physical Curve("warm") = {3};
Physical Surface("column") = {1};
