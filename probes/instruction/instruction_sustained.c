/* SPDX-License-Identifier: MIT */
/* Arithmetic for seconds, with clock and power: heat and power may not allow the rate of a burst.
 */
#include "instruction_internal.h"

#include "lib/host/clock.h"
#include "lib/device/nvml.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double sustained_kernel = 10e-3;

/* Kernels of some milliseconds for `seconds`; only the second half counts. */
static void measure_sustained(
        struct probe_run *run, struct subject *s, const char *series, double seconds)
{
	enum { SAMPLES = 4096 };
	static double time[SAMPLES], hz[SAMPLES];
	struct nvml_facts facts = {.power_milliwatt = -1};
	struct measurement m = {.hz = NAN};
	size_t count = 0;
	instruction_set_turns(s, sustained_kernel);
	const double start = clock_now();
	while (clock_now() - start < seconds && count < SAMPLES) {
		struct sample sample;
		instruction_sample(s, &sample);
		if (clock_now() - start < seconds / 2)
			continue;
		if (sample.agreed) {
			time[count] = sample.seconds;
			hz[count++] = sample.hz;
		} else {
			m.discarded++;
		}
	}
	nvml_read(s->bench->gpu.pci, &facts);
	m.seconds = stats_median_interval(time, count);
	m.hz = stats_median(hz, count);
	instruction_record(
	        run, s, series, facts.power_milliwatt > 0 ? facts.power_milliwatt * 1e-3 : NAN, &m);
}

/* The saturated form of an instruction, if the device has it. */
static bool sustain(struct probe_run *run, struct instruction_bench *b, const char *name,
        int chains, double seconds)
{
	char series[64];
	size_t index = 0;
	while (index < b->count && strcmp(b->table[index].name, name) != 0)
		++index;
	if (index == b->count || b->gpu.code < b->table[index].capability)
		return false;
	struct subject s = instruction_chains(b, index, chains, 16, 1);
	snprintf(series, sizeof series, "%s_sustained", name);
	measure_sustained(run, &s, series, seconds);
	return true;
}

void instruction_sustained(
        struct probe_run *run, struct instruction_bench *b, bool all, double seconds)
{
	const bool warpgroups = b->gpu.warpgroups;
	sustain(run, b, "fma.s", 8, seconds);
	if (all) {
		sustain(run, b, "fma.d", 8, seconds);
		if (!sustain(run, b, "mma.d16", 4, seconds))
			sustain(run, b, "mma.d", 4, seconds);
	}
	if (all && !warpgroups)
		sustain(run, b, "mma.bf16", 4, seconds);
	if (warpgroups) {
		struct subject tf32 = instruction_warpgroups(b, WGMMA_TF32);
		measure_sustained(run, &tf32, "wgmma.tf32_sustained", seconds);
	}
	if (all && warpgroups) {
		struct subject bf16 = instruction_warpgroups(b, WGMMA_BF16);
		measure_sustained(run, &bf16, "wgmma.bf16_sustained", seconds);
	}
}
