#!/usr/bin/env bash
# labels: quick
# Files of MSH 1, 2 and 4, Medit and VTK as other programs write them: u = x on the unit square, to 1e-6, and the length
# of a side to 1e-9, or an error that says what the file is. Fields of such files, and of points near their mesh.
set -u
if [ ! -x "$WEFT_BUILD/weft-gmsh" ]; then
    echo "skipped: weft-gmsh is not built (libgmsh-dev is missing)"
    exit 77
fi
export LC_ALL=C PATH="$WEFT_BUILD:$PATH"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0
fail() {
    echo "$*"
    cat out
    failures=$((failures + 1))
}
run() {
    poisson --mesh "$1" --source 0 --dirichlet left=0 --dirichlet right=1 --probe 0.3,0.5 --integral L@left=1 \
        --integral "A${2:-}=1" >out 2>&1 </dev/null
}
# right MESH [@GROUP]: u = x; the group has the whole area
right() {
    run "$@" || { fail "$1: exit $?"; return; }
    awk '/^probe/ { u = $NF } /^integral +L@left/ { l = $NF } /^integral +A/ { a = $NF }
        function near(x, y, e) { return x - y < e && y - x < e }
        END { exit !(near(u, 0.3, 1e-6) && near(l, 1, 1e-9) && near(a, 1, 1e-9)) }' out || fail "$1: other numbers"
}
# wrong MESH TEXT...
wrong() {
    local mesh=$1 text
    shift
    run "$mesh" && fail "$mesh: exit 0"
    for text in "$@"; do
        grep -qF -- "$text" out || fail "$mesh: expected \"$text\""
    done
}
# write NAME NODES ELEMENTS, with version and names that are set before
version=2.2
names='1 1 "left"
1 2 "right"
2 9 "dom"'
write() {
    {
        printf '$MeshFormat\n%s 0 8\n$EndMeshFormat\n' "$version"
        printf '$PhysicalNames\n%s\n%s\n$EndPhysicalNames\n' "$(echo "$names" | wc -l)" "$names"
        printf '$Nodes\n%s\n%s\n$EndNodes\n' "$(echo "$2" | wc -l)" "$2"
        printf '$Elements\n%s\n%s\n$EndElements\n' "$(echo "$3" | wc -l)" "$3"
    } >"$1"
}
nodes='1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
5 0.5 0.5 0'
lines='1 1 2 1 1 4 1
2 1 2 2 1 2 3'
triangles='3 2 2 9 1 1 2 5
4 2 2 9 1 2 3 5
5 2 2 9 1 3 4 5
6 2 2 9 1 4 1 5'

# groups of elements, not of the entity that they share
write entity.msh "$nodes" "$lines
$triangles"
right entity.msh @dom
weft-gmsh --save binary.msh --msh 2.2 --binary entity.msh
right binary.msh @dom
weft-gmsh --save new.msh entity.msh
right new.msh @dom
# an element for each group that it is in, as Gmsh writes several groups of an entity
names="$names
2 10 \"all\"" write several.msh "$nodes" "$lines
$triangles
$(echo "$triangles" | sed 's/^\(.\) 2 2 9/1\1 2 2 10/')"
right several.msh @dom
right several.msh @all
# any numbers of nodes and elements
write zero.msh "$(echo "$nodes" | sed 's/^5/0/')" "$(echo "$lines
$triangles" | sed 's/ 5$/ 0/')"
right zero.msh
write large.msh "$(echo "$nodes" | sed 's/^5/5000000000000/')" "$(echo "$lines
$triangles" | sed 's/ 5$/ 5000000000000/')"
right large.msh
write unknown.msh "$nodes" "$(echo "$lines
$triangles" | sed 's/ 5$/ 6/')"
wrong unknown.msh 'element 3 has the node 6, which is not among the nodes'
write twice.msh "$(echo "$nodes" | sed 's/^4/3/')" "$lines
$triangles"
wrong twice.msh 'two nodes have the number 3'
# names without their dimension, and with it
version=2.0
names='1 "left"
2 "right"
9 "dom"'
write names.msh "$nodes" "$lines
$triangles"
right names.msh @dom
names='1 1 "left"
1 2 "right"
2 9 "dom"'
write dimensions.msh "$nodes" "$lines
$triangles"
right dimensions.msh @dom
version=2.2
# nodes with parameters
write plain.msh "$nodes" "$lines
$triangles"
sed 's/Nodes/ParametricNodes/; s/^\([1-4]\) \(.\) \(.\) 0$/\1 \2 \3 0 0 \1/; s/^5 0.5 0.5 0$/& 2 1 0.5 0.5/' \
    plain.msh >parametric.msh
right parametric.msh @dom
# periodic sides, which are text in binary files too; the only unknown is at (0.5, 0.5): 4 u = 1/3
write joined.msh "$nodes" "${lines/1 2 2 1 2 3/1 2 2 2 2 3}
$triangles"
printf '$Periodic\n1\n1 2 1\n2\n2 1\n3 4\n$EndPeriodic\n' >>joined.msh
weft-gmsh --save joined_binary.msh --msh 2.2 --binary joined.msh
for mesh in joined.msh joined_binary.msh; do
    poisson --mesh $mesh --source 1 --dirichlet left=0 --periodic mesh --probe 0.5,0.5 >out 2>&1 || fail "$mesh: exit $?"
    grep -q '^probe.* 0\.083333[0-9]*$' out || fail "$mesh: another value"
done
# numbers of groups and entities that do not fit 32 bits would be those of others: 2^32 + 2 is 2 there
write group.msh "$nodes" "${lines/2 1 2 2/2 1 2 4294967298}
$triangles"
wrong group.msh 'an entity or group 4294967298, and their numbers end at 2^31 - 1'
sed '/^\$Nodes/i $Entities\n0 2 1 0\n1 0 0 0 0 1 0 1 1 0\n2 1 0 0 1 1 0 1 2 0\n1 0 0 0 1 1 0 1 9 0\n$EndEntities' plain.msh |
    sed 's/^2.2 0 8/4.1 0 8/; /^\$Nodes/,/^\$EndElements/d' >four.msh
printf '$Nodes\n1 5 1 5\n2 1 0 5\n1\n2\n3\n4\n5\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0.5 0.5 0\n$EndNodes\n' >>four.msh
printf '$Elements\n3 6 1 6\n1 1 1 1\n1 4 1\n1 2 1 1\n2 2 3\n2 1 2 4\n3 1 2 5\n4 2 3 5\n5 3 4 5\n6 4 1 5\n$EndElements\n' >>four.msh
right four.msh @dom
sed 's/ 1 2 0$/ 1 4294967298 0/' four.msh >group4.msh
wrong group4.msh '$Entities has an entity or group 4294967298'
sed 's/^2 1 0 0 1 1 0/4294967298 1 0 0 1 1 0/' four.msh >entity4.msh
wrong entity4.msh '$Entities has an entity or group 4294967298'
# text like the end of a section, a format that changes, and counts that are out of range
fuzzed=$WEFT_SOURCE/tests/fuzz/corpus/fuzz_mesh_check
sed '/^\$Nodes/i $Comments\nnot yet $EndComments\n$Elements\n1\n1 2 1000000000000000 9 1 1 2 5\n$EndElements\n$EndComments' \
    plain.msh >comments.msh
right comments.msh @dom
sed '/^\$Elements/i $MeshFormat\n2.2 0 8\n$EndMeshFormat' plain.msh >formats.msh
wrong formats.msh '$MeshFormat comes first, and once'
wrong "$fuzzed/offset_overflow.vtk" 'cell 0 has its nodes from 9223372036854775805 to -9223372036854775808, of 3'
wrong "$fuzzed/point_overflow.vtk" 'cell 0 has the point 9223372036854775807, of 3 points from 0'
# MSH 1
{
    printf '$NOD\n5\n%s\n$ENDNOD\n$ELM\n6\n' "$nodes"
    echo "$lines
$triangles" | sed -E 's/^([^ ]+ 1) 2 ([^ ]+ [^ ]+)/\1 \2 2/; s/^([^ ]+ 2) 2 ([^ ]+ [^ ]+)/\1 \2 3/'
    printf '$ENDELM\n'
} >one.msh
sed -i 's/left/1/' one.msh
poisson --mesh one.msh --source 0 --dirichlet 1=0 --dirichlet 2=1 --probe 0.3,0.5 >out 2>&1
grep -q '^probe.* 0\.3\(0*\|0*[0-9]\{1,3\}\)$' out || fail 'one.msh: other numbers'
# parts of a mesh, and a mesh in parts
parted=$(echo "$lines
$triangles" | sed 's/^\([^ ]* [12]\) 2 \([^ ]* 1\)/\1 4 \2 1 1/')
write parts.msh "$nodes" "$(echo "$parted" | sed '/^[56]/s/ 1 1 1 / 1 1 2 /')"
right parts.msh
write ghosts.msh "$nodes" "$(echo "$parted" | sed '/^[34]/s/ 4 9 1 1 1 / 5 9 1 2 1 -2 /')"
wrong ghosts.msh 'this is a part of a mesh: it names 2 partitions, and has cells of 1'
right "$WEFT_SOURCE/tests/errors/data/ghost_cells.msh"
wrong "$WEFT_SOURCE/tests/errors/data/one_partition_of_two.msh" \
    'this is a part of a mesh: it names 2 partitions, and has cells of 1'
write many.msh "$nodes" "$(echo "$parted" | sed 's/ 4 9 1 1 1 / 4 9 1 1 5000 /')"
wrong many.msh 'this is a part of a mesh: it names 5000 partitions, and has cells of 1'
sed 's/^\$Entities/$PartitionedEntities\n1000000000000\n0/; s/^\$EndEntities/$EndPartitionedEntities/' four.msh >announced.msh
wrong announced.msh '$PartitionedEntities announces 1000000000000 partitions'
# Medit in two dimensions, as BAMG and FreeFEM write it
cat >plane.mesh <<'END'
MeshVersionFormatted 0

Dimension
2
Identifier
"a text with Vertices 7"
Vertices
5 # x y reference
0 0 1
1 0 2
1 1 2
0 1 1
0.5 0.5 0

Edges 2
4 1 1
2 3 2
Triangles
4
1 2 5 9
2 3 5 9
3 4 5 9
4 1 5 9
SubDomainFromMesh
1
3 1 1 9
End
END
plane() {
    poisson --mesh "$@" --source 0 --probe 0.3,0.5 --integral A=1 >out 2>&1 || fail "$1: exit $?"
    awk '/^probe/ { u = $NF } /^integral +A/ { a = $NF } END { d = u - 0.3; exit !(d*d < 1e-12 && a == 1) }' out ||
        fail "$1: other numbers"
}
plane plane.mesh --dirichlet 1=0 --dirichlet 2=1
head -n 22 plane.mesh >cut.mesh
wrong cut.mesh 'the file ends inside its triangles'
# VTK from version 5 on has offsets; binary numbers are big-endian
cat >five.vtk <<'END'
# vtk DataFile Version 5.1
vtk output
ASCII
DATASET UNSTRUCTURED_GRID
FIELD FieldData 1
TimeValue 1 1 double
0.5
METADATA
INFORMATION 0

POINTS 5 double
0 0 0 1 0 0 1 1 0
0 1 0 0.5 0.5 0

CELLS 5 12
OFFSETS vtktypeint64
0 3 6 9 12
CONNECTIVITY vtktypeint64
0 1 4 1 2 4 2 3 4
3 0 4
CELL_TYPES 4
5
5
5
5

POINT_DATA 5
END
plane five.vtk --dirichlet boundary=x
long() { for n in "$@"; do printf "\\0\\0\\0\\0\\0\\0\\0\\x$(printf %02x "$n")"; done; }
real() { for n in "$@"; do
    case $n in 0) long 0 ;; 1) printf '\x3f\xf0\0\0\0\0\0\0' ;; h) printf '\x3f\xe0\0\0\0\0\0\0' ;; esac
done; }
{
    printf '# vtk DataFile Version 5.1\nvtk output\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n'
    real 0 0 0 1 0 0 1 1 0 0 1 0 h h 0
    printf '\nCELLS 5 12\nOFFSETS vtktypeint64\n'
    long 0 3 6 9 12
    printf '\nCONNECTIVITY vtktypeint64\n'
    long 0 1 4 1 2 4 2 3 4 3 0 4
    printf '\nCELL_TYPES 4\n\0\0\0\5\0\0\0\5\0\0\0\5\0\0\0\5\n'
} >binary.vtk
plane binary.vtk --dirichlet boundary=x
# any types of numbers: here -1 to 1 in bytes, and offsets in 16 bits
{
    printf '# vtk DataFile Version 5.1\nvtk output\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 char\n'
    printf '\xff\xff\0\1\xff\0\1\1\0\xff\1\0\0\0\0'
    printf '\nCELLS 5 12\nOFFSETS vtktypeint16\n\0\0\0\3\0\6\0\11\0\14'
    printf '\nCONNECTIVITY unsigned_char\n\0\1\4\1\2\4\2\3\4\3\0\4'
    printf '\nCELL_TYPES 4\n\0\0\0\5\0\0\0\5\0\0\0\5\0\0\0\5\n'
} >bytes.vtk
poisson --mesh bytes.vtk --source 0 --dirichlet boundary=x --probe 0.3,0.5 --integral A=1 >out 2>&1 || fail bytes.vtk
awk '/^probe/ { u = $NF } /^integral +A/ { a = $NF } END { d = u - 0.3; exit !(d*d < 1e-12 && a == 4) }' out ||
    fail 'bytes.vtk: other numbers'
sed 's/OFFSETS vtktypeint64/OFFSETS double/' five.vtk >real.vtk
wrong real.vtk 'a type of whole numbers was expected, such as vtktypeint64, not double'
sed 's/^5$/7/; s/^6$/7/' five.vtk | sed '0,/^5$/s//42/' >type.vtk
sed '/^CELL_TYPES/,$s/^7$/41/' type.vtk >polygon.vtk
wrong polygon.vtk "VTK's type 41, which is not read"
head -c 300 five.vtk >cut.vtk
wrong cut.vtk 'the file ends inside its'
# coordinates in single precision, and bodies without their volume
write noise.msh "$(echo "$nodes" | sed 's/0$/5e-8/')" "$lines
$triangles"
right noise.msh
write bent.msh "$(echo "$nodes" | sed 's/0$/&.001/; s/^5.*/5 0.5 0.5 0/')" "$lines
$triangles"
wrong bent.msh 'they leave the plane z = 0, by 0.001 where 1e-06 counts as 0'
# a geometry whose last line does not end, and one that includes such a file
points='Point(1) = {0, 0, 0, 0.5}; Point(2) = {1, 0, 0, 0.5}; Point(3) = {1, 1, 0, 0.5}; Point(4) = {0, 1, 0, 0.5};'
curves='Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1}; Curve Loop(1) = {1, 2, 3, 4};'
groups='Plane Surface(1) = {1}; Physical Surface("dom") = {1}; Physical Curve("left") = {4}; Physical Curve("right") = {2};'
mkdir parts
printf '%s %s %s' "$points" "$curves" "$groups" >line.geo
printf '%s' "$points" >parts/points.geo
printf 'Include "parts/points.geo";\n%s %s' "$curves" "$groups" >including.geo
for geometry in line.geo including.geo; do
    cp $geometry before
    right $geometry @dom
    cmp -s $geometry before || fail "$geometry was changed"
done
printf '%s\n%s nonsense' "$points" "$curves" >nonsense.geo
wrong nonsense.geo 'nonsense.geo: error: Gmsh: syntax error'
# halves that are not joined
write halves.msh '1 0 0 0
2 0.5 0 0
3 0.5 1 0
4 0 1 0
5 0.5 0 0
6 1 0 0
7 1 1 0
8 0.5 1 0' "1 1 2 1 1 4 1
2 1 2 2 2 6 7
3 2 2 9 1 1 2 3
4 2 2 9 1 1 3 4
5 2 2 9 1 5 6 7
6 2 2 9 1 5 7 8"
run halves.msh || fail 'halves.msh: an error'
grep -q 'warning: halves.msh: 2 pairs of nodes on the boundary coincide, the first at (0.5, 0)' out || fail halves.msh
run entity.msh || fail 'entity.msh: an error'
grep -q coincide out && fail 'entity.msh: nothing coincides'
poisson --mesh halves.msh --json halves.json -q --dirichlet left=0 --dirichlet right=1 2>/dev/null
grep -q '"coincident_nodes": 2' halves.json || fail 'halves.json does not count them'

# fields: points that differ from a boundary by rounding, and series
poisson -q --mesh square:4 --source 0 --dirichlet boundary=1+x --output field.vtkhdf || fail field.vtkhdf
write shifted.msh "$(echo "$nodes" | sed 's/^\([23]\) 1 /\1 1.0000000001 /')" "$lines
$triangles"
poisson --mesh shifted.msh --source 0 --dirichlet 'boundary=field(field.vtkhdf)' --probe 0.5,0.5 >out 2>&1
grep -q '^probe.* 1\.5\(0000[0-9]*\)\?$' out || fail 'shifted.msh: another value'
wrong_field() {
    poisson --mesh "$1" --source "field($2)" >out 2>&1 && fail "$2: exit 0"
    grep -qF -- "$3" out || fail "$2: expected \"$3\""
}
write far.msh "$(echo "$nodes" | sed 's/^\([23]\) 1 /\1 1.001 /')" "$lines
$triangles"
wrong_field far.msh field.vtkhdf '2 of 5 points are outside the mesh of field.vtkhdf, the first at (1.001, 0), by 0.001'
solve -q heat.weft --mesh square:4 --time 0.1,0.3 --initial x --output series.vtkhdf
solve -q heat.weft --mesh square:4 --time 0.1,0.3 --initial x --output series.pvd
wrong_field square:4 series.vtkhdf 'series.vtkhdf is a series of steps, and a field is of one state'
wrong_field square:4 series.pvd 'this is a series of .vtu files'
exit $((failures > 0))
