/* Gmsh and its libraries leak and race by themselves: in sanitizer builds weft-gmsh still has our
 * own code instrumented, but leaks and races that end in theirs must not turn into its exit code.
 */
const char *__asan_default_options(void);
const char *__lsan_default_options(void);
const char *__tsan_default_options(void);

const char *__asan_default_options(void) {
    return "detect_leaks=0";
}

const char *__lsan_default_options(void) {
    return "detect_leaks=0";
}

const char *__tsan_default_options(void) {
    return "report_bugs=0";
}
