/* The types of CUDA's own headers that cuDSS's takes. */
#include "library_types.h"
