// Reductions over an index set. The body is what one element contributes; the operator joins. They
// end at a global barrier: the result is uniform, and kernels after it read it.

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

// Numbers with their places: a NaN before any other, and of equal numbers the first. An empty list has the number of the
// identity, and the place infinity.

//@ function  greater_first(a: real[2], b: real[2]) -> r: real[2]
//@ kind      map
//@ flops     10
//@ source    the order of BLAS's ISAMAX: the first of the greatest
//@ example   greater_first([2, 5], [2, 4]) = [2, 4]
//@ commutative
//@ identity
r(0) = -infinity;
r(1) = infinity;
//@ threads   1
real from_b = select(b(0) > a(0) || (b(0) != b(0) && a(0) == a(0)) ||
                     ((b(0) == a(0) || (b(0) != b(0) && a(0) != a(0))) && b(1) < a(1)), 1, 0);
r(0) = select(from_b > 0, b(0), a(0));
r(1) = select(from_b > 0, b(1), a(1));

//@ function  lesser_first(a: real[2], b: real[2]) -> r: real[2]
//@ kind      map
//@ flops     10
//@ source    the first of the least, as greater_first
//@ example   lesser_first([2, 5], [3, 4]) = [2, 5]
//@ commutative
//@ identity
r(0) = infinity;
r(1) = infinity;
//@ threads   1
real from_b = select(b(0) < a(0) || (b(0) != b(0) && a(0) == a(0)) ||
                     ((b(0) == a(0) || (b(0) != b(0) && a(0) != a(0))) && b(1) < a(1)), 1, 0);
r(0) = select(from_b > 0, b(0), a(0));
r(1) = select(from_b > 0, b(1), a(1));

//@ function  argmax(x: real over i) -> r: real[2]
//@ kind      reduce greater_first
//@ flops     0
//@ source    r = (max_i x_i, the first i that has it)
//@ example   argmax(3) = [3, 0]
//@ threads   1
r(0) = x;
r(1) = i;

//@ function  argmin(x: real over i) -> r: real[2]
//@ kind      reduce lesser_first
//@ flops     0
//@ source    r = (min_i x_i, the first i that has it)
//@ example   argmin(3) = [3, 0]
//@ threads   1
r(0) = x;
r(1) = i;
