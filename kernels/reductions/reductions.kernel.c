// Reductions over an index set. The body is what one element contributes; the operator joins. They
// end at a global barrier: the result is a uniform number, which kernels after it read.

//@ function  sum(a: real) -> s: real
//@ kind      reduce +
//@ flops     1
//@ source    Filipovic, Madzin, Fousek and Matyska 2015, section 3.2.2
//@ threads   1
s = a;

//@ function  dot(a: real, b: real) -> s: real
//@ kind      reduce +
//@ flops     2
//@ source    BLAS level 1, ddot; Filipovic, Madzin, Fousek and Matyska 2015, section 3.3
//@ threads   1
s = a * b;

//@ function  minimum(a: real) -> s: real
//@ kind      reduce min
//@ flops     1
//@ source    the least of a list
//@ threads   1
s = a;

//@ function  maximum(a: real) -> s: real
//@ kind      reduce max
//@ flops     1
//@ source    the greatest of a list
//@ threads   1
s = a;
