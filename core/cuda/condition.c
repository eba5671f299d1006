/* Loads the kernel that sets the condition of a loop in a device graph. */
#include "core/cuda/cuda.h"

#include <string.h>

/* The compiler leaves cudaGraphSetConditional unresolved; the driver links it when it loads the
 * module. The kernel is compiled from CUDA C++, which needs NVRTC, or else from PTX, which needs
 * the driver's compiler. */

static const char kernel_name[] = "set_condition";

static const char source[] =
    "extern \"C\" __device__ void cudaGraphSetConditional(unsigned long long handle,\n"
    "                                                   unsigned value);\n"
    "extern \"C\" __global__ void set_condition(unsigned long long handle, const unsigned *flag)\n"
    "{\n"
    "    cudaGraphSetConditional(handle, *flag);\n"
    "}\n";

static const char assembly[] =
    ".version 6.0\n"
    ".target sm_60\n"
    ".address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);\n"
    ".visible .entry set_condition(.param .u64 handle, .param .u64 flag)\n"
    "{\n"
    "    .reg .b32 %value;\n"
    "    .reg .b64 %handle, %flag;\n"
    "    ld.param.u64 %handle, [handle];\n"
    "    ld.param.u64 %flag, [flag];\n"
    "    cvta.to.global.u64 %flag, %flag;\n"
    "    ld.global.u32 %value, [%flag];\n"
    "    {\n"
    "        .param .b64 first;\n"
    "        .param .b32 second;\n"
    "        st.param.b64 [first], %handle;\n"
    "        st.param.b32 [second], %value;\n"
    "        call.uni cudaGraphSetConditional, (first, second);\n"
    "    }\n"
    "    ret;\n"
    "}\n";

/* Compile from CUDA C++, through the cache as any module. */
static weft_status compile(weft_device *device, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_state *state = device->state;
    TRY(weft_module_make(device, kernel_name, source, &state->condition, error));
    status = weft_cuda_module_kernel(state->condition, kernel_name, &state->set_condition, error);
    if (status != WEFT_OK)
        weft_module_free(&state->condition);
done:
    return status;
}

static weft_status load_assembly(weft_cuda_state *state, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cuda_driver *driver = &state->driver;
    weft_cu_module module = NULL;
    TRY(weft_cuda_check(state, driver->cuModuleLoadData(&module, assembly),
                        "loading the kernel that sets a loop's condition", error));
    status = weft_cuda_check(
        state, driver->cuModuleGetFunction(&state->set_condition, module, kernel_name),
        "finding the kernel that sets a loop's condition", error);
    if (status != WEFT_OK)
        (void)driver->cuModuleUnload(module);
    else
        state->assembled = module;
done:
    return status;
}

weft_status weft_cuda_condition_load(weft_device *device, weft_error *error) {
    weft_error first;
    if (compile(device, &first) == WEFT_OK || load_assembly(device->state, error) == WEFT_OK)
        return WEFT_OK;
    if (error) {
        char second[400];
        memcpy(second, error->message, sizeof second - 1);
        second[sizeof second - 1] = '\0';
        weft_error_set(error, WEFT_ERROR_DEVICE, "%.400s; before: %.400s", second, first.message);
    }
    return WEFT_ERROR_DEVICE;
}

void weft_cuda_condition_free(weft_cuda_state *state) {
    weft_module_free(&state->condition);
    if (state->assembled)
        (void)state->driver.cuModuleUnload(state->assembled);
    state->assembled = NULL;
}
