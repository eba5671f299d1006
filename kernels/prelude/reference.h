//@ The prelude of references: elementary functions as plain C, one element at a time (fusion/library/reference.c).
typedef double real;
#define infinity __builtin_inf()
#define select(c, a, b) ((c) ? (double)(a) : (double)(b))
@functions@
