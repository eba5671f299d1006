/* Turns the driver's error codes into messages with hints. */
#include "core/cuda/cuda.h"

/* Hints for the driver's codes in [from, to]; other codes are not expected. */
static const struct {
    short from, to;
    const char *hint;
} hints[] = {
    {1, 1,
     "Weft asked for what the driver does not take: report it, with the kernel and its sizes"},
    {2, 2, "take a smaller mesh, or an assembly that stores less (--assembly matrix-free)"},
    {3, 4, "the driver was not started or has ended: start the program again"},
    {34, 36, "the driver and the CUDA libraries do not belong together: install a newer driver"},
    {46, 46, "another process has the GPU for itself, or it is being reset: see nvidia-smi"},
    {100, 100,
     "there is no GPU that this process may use: see nvidia-smi and CUDA_VISIBLE_DEVICES, or use "
     "--device host"},
    {101, 101, "weft devices lists the GPUs there are"},
    {102, 102, "this GPU needs a licence (a virtual GPU): ask who runs the machine"},
    {200, 200, "the kernel was compiled for another GPU: clear the cache (weft cache clear)"},
    {209, 209, "the kernel was compiled for another GPU: clear the cache (weft cache clear)"},
    {214, 214, "the GPU's memory or link failed: see nvidia-smi -q, and try another GPU"},
    {218, 218, "the kernel's text is damaged: clear the cache (weft cache clear)"},
    {220, 220, "the GPU's memory or link failed: see nvidia-smi -q, and try another GPU"},
    {221, 221, "the driver's own compiler is missing (libnvidia-ptxjitcompiler): install it"},
    {222, 222, "the driver and the CUDA libraries do not belong together: install a newer driver"},
    {223, 223, "CUDA_DISABLE_PTX_JIT is set: unset it"},
    {226, 226, "the GPU's memory failed in what this process used: start it again"},
    {304, 304, "the operating system refused: see its log, and the rights on /dev/nvidia*"},
    {700, 700,
     "a kernel left its arrays: run under compute-sanitizer to see where; nothing that was "
     "computed since may be used"},
    {701, 701, "the kernel needs more registers or threads than a block has: take a smaller block"},
    {702, 702, "the display's watchdog ended the kernel: use a GPU without a display"},
    {709, 709, "something else in this process ended the GPU's context: do not reset the device"},
    {710, 710, "an assertion in a kernel failed: its text is above"},
    {714, 715, "a kernel failed: run under compute-sanitizer to see where"},
    {716, 718,
     "a kernel left its arrays: run under compute-sanitizer to see where; nothing that was "
     "computed since may be used"},
    {719, 719, "a kernel failed: run under compute-sanitizer to see where"},
    {720, 720,
     "the blocks of a cooperative launch do not run at once: weft_device_resident_blocks tells how "
     "many do"},
    {800, 800, "this process may not do so: see the GPU's compute mode in nvidia-smi"},
    {801, 801, "this GPU or its driver cannot do so: install a newer driver, or use another GPU"},
    {802, 802, "the GPU's fabric is still starting: try again in a minute"},
    {803, 804, "the driver and the CUDA libraries do not belong together: install a newer driver"},
    {805, 810, "the MPS server does not serve this process: see nvidia-cuda-mps-control"},
    {900, 908,
     "something was called that cannot be captured: capture launches, zeroes and copies alone"},
    {999, 999, "see the system's log (dmesg, NVRM and Xid lines), and start the program again"},
};

static const char *hint_of(weft_cu_result code) {
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; ++i)
        if (code >= hints[i].from && code <= hints[i].to)
            return hints[i].hint;
    return "the driver is not expected to say so: see nvidia-smi and the system's log, and report "
           "it with the output of WEFT_LOG=debug";
}

weft_status weft_cuda_failed(const weft_cuda_driver *driver, weft_cu_result code, const char *what,
                             weft_error *error) {
    const char *name = NULL, *text = NULL;
    weft_status status = code == WEFT_CU_OUT_OF_MEMORY ? WEFT_ERROR_MEMORY : WEFT_ERROR_DEVICE;
    if (driver->cuGetErrorName(code, &name) != 0 || !name)
        name = "an error without a name";
    if (driver->cuGetErrorString(code, &text) != 0 || !text)
        text = "the driver has no words for it";
    weft_error_set(error, status, "%s: %s, code %d (%s)", what, name, code, text);
    weft_error_hint(error, "%s", hint_of(code));
    return status;
}

bool weft_cuda_is_sticky(weft_cu_result code) {
    static const short codes[] = {4,   214, 220, 226, 700, 702, 709, 710, 714,
                                  715, 716, 717, 718, 719, 721, 810, 999};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; ++i)
        if (codes[i] == code)
            return true;
    return false;
}
