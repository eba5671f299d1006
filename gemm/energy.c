/* Measures the energy of launches. */
#include "gemm/tune.h"

static const double GROUP = 1e-2, WARM = 0.1, LONGEST = 1; /* seconds; LONGEST: beyond the burst */

/* What the monitor has shown since its first step. */
typedef struct steps {
    double first, first_at, last, last_at; /* joules, seconds */
    int64_t first_group, last_group;
    double megahertz; /* sum */
    int n;
} steps;

/* The counter advances every 0.1 s: only its steps are points in time. Those of the warm-up do not count. */
static void read_monitor(steps *s, const weft_power_monitor *power, int64_t group, bool warm) {
    const weft_power_reading reading = weft_power_monitor_read(power);
    if (reading.joules <= s->last)
        return;
    s->last = reading.joules;
    if (!warm)
        return;
    s->last_at = weft_clock();
    s->last_group = group;
    s->megahertz += reading.megahertz;
    if (s->n++ == 0) {
        s->first = s->last;
        s->first_at = s->last_at;
        s->first_group = group;
        s->megahertz = 0;
    }
}

static weft_status time_one(const weft_gemm_work *work, weft_timer *timer, double *seconds,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < 2; ++i) { /* the first may compile */
        TRY(weft_timer_start(timer, error));
        TRY(work->run(work->user, error));
        TRY(weft_timer_stop(timer, error));
        TRY(weft_timer_seconds(timer, seconds, error));
    }
done:
    return status;
}

/* Two groups of launches alternate, so that the device computes one while the monitor is read after the other. */
weft_status weft_gemm_energy_measure(weft_device *device, const weft_power_monitor *power,
                                     const weft_gemm_work *work, double burst,
                                     weft_gemm_energy *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_timer *timers[2] = {NULL};
    steps s = {0};
    double one = 0, ignored;
    *out = (weft_gemm_energy){0};
    if (!power)
        goto done;
    for (int i = 0; i < 2; ++i)
        TRY(weft_timer_make(device, &timers[i], error));
    TRY(time_one(work, timers[0], &one, error));
    const int launches = one > 0 && one < GROUP ? (int)(GROUP / one) : 1;
    const double begin = weft_clock();
    s.last = weft_power_monitor_read(power).joules;
    for (int64_t group = 0; weft_clock() - begin < burst + LONGEST; ++group) {
        TRY(weft_timer_start(timers[group % 2], error));
        for (int i = 0; i < launches; ++i)
            TRY(work->run(work->user, error));
        TRY(weft_timer_stop(timers[group % 2], error));
        if (group == 0)
            continue;
        TRY(weft_timer_seconds(timers[(group - 1) % 2], &ignored, error)); /* waits for it */
        read_monitor(&s, power, group, weft_clock() - begin > WARM);
        if (s.n > 1 && s.last_at - begin > burst)
            break;
    }
    TRY(weft_device_wait(device, error));
    if (s.n > 1) {
        out->launches = (s.last_group - s.first_group) * launches;
        out->joules = (s.last - s.first) / (double)out->launches;
        out->watts = (s.last - s.first) / (s.last_at - s.first_at);
        out->seconds = (s.last_at - s.first_at) / (double)out->launches;
        out->megahertz = s.megahertz / (s.n - 1);
    }
done:
    weft_timer_free(&timers[0]);
    weft_timer_free(&timers[1]);
    return status;
}
