/* Makes and frees the library of shipped functions for a group of tests. */
#include "library_state.h"
#include "fusion/weft_library.h"

int library_open(void **state) {
    return weft_library_make((weft_library **)state, NULL) == WEFT_OK ? 0 : -1;
}

int library_close(void **state) {
    weft_library_free((weft_library **)state);
    return 0;
}
