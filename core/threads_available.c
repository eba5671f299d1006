#include "core_internal.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Processors that cpu.max of a control group (version 2) allows; 0: no limit. */
static int group_limit(const char *folder) {
    char path[1100];
    long long quota, period;
    int limit = 0;
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    /* "max PERIOD" where there is no limit */
    if (fscanf(file, "%lld %lld", &quota, &period) == 2 && quota > 0 && period > 0)
        limit = (int)((quota + period - 1) / period);
    fclose(file);
    return limit;
}

/* The same of version 1, for the group that a container sees as its top. */
static int old_group_limit(void) {
    static const char *const names[2] = {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us",
                                         "/sys/fs/cgroup/cpu/cpu.cfs_period_us"};
    long long values[2] = {-1, -1};
    for (int i = 0; i < 2; ++i) {
        FILE *file = fopen(names[i], "re");
        if (!file)
            return 0;
        if (fscanf(file, "%lld", &values[i]) != 1)
            values[i] = -1;
        fclose(file);
    }
    if (values[0] <= 0 || values[1] <= 0)
        return 0;
    return (int)((values[0] + values[1] - 1) / values[1]);
}

/* The smallest limit of this process's group and of those above it. */
static int groups_limit(void) {
    char line[768], folder[1024] = "/sys/fs/cgroup";
    const size_t top = strlen(folder);
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (file) {
        while (fgets(line, sizeof line, file))
            if (strncmp(line, "0::/", 4) == 0) {
                line[strcspn(line, "\n")] = '\0';
                snprintf(folder + top, sizeof folder - top, "%s", line + 3);
            }
        fclose(file);
    }
    int smallest = old_group_limit();
    for (;;) {
        int limit = group_limit(folder);
        if (limit > 0 && (smallest == 0 || limit < smallest))
            smallest = limit;
        char *slash = strrchr(folder, '/');
        if (!slash || strlen(folder) <= top)
            return smallest;
        *slash = '\0';
    }
}

static int affinity_count(void) {
    for (int n = 1024; n <= 1 << 18; n *= 4) {
        cpu_set_t *set = CPU_ALLOC((size_t)n);
        if (!set)
            break;
        size_t size = CPU_ALLOC_SIZE((size_t)n);
        int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (count > 0)
            return count;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < 4096 ? (int)online : 1;
}

int weft_threads_available(void) {
    int count = affinity_count(), limit = groups_limit();
    return limit > 0 && limit < count ? limit : count;
}
