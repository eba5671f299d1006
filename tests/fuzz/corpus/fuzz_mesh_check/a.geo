/* a comment */ If(0)
Printf("%g", 1) > "x"; // another
EndIf
For i In {1:2} Point(i) = {i, .5e-3, 1.}; EndFor
SystemCall 'x';
