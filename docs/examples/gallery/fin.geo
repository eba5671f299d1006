// A fin of 40 mm x 4 mm, in metres, with triangles in rows.
Point(1) = {0, 0, 0}; Point(2) = {0.04, 0, 0}; Point(3) = {0.04, 0.004, 0}; Point(4) = {0, 0.004, 0};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Transfinite Curve{1, 3} = 61;
Transfinite Curve{2, 4} = 7;
Transfinite Surface{1};
Physical Curve("base") = {4};
Physical Curve("sides") = {1, 3};
Physical Surface("fin") = {1};
