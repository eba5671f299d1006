// Functions of long vectors, which a warp computes together.

//@ function  vsum(x: real[n]) -> s: real
//@ kind      map
//@ flops     n - 1
//@ source    s = sum_i x_i; by a warp: Dey 2020, parallel reduction
//@ example   vsum([1, 2, 4, 8, 16]) = 31
//@ threads   1
s = x(0);
for (int i = 1; i < n; ++i)
    s += x(i);
//@ body      cuda
//@ threads   32   x(t::32)
//@ operations n + 160
//@ compute
real sum = 0;
#pragma unroll
for (int k = 0; k < (n + 31) / 32; ++k)
    if (t + 32 * k < n)
        sum += x(t + 32 * k);
#pragma unroll
for (int half = 16; half > 0; half /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, half);
s = sum;

//@ function  softmax(x: real[n]) -> y: real[n]
//@ kind      map
//@ flops     12*n
//@ source    y_i = exp(x_i - m) / sum_k exp(x_k - m), m = max_k x_k; Blanchard, Higham and Higham 2021, IMA J. Numer. Anal. 41, 2311
//@ example   softmax([0, 0, 0, 0]) = [1/4, 1/4, 1/4, 1/4]
//@ example   softmax([1000]) = [1]
//@ threads   1
real most = x(0), sum = 0;
for (int i = 1; i < n; ++i)
    most = max(most, x(i));
for (int i = 0; i < n; ++i) {
    y(i) = exp(x(i) - most);
    sum += y(i);
}
for (int i = 0; i < n; ++i)
    y(i) /= sum;
//@ body      cuda
//@ threads   32   x(t::32) y(t::32)
//@ operations 12*n + 640
//@ helpers
#define EACH_OWN _Pragma("unroll") for (int k = 0; k < (n + 31) / 32; ++k) if (t + 32 * k < n)
//@ compute
real most = -(real)__longlong_as_double(0x7ff0000000000000LL), sum = 0;
EACH_OWN
    most = x(t + 32 * k) > most ? x(t + 32 * k) : most;
#pragma unroll
for (int by = 16; by > 0; by /= 2) {
    const real other = __shfl_xor_sync(0xffffffffu, most, by);
    most = other > most ? other : most;
}
EACH_OWN {
    const real e = exp(x(t + 32 * k) - most);
    y(t + 32 * k) = e;
    sum += e;
}
#pragma unroll
for (int by = 16; by > 0; by /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, by);
EACH_OWN
    y(t + 32 * k) /= sum;
