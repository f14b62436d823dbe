/* SPDX-License-Identifier: MIT */
#include "base.h"
#include "probe_quiet.h"

#include "msg.h"
#include "quiet.h"

#include <stdlib.h>

struct probe_quiet {
	const struct topology *topology;
	struct quiet quiet;
};

static struct probe_quiet *open_near(const struct gpu *gpu, const struct probe_run *run)
{
	struct fault fault;
	struct topology_facts facts;
	int raw;
	struct probe_quiet *host = xcalloc(1, sizeof *host);

	host->topology = topology_host(&fault);
	if (!host->topology) {
		free(host);
		return NULL;
	}
	topology_facts(host->topology, &facts);
	quiet_open(&host->quiet, host->topology, facts.cores,
	        topology_gpu_node(host->topology, gpu->pci, &raw));
	quiet_expect(&host->quiet, run->core_usual);
	return host;
}

void probe_quiet_take(struct probe_run *run, const struct gpu *gpu)
{
	char got[128];

	if (!run->quiet)
		return;
	if (*run->quiet)
		quiet_return(&(*run->quiet)->quiet);
	else
		*run->quiet = open_near(gpu, run);
	if (!*run->quiet)
		return;
	quiet_note(&(*run->quiet)->quiet, run->curve);
	topology_binding((*run->quiet)->topology, got);
	table_meta_set(run->curve, "timing_thread", "%s", got);
}

void probe_quiet_leave(struct probe_run *run)
{
	if (run->quiet && *run->quiet)
		quiet_leave(&(*run->quiet)->quiet);
}

void probe_quiet_close(struct probe_quiet *host)
{
	if (!host)
		return;
	quiet_close(&host->quiet);
	free(host);
}

bool probe_quiet_sample(struct probe_run *run, sample_function function, void *context,
        const struct sample_plan *plan, double max_hz, struct measurement *result)
{
	if (!run->quiet || !*run->quiet)
		return sample_run(function, context, plan, max_hz, result);
	return quiet_sample_run(&(*run->quiet)->quiet, function, context, plan, max_hz, result);
}
