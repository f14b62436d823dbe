/* SPDX-License-Identifier: MIT */
#include "probe_point.h"

#include "lib/base/msg.h"

#include <stdio.h>
#include <stdlib.h>

void probe_open_gpu(struct probe_run *run, struct gpu *gpu)
{
	struct fault fault;

	if (!gpu_open(gpu, run->common.device, &fault))
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
	probe_watch_gpu(run, gpu);
}

int probe_open_gpus(struct probe_run *run, struct gpu *named, struct gpu *gpu, int most)
{
	struct fault fault;
	int count = 0;

	if (!gpu_open(named, run->common.device, &fault))
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
	if (named->visible < 2)
		msg_die(EXIT_NOT_POSSIBLE, "not measured: one visible GPU, and %s needs two",
		        run->probe->name);
	if (named->visible > most)
		msg_warn("only the first %d of %d GPUs are measured", most, named->visible);
	for (; count < named->visible && count < most; count++) {
		char number[16], *key = xasprintf("gpu.%d", count);
		snprintf(number, sizeof number, "%d", count);
		if (!gpu_open(&gpu[count], number, &fault))
			msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
		table_meta_set(run->curve, key, "%s, %s, %s", gpu[count].name, gpu[count].pci,
		        gpu[count].uuid);
		free(key);
		probe_watch_gpu(run, &gpu[count]);
	}
	probe_watch_gpu(run, named);
	return count;
}

void probe_profile(const struct probe_run *run, void (*put)(void *), void *context, void *stream)
{
	if (!run->profiled)
		return;
	gpu_profile(put, context, stream);
	exit(EXIT_DONE);
}

void probe_measure(struct probe_run *run, const char *series, const struct arg *args,
        size_t arg_count, sample_function function, void *context, const struct sample_plan *plan,
        double max_hz)
{
	struct measurement measurement;

	if (!sample_run(function, context, plan, max_hz, &measurement))
		msg_die(EXIT_MEASURE_FAILED, "%s could not be measured", series);
	probe_record(run, series, args, arg_count, &measurement);
}

void probe_lacks(struct probe_run *run, const struct gpu *gpu, const char *series, int code)
{
	char *key = xasprintf("unavailable.%s", series);
	table_meta_set(run->curve, key,
	        "needs code for %d.%d%s; this device is of compute capability %d.%d, the code of "
	        "this build is for %d.%d%s",
	        code / 10, code % 10, code <= gpu->code ? "a" : "", gpu->major, gpu->minor,
	        gpu->code / 10, gpu->code % 10, gpu->warpgroups ? "a" : "");
	free(key);
}
