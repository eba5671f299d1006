// A quarter of the cross section of a thick cylinder, radii 1 and 2. Lame 1852; Timoshenko and Goodier 1970,
// Theory of Elasticity, section 28.
DefineConstant[ h = 0.03 ];
Point(1) = {0, 0, 0, h};
Point(2) = {1, 0, 0, h};
Point(3) = {2, 0, 0, h};
Point(4) = {0, 2, 0, h};
Point(5) = {0, 1, 0, h};
Line(1) = {2, 3};
Circle(2) = {3, 1, 4};
Line(3) = {4, 5};
Circle(4) = {5, 1, 2};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Physical Curve("bottom") = {1};
Physical Curve("outer") = {2};
Physical Curve("left") = {3};
Physical Curve("inner") = {4};
Physical Surface("ring") = {1};
