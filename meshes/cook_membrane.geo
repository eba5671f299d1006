// Cook's membrane: a tapered panel, clamped on the left, with a shear load on the right. Cook, Malkus and Plesha
// 1989, Concepts and Applications of Finite Element Analysis: with E = 1, nu = 1/3, plane stress and a load of 1
// the middle of the right side moves up by 23.96.
DefineConstant[ h = 1 ];
Point(1) = {0, 0, 0, h};
Point(2) = {48, 44, 0, h};
Point(3) = {48, 60, 0, h};
Point(4) = {0, 44, 0, h};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Physical Curve("bottom") = {1};
Physical Curve("right") = {2};
Physical Curve("top") = {3};
Physical Curve("left") = {4};
Physical Surface("membrane") = {1};
