/* SPDX-License-Identifier: MIT */
#include "allowance.h"
#include "small_file.h"

#include "lib/base/msg.h"

#include <math.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- processors ---- */

enum { MOST_PROCESSORS = 8192 };

/* Ranges of the processors in a set, as far as the text has room. */
static void list_ranges(const cpu_set_t *set, size_t bytes, char *text, size_t size)
{
	size_t length = 0;

	for (int first = 0, next; first < MOST_PROCESSORS && length < size; first = next + 1) {
		next = first;
		while (next < MOST_PROCESSORS && CPU_ISSET_S((size_t)next, bytes, set))
			next++;
		if (next == first)
			continue;
		length += (size_t)snprintf(
		        text + length, size - length, "%s%d", length > 0 ? "," : "", first);
		if (next > first + 1 && length < size)
			length += (size_t)snprintf(text + length, size - length, "-%d", next - 1);
	}
}

const char *host_processors(void)
{
	static char list[128];
	const size_t bytes = CPU_ALLOC_SIZE(MOST_PROCESSORS);
	cpu_set_t *set = list[0] ? NULL : CPU_ALLOC(MOST_PROCESSORS);

	if (set) {
		memset(set, 0, bytes);
		if (sched_getaffinity(0, bytes, set) == 0)
			list_ranges(set, bytes, list, sizeof list);
		CPU_FREE(set);
	}
	if (!list[0])
		snprintf(list, sizeof list, "unknown");
	return list;
}

int host_threads(void)
{
	static int threads;

	if (threads == 0) {
		const int limit = omp_get_thread_limit();
		threads = omp_get_num_procs();
		threads = limit < threads ? limit : threads;
	}
	return threads;
}

void host_threads_all(void)
{
	omp_set_dynamic(0);
	if (omp_get_max_active_levels() < 1)
		omp_set_max_active_levels(1);
}

const char *host_threads_asked(void)
{
	static const char *const name[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"};
	static char text[64];

	for (size_t i = 0; i < ARRAY_LEN(name); i++) {
		const char *value = getenv(name[i]);
		const int asked = value ? atoi(value) : 0;
		if (asked <= 0 || asked >= host_threads())
			continue;
		snprintf(text, sizeof text, "%s=%d", name[i], asked);
		return text;
	}
	return NULL;
}

/* ---- the quota ---- */

/* Version 2 has "quota period" or "max period" in one file, version 1 has two files. */
static double quota_of(const char *folder)
{
	char path[4096], line[64];
	double quota = 0, period = 0;

	snprintf(path, sizeof path, "%s/cpu.max", folder);
	if (small_file_line(path, "", line, sizeof line)) {
		sscanf(line, "%lf %lf", &quota, &period);
	} else {
		snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
		small_file_number(path, "", &quota);
		snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
		small_file_number(path, "", &period);
	}
	return quota > 0 && period > 0 ? quota / period : INFINITY;
}

/* A group and all groups around it, up to the mount. A container may not see its own name below
 * the mount: the folders that exist count. */
static void add_groups(struct cpu_quota *all, const char *mount, const char *group)
{
	char *folder = xasprintf("%s%s", mount, group);
	const size_t top = strlen(mount);

	while (all->levels < QUOTA_LEVELS) {
		const double processors = quota_of(folder);
		if (isfinite(processors))
			all->stat[all->levels++] = xasprintf("%s/cpu.stat", folder);
		all->processors = fmin(all->processors, processors);
		char *slash = strrchr(folder, '/');
		if (!slash || (size_t)(slash - folder) < top)
			break;
		*slash = '\0';
	}
	free(folder);
}

/* Whether a comma-separated list has the word "cpu". */
static bool has_cpu(const char *controllers)
{
	for (const char *at = controllers; at; at = strchr(at, ','), at = at ? at + 1 : NULL)
		if (strncmp(at, "cpu", 3) == 0 && (at[3] == ',' || !at[3]))
			return true;
	return false;
}

struct cpu_quota cpu_quota_read(const char *groups, const char *mount)
{
	struct cpu_quota all = {.processors = INFINITY};
	char line[4096];
	FILE *file = fopen(groups, "r");

	/* "number:controllers:group"; version 2 names no controllers. */
	while (file && fgets(line, sizeof line, file)) {
		line[strcspn(line, "\n")] = '\0';
		char *controllers = strchr(line, ':');
		char *group = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!group)
			continue;
		*group++ = '\0';
		controllers++;
		if (controllers[0] && !has_cpu(controllers))
			continue;
		char *below = xasprintf("%s%s%s", mount, controllers[0] ? "/" : "", controllers);
		add_groups(&all, below, strcmp(group, "/") == 0 ? "" : group);
		free(below);
	}
	if (file)
		fclose(file);
	return all;
}

void cpu_quota_free(struct cpu_quota *quota)
{
	for (int i = 0; i < quota->levels; i++)
		free(quota->stat[i]);
	*quota = (struct cpu_quota){.processors = INFINITY};
}

int64_t cpu_quota_throttled(const struct cpu_quota *quota)
{
	int64_t sum = 0;
	double times;

	for (int i = 0; i < quota->levels; i++)
		if (small_file_number(quota->stat[i], "nr_throttled ", &times))
			sum += (int64_t)times;
	return sum;
}

static struct cpu_quota own;
static bool own_read;

void host_quota_from(const char *groups, const char *mount)
{
	cpu_quota_free(&own);
	own = cpu_quota_read(
	        groups ? groups : "/proc/self/cgroup", mount ? mount : "/sys/fs/cgroup");
	own_read = true;
}

const struct cpu_quota *host_quota(void)
{
	if (!own_read)
		host_quota_from(NULL, NULL);
	return &own;
}
