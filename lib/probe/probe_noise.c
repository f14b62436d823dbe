/* SPDX-License-Identifier: MIT */
#include "probe_noise.h"

#include "lib/base/msg.h"
#include "lib/host/core_noise.h"

#include <stdlib.h>

struct probe_noise {
	const struct topology *topology;
	struct core_noise noise;
};

static struct probe_noise *open_near(const struct gpu *gpu, const struct probe_run *run)
{
	struct fault fault;
	struct topology_facts facts;
	int raw;
	struct probe_noise *host = xcalloc(1, sizeof *host);

	host->topology = topology_host(&fault);
	if (!host->topology) {
		free(host);
		return NULL;
	}
	topology_facts(host->topology, &facts);
	core_noise_open(&host->noise, host->topology, facts.cores,
	        topology_gpu_node(host->topology, gpu->pci, &raw), run->common.quick);
	core_noise_expect(&host->noise, run->core_usual);
	return host;
}

void probe_noise_take(struct probe_run *run, const struct gpu *gpu)
{
	char got[128];

	if (!run->noise)
		return;
	if (*run->noise)
		core_noise_return(&(*run->noise)->noise);
	else
		*run->noise = open_near(gpu, run);
	if (!*run->noise)
		return;
	core_noise_note(&(*run->noise)->noise, run->curve);
	topology_binding((*run->noise)->topology, got);
	table_meta_set(run->curve, "timing_thread", "%s", got);
}

void probe_noise_leave(struct probe_run *run)
{
	if (run->noise && *run->noise)
		core_noise_leave(&(*run->noise)->noise);
}

void probe_noise_close(struct probe_noise *host)
{
	if (!host)
		return;
	core_noise_close(&host->noise);
	free(host);
}

bool probe_noise_sample(struct probe_run *run, sample_function function, void *context,
        const struct sample_plan *plan, double max_hz, struct measurement *result)
{
	if (!run->noise || !*run->noise)
		return sample_run(function, context, plan, max_hz, result);
	return core_noise_sample_run(
	        &(*run->noise)->noise, function, context, plan, max_hz, result);
}
