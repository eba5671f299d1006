/* Determines how many processors and how much memory this process may use. */
#include "core/base/file.h"
#include "core/base/number.h"
#include "core/base/threads.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads the limit of a control group from its directory; 0: no limit. */
typedef double (*group_reader)(const char *folder);

/* Read "QUOTA PERIOD" or "NUMBER"; "max" means no limit. Returns the count of numbers read. */
static int read_numbers(const char *folder, const char *name, double values[2]) {
    char path[1200], text[128] = "";
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!weft_system_file_read(path, text, sizeof text))
        return 0;
    char *at = text;
    for (int n = 0; n < 2; ++n) {
        char *end = at;
        values[n] = weft_number_read(at, &end);
        if (end == at)
            return n;
        at = end;
    }
    return 2;
}

static double group_processors(const char *folder) {
    double values[2];
    if (read_numbers(folder, "cpu.max", values) != 2 || values[0] <= 0 || values[1] <= 0)
        return 0;
    return values[0] / values[1];
}

static double group_memory(const char *folder) {
    double values[2];
    return read_numbers(folder, "memory.max", values) > 0 && values[0] > 0 ? values[0] : 0;
}

/* The smallest limit of this process's control group and its ancestors (cgroups version 2). */
static double groups_limit(group_reader reader) {
    char text[4096], folder[1024] = "/sys/fs/cgroup";
    const size_t top = strlen(folder);
    (void)weft_system_file_read("/proc/self/cgroup", text, sizeof text);
    const char *line = strncmp(text, "0::/", 4) == 0 ? text : strstr(text, "\n0::/");
    if (line) {
        line += *line == '\n';
        snprintf(folder + top, sizeof folder - top, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
    }
    double smallest = 0;
    for (;;) {
        double limit = reader(folder);
        if (limit > 0 && (smallest <= 0 || limit < smallest))
            smallest = limit;
        char *slash = strrchr(folder, '/');
        if (!slash || strlen(folder) <= top)
            return smallest;
        *slash = '\0';
    }
}

/* cgroups version 1, for the group that a container sees as the root. */
static double old_group_processors(void) {
    double quota[2], period[2];
    if (read_numbers("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", quota) < 1 ||
        read_numbers("/sys/fs/cgroup/cpu", "cpu.cfs_period_us", period) < 1 || quota[0] <= 0 ||
        period[0] <= 0)
        return 0;
    return quota[0] / period[0];
}

static int affinity_count(void) {
    cpu_set_t sets[256]; /* of 1024 processors each */
    if (sched_getaffinity(0, sizeof sets, sets) == 0 && CPU_COUNT_S(sizeof sets, sets) > 0)
        return CPU_COUNT_S(sizeof sets, sets);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < 4096 ? (int)online : 1;
}

/* At most as many as control groups allow. */
static int limited(int count) {
    const double limits[2] = {groups_limit(group_processors), old_group_processors()};
    for (int i = 0; i < 2; ++i)
        if (limits[i] > 0 && limits[i] < count)
            count = limits[i] > 1 ? (int)(limits[i] + 0.999) : 1;
    return count;
}

int weft_threads_available(void) {
    return limited(affinity_count());
}

int weft_threads_online(void) {
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return limited(count > 0 ? (int)count : 1);
}

size_t weft_memory_available(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    size_t bytes = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : SIZE_MAX / 4;
    double limit = groups_limit(group_memory);
    return limit > 0 && limit < (double)bytes ? (size_t)limit : bytes;
}
