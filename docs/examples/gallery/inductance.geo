// A piece of a coaxial cable, of length 1/2: a conductor of radius 1 in a shield of radius 3.
SetFactory("OpenCASCADE");
DefineConstant[ h = 0.35 ];
Cylinder(1) = {0, 0, 0, 0, 0, 0.5, 1};
Cylinder(2) = {0, 0, 0, 0, 0, 0.5, 3};
BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; }
Mesh.MeshSizeMax = h;
Physical Volume("core") = {1};
Physical Volume("gap") = {2};
Physical Surface("side") = CombinedBoundary{ Volume{:}; };
