// A bar of 1.5 x 0.15, with triangles in rows.
Point(1) = {0, 0, 0}; Point(2) = {1.5, 0, 0}; Point(3) = {1.5, 0.15, 0}; Point(4) = {0, 0.15, 0};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Transfinite Curve{1, 3} = 41;
Transfinite Curve{2, 4} = 5;
Transfinite Surface{1};
Physical Curve("hot") = {4};
Physical Surface("bar") = {1};
