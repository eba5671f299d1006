// Heat in the plane with convection: test T4 of NAFEMS, The Standard NAFEMS Benchmarks, 1990. Conductivity 52, 100 C
// below, insulated on the left, a transfer coefficient of 750 to 0 C on the right and above. At E = (0.6, 0.2) the
// temperature is 18.3 C.
DefineConstant[ h = 0.02 ];
Point(1) = {0, 0, 0, h};
Point(2) = {0.6, 0, 0, h};
Point(3) = {0.6, 0.2, 0, h};
Point(4) = {0.6, 1, 0, h};
Point(5) = {0, 1, 0, h};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 5};
Line(5) = {5, 1};
Curve Loop(1) = {1, 2, 3, 4, 5};
Plane Surface(1) = {1};
Physical Curve("hot") = {1};
Physical Curve("convection") = {2, 3, 4};
Physical Curve("insulated") = {5};
Physical Surface("plate") = {1};
