//@ What kernels of several ranks write into each other's memory. A word has half a number, and in its upper half the epoch,
//@ the count of messages so far: whoever reads words of the wrong epoch waits, so that no flag and no fence is needed. Words of
//@ WORDS_AHEAD epochs are kept apart: a rank sends its next numbers only after it has read those of the others.
//@ A team is int64_t [4 + ranks]: number of ranks, this rank, epoch, whether another rank did not come, then addresses of
//@ the words of each rank, uint64_t [WORDS_AHEAD][sender][2 * WORDS_NUMBERS].
#define WORDS_AHEAD 8
#define WORDS_NUMBERS 160
#define PATIENCE 10000000000 /* nanoseconds */

INLINE int64_t nanoseconds()
{
#ifdef __CUDA_ARCH__
    int64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
#else
    return emulated_nanoseconds();
#endif
}

/* Is it time to give up what began at `start`, as another rank has failed? */
INLINE bool waits_in_vain(int64_t start, volatile int64_t *failed)
{
    __nanosleep(20);
    if (nanoseconds() - start > PATIENCE)
        *failed = 1;
    return *failed != 0;
}

INLINE volatile uint64_t *words_of(const int64_t *team, int64_t rank, int64_t epoch, int64_t from)
{
    return (volatile uint64_t *)team[4 + rank] + (epoch % WORDS_AHEAD * team[0] + from) * (2 * WORDS_NUMBERS);
}

/* By a block of threads: n <= WORDS_NUMBERS numbers to all ranks, also to this one. */
INLINE void words_send(const int64_t *team, int64_t epoch, const int64_t *numbers, int n, int thread, int threads)
{
    for (int i = thread; i < (int)team[0] * 2 * n; i += threads) {
        const int w = i % (2 * n);
        const uint64_t number = (uint64_t)numbers[w / 2], half = w % 2 ? number >> 32 : number & 0xffffffffu;
        words_of(team, i / (2 * n), epoch, team[1])[w] = half | (uint64_t)epoch << 32;
    }
}

/* Number i of rank `from`. */
INLINE int64_t word_receive(int64_t *team, int64_t epoch, int64_t from, int i)
{
    volatile uint64_t *words = words_of(team, team[1], epoch, from) + 2 * i;
    const int64_t start = nanoseconds();
    uint64_t low = words[0], high = words[1];
    while ((uint32_t)(low >> 32) != (uint32_t)epoch || (uint32_t)(high >> 32) != (uint32_t)epoch) {
        if (waits_in_vain(start, team + 3))
            break;
        low = words[0];
        high = words[1];
    }
    return (int64_t)((low & 0xffffffffu) | high << 32);
}
