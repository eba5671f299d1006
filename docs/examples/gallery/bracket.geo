// An L-shaped bracket in millimetres: a plate of 10 x 100 on a wall, and an arm of 100 x 10 with a fillet of radius 10 below it.
// The arm between x = 55 and x = 65 is a group of its own.
DefineConstant[ h = 1.2 ];
Point(1) = {0, 0, 0, 2*h};   Point(2) = {10, 0, 0, 2*h};  Point(3) = {10, 80, 0, h};  Point(4) = {20, 80, 0, h};
Point(5) = {20, 90, 0, h};   Point(6) = {55, 90, 0, h};   Point(7) = {65, 90, 0, h};  Point(8) = {110, 90, 0, 2*h};
Point(9) = {110, 100, 0, 2*h}; Point(10) = {65, 100, 0, h}; Point(11) = {55, 100, 0, h}; Point(12) = {0, 100, 0, h};
Point(13) = {0, 85, 0, h};   Point(14) = {0, 5, 0, 2*h};
Line(1) = {1, 2};   Line(2) = {2, 3};   Circle(3) = {3, 4, 5};  Line(4) = {5, 6};   Line(5) = {6, 7};   Line(6) = {7, 8};
Line(7) = {8, 9};   Line(8) = {9, 10};  Line(9) = {10, 11};     Line(10) = {11, 12}; Line(11) = {12, 13}; Line(12) = {13, 14};
Line(13) = {14, 1}; Line(14) = {6, 11}; Line(15) = {7, 10};
Curve Loop(1) = {1, 2, 3, 4, 14, 10, 11, 12, 13}; Plane Surface(1) = {1};
Curve Loop(2) = {5, 15, 9, -14};                  Plane Surface(2) = {2};
Curve Loop(3) = {6, 7, 8, -15};                   Plane Surface(3) = {3};
Physical Surface("bracket") = {1, 2, 3};
Physical Surface("gauge") = {2};
Physical Curve("end") = {7};
Physical Point("pin") = {13};
Physical Point("roller") = {14};
