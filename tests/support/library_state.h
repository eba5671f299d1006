/* Set-up and tear-down of a cmocka group whose state is the library of shipped functions. */
#pragma once

/** *state becomes a weft_library. */
int library_open(void **state);
int library_close(void **state);
