// A quarter of a long plate of half-width 10 with a circular hole of radius 1, in tension along x: the ratio of
// diameter and width is 0.1. Howland 1930, On the stresses in the neighbourhood of a circular hole in a strip
// under tension, Phil. Trans. R. Soc. A 229: the greatest stress is 3.03 times that of the ends.
DefineConstant[ h = 0.012 ]; // at the hole
Point(1) = {1, 0, 0, 4*h};
Point(2) = {30, 0, 0, 2};
Point(3) = {30, 10, 0, 2};
Point(4) = {0, 10, 0, 0.7};
Point(5) = {0, 1, 0, h};
Point(6) = {0, 0, 0, h};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 5};
Circle(5) = {5, 6, 1};
Curve Loop(1) = {1, 2, 3, 4, 5};
Plane Surface(1) = {1};
Physical Curve("bottom") = {1};
Physical Curve("right") = {2};
Physical Curve("top") = {3};
Physical Curve("left") = {4};
Physical Curve("hole") = {5};
Physical Surface("plate") = {1};
