// The unit square at the five sizes of Markall, Ham and Kelly 2010, section 3.1: "meshes varying in
// size between 28710 and 331714 elements", made by Gmsh. Origin: written for Weft; the paper gives its
// first and last size alone, the three between them are chosen in equal ratios. By Gmsh 4.8:
//
//      h         asked for   triangles   nodes
//      0.009         28710       28760   14605
//      0.0066        52930       53176   26893
//      0.00487       97590       97542   49184
//      0.0036       179920      178564   89839
//      0.00264      331714      332152  166835
//
// The mesh size holds inside too and is not carried in from the sides, whose whole number of edges
// would let the counts jump by 2 %.
DefineConstant[ h = 0.009 ];
Point(1) = {0, 0, 0, h};
Point(2) = {1, 0, 0, h};
Point(3) = {1, 1, 0, h};
Point(4) = {0, 1, 0, h};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Mesh.MeshSizeFromPoints = 0;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeMax = h;
Physical Curve("bottom") = {1};
Physical Curve("right") = {2};
Physical Curve("top") = {3};
Physical Curve("left") = {4};
Physical Surface("domain") = {1};
