//@ Kernels of products of small matrices (fusion/codegen/dense.c). Every value is a list of entries: in
//@ memory, or computed when it is read.
#define MATRIX_DEPTH @depth@
#define UNROLL_SOME _Pragma("unroll 4")
#define FORCE_INLINE __attribute__((always_inline))

template <class F> struct entries_by {
    F f;
    __device__ __forceinline__ real operator[](int c) const { return f(c); }
};
template <class F> entries_by(F) -> entries_by<F>;
/* the entry at hand */
struct one_entry {
    real x;
    __device__ __forceinline__ real &operator[](int) { return x; }
};
/* entry (j, i) of a matrix of N columns, stored by rows from `first` on: tiles are of the transposed product, so that
 * neighbouring threads have neighbouring entries of a row */
template <int N, class V> struct transposed_entries {
    const V &v;
    int first;
    __device__ __forceinline__ real operator()(int j, int i) const { return v[first + i * N + j]; }
};
template <int N, class V> INLINE transposed_entries<N, V> transposed(const V &v, int first) { return {v, first}; }
