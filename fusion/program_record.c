#include "program_internal.h"

void weft_program_flow_forget(weft_program *p) {
    (void)p;
}
