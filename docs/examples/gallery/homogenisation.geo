// A periodic unit cell with a disc that covers 0.4 of it.
DefineConstant[ h = 0.04 ];
r = Sqrt(0.4/Pi);
Point(1) = {-0.5, -0.5, 0, h}; Point(2) = {0.5, -0.5, 0, h}; Point(3) = {0.5, 0.5, 0, h}; Point(4) = {-0.5, 0.5, 0, h};
Point(5) = {0, 0, 0, h}; Point(6) = {r, 0, 0, h}; Point(7) = {0, r, 0, h}; Point(8) = {-r, 0, 0, h}; Point(9) = {0, -r, 0, h};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {4, 3}; Line(4) = {1, 4};
Circle(5) = {6, 5, 7}; Circle(6) = {7, 5, 8}; Circle(7) = {8, 5, 9}; Circle(8) = {9, 5, 6};
Curve Loop(1) = {1, 2, -3, -4}; Curve Loop(2) = {5, 6, 7, 8};
Plane Surface(1) = {1, 2}; Plane Surface(2) = {2};
Periodic Curve{2} = {4} Translate{1, 0, 0};
Periodic Curve{3} = {1} Translate{0, 1, 0};
Physical Curve("left") = {4}; Physical Curve("right") = {2};
Physical Curve("bottom") = {1}; Physical Curve("top") = {3};
Physical Surface("matrix") = {1}; Physical Surface("disc") = {2};
