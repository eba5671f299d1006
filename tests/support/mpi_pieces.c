/* Messages and gathers of the plug-in for MPI that are longer than its pieces, which are small here: each rank sends each other
 * one 0, 1, 63 to 129 and 1000 bytes, and gathers as many. Prints what is wrong; built and run by tests/solve/test_mpi.sh. */
#define WEFT_MPI_PIECE ((size_t)64)
#include "mpi.c"

static const size_t sizes[] = {0, 1, 63, 64, 65, 127, 128, 129, 1000};
enum { N_SIZES = sizeof sizes / sizeof *sizes, MOST = 1000, RANKS = 8 };

static unsigned char byte_of(int from, int to, size_t i, int k) {
    return (unsigned char)((size_t)(from * 67 + to * 29 + k) + i * 7);
}

static int exchange(const weft_mpi_plugin *calls, weft_mpi *mpi, int rank, int size, int k) {
    static unsigned char out[RANKS][MOST], in[RANKS][MOST];
    int code = 0, n_wrong = 0;
    for (int r = 0; r < size && code == 0; ++r) {
        for (size_t i = 0; i < sizes[k]; ++i)
            out[r][i] = byte_of(rank, r, i, k);
        memset(in[r], 0, MOST);
        if (r != rank)
            code = calls->receive(mpi, r, in[r], sizes[k]);
    }
    for (int r = 0; r < size && code == 0; ++r)
        if (r != rank)
            code = calls->send(mpi, r, out[r], sizes[k]);
    code = code == 0 ? calls->wait(mpi) : code;
    for (int r = 0; r < size; ++r)
        for (size_t i = 0; i < sizes[k] && r != rank; ++i)
            n_wrong += in[r][i] != byte_of(r, rank, i, k);
    return code != 0 || n_wrong > 0;
}

static int gather_all(const weft_mpi_plugin *calls, weft_mpi *mpi, int rank, int size, int k) {
    static unsigned char mine[MOST], all[RANKS * MOST];
    int n_wrong = 0;
    for (size_t i = 0; i < sizes[k]; ++i)
        mine[i] = byte_of(rank, 0, i, k);
    const int code = calls->gather(mpi, mine, sizes[k], all);
    for (int r = 0; r < size; ++r)
        for (size_t i = 0; i < sizes[k]; ++i)
            n_wrong += all[(size_t)r * sizes[k] + i] != byte_of(r, 0, i, k);
    return code != 0 || n_wrong > 0;
}

/* A message that is shorter or longer than its receiver expects. */
static int differ(const weft_mpi_plugin *calls, weft_mpi *mpi, int rank, size_t sent) {
    char bytes[64] = "";
    if (rank > 1)
        return 0;
    if (rank == 0)
        return calls->send(mpi, 1, bytes, sent) != 0 || calls->wait(mpi) != 0;
    return calls->receive(mpi, 0, bytes, 20) != 0 || calls->wait(mpi) != WEFT_MPI_LENGTH;
}

int main(void) {
    weft_mpi_plugin calls;
    weft_mpi_place place = {0};
    weft_mpi *mpi = NULL;
    void *arguments[] = {&calls};
    int n_failed = 0;
    weft_plugin_open(arguments, 0, 0, 0);
    if (calls.start(NULL, &mpi, &place) != 0 || place.size > RANKS)
        return 1;
    for (int k = 0; k < N_SIZES; ++k) {
        n_failed += exchange(&calls, mpi, place.rank, place.size, k);
        n_failed += gather_all(&calls, mpi, place.rank, place.size, k);
    }
    n_failed += differ(&calls, mpi, place.rank, 19);
    n_failed += differ(&calls, mpi, place.rank, 21);
    if (!(place.share > 0 && place.share <= 1))
        ++n_failed;
    if (n_failed > 0)
        printf("rank %d of %d: %d checks have failed\n", place.rank, place.size, n_failed);
    printf("share %.6f\n", place.share);
    fflush(stdout);
    calls.stop(mpi);
    return n_failed > 0;
}
