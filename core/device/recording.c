#include "core/device/device.h"

#include <stdatomic.h>
#include <stdlib.h>

struct weft_recording {
    weft_device *device;
    void *state; /* the device's */
};

weft_status weft_recording_refuses(const weft_device *device, const char *what, weft_error *error) {
    if (!atomic_load(&device->recording))
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE, "%s cannot be recorded, and %s is recording", what,
                   device->limits.name);
    weft_error_hint(error, "do it before weft_recording_begin or after weft_recording_end");
    return WEFT_ERROR_USAGE;
}

bool weft_device_records(const weft_device *device) {
    const weft_recording_table *table = device->table->recording;
    return table && table->available((weft_device *)device);
}

static weft_status must_record(const weft_device *device, const char *call, weft_error *error) {
    if (!device->table->recording)
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s: %s does not record launches",
                              call, device->limits.name);
    if (!atomic_load(&device->recording))
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "%s without weft_recording_begin: nothing is being recorded", call);
    return WEFT_OK;
}

weft_status weft_recording_begin(weft_device *device, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!weft_device_records(device))
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                              "weft_recording_begin: %s does not record launches",
                              device->limits.name);
    if (atomic_exchange(&device->recording, true))
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "weft_recording_begin: %s is recording already; a device makes one "
                              "recording at a time",
                              device->limits.name);
    status = device->table->recording->begin(device, error);
    if (status != WEFT_OK)
        atomic_store(&device->recording, false);
    return status;
}

weft_status weft_recording_while(weft_device *device, weft_memory *flag, weft_error *error) {
    weft_status status = must_record(device, "weft_recording_while", error);
    if (status != WEFT_OK)
        return status;
    if (!flag || flag->device != device || flag->bytes < sizeof(uint32_t))
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "weft_recording_while: its flag is not memory of this device with at "
                              "least 4 bytes");
    return device->table->recording->loop(device, flag, error);
}

weft_status weft_recording_end_while(weft_device *device, weft_error *error) {
    weft_status status = must_record(device, "weft_recording_end_while", error);
    return status == WEFT_OK ? device->table->recording->end_loop(device, error) : status;
}

weft_status weft_recording_end(weft_device *device, weft_recording **out, weft_error *error) {
    weft_status status = WEFT_OK;
    void *state = NULL;
    weft_recording *recording = NULL;
    TRY(must_record(device, "weft_recording_end", error));
    status = device->table->recording->end(device, &state, error);
    atomic_store(&device->recording, false);
    if (status != WEFT_OK || !out)
        goto done;
    recording = malloc(sizeof *recording);
    if (!recording)
        TRY(weft_out_of_memory(error, "a recording"));
    *recording = (weft_recording){device, state};
    state = NULL;
    *out = recording;
done:
    if (state)
        device->table->recording->free(device, state);
    return status;
}

weft_status weft_recording_run(weft_recording *recording, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = recording->device;
    TRY(weft_recording_refuses(device, "running a recording", error));
    TRY(device->table->recording->run(device, recording->state, error));
    atomic_fetch_add(&device->launches, 1);
done:
    return status;
}

void weft_recording_free(weft_recording **recording) {
    if (!recording || !*recording)
        return;
    weft_device *device = (*recording)->device;
    device->table->recording->free(device, (*recording)->state);
    free(*recording);
    *recording = NULL;
}
