// Reference case 2 of ISO 10211, in millimetres: below a layer of concrete an aluminium profile, whose upper flange
// carries a piece of wood; insulation elsewhere.
h = 0.75;
H = 12;
Point(1) = {0, 0, 0, h};      Point(2) = {500, 0, 0, H};      Point(3) = {500, 1.5, 0, H};
Point(4) = {500, 41.5, 0, H}; Point(5) = {500, 47.5, 0, H};   Point(6) = {0, 47.5, 0, 2};
Point(7) = {0, 41.5, 0, h};   Point(8) = {15, 41.5, 0, 2};    Point(9) = {0, 36.5, 0, h};
Point(10) = {15, 36.5, 0, h}; Point(11) = {15, 35, 0, h};     Point(12) = {1.5, 35, 0, h};
Point(13) = {1.5, 1.5, 0, h};
Line(1) = {1, 2};   Line(2) = {2, 3};    Line(3) = {3, 4};    Line(4) = {4, 5};   Line(5) = {5, 6};
Line(6) = {6, 7};   Line(7) = {7, 9};    Line(8) = {9, 1};    Line(9) = {7, 8};   Line(10) = {8, 4};
Line(11) = {8, 10}; Line(12) = {9, 10};  Line(13) = {10, 11}; Line(14) = {11, 12}; Line(15) = {12, 13};
Line(16) = {13, 3};
Curve Loop(1) = {9, 10, 4, 5, 6};              Plane Surface(1) = {1};
Curve Loop(2) = {7, 12, -11, -9};              Plane Surface(2) = {2};
Curve Loop(3) = {-10, 11, 13, 14, 15, 16, 3};  Plane Surface(3) = {3};
Curve Loop(4) = {1, 2, -16, -15, -14, -13, -12, 8}; Plane Surface(4) = {4};
Physical Surface("concrete") = {1};
Physical Surface("wood") = {2};
Physical Surface("insulation") = {3};
Physical Surface("aluminium") = {4};
Physical Curve("outside") = {5};
Physical Curve("inside") = {1};
