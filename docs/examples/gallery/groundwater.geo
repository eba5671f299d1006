// A circular island with two wells.
DefineConstant[ h = 60 ];
R = 1000;
Point(1) = {0, 0, 0, h};  Point(2) = {R, 0, 0, h}; Point(3) = {0, R, 0, h}; Point(4) = {-R, 0, 0, h}; Point(5) = {0, -R, 0, h};
Point(6) = {400, 0, 0, h/30};
Circle(1) = {2, 1, 3}; Circle(2) = {3, 1, 4}; Circle(3) = {4, 1, 5}; Circle(4) = {5, 1, 2};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Point{6} In Surface{1};
Physical Curve("shore") = {1, 2, 3, 4};
Physical Surface("island") = {1};
