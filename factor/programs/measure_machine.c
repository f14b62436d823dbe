/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include "lib/device/machine.h"
#include "lib/base/msg.h"

#include <inttypes.h>
#include <string.h>

const char *const measure_executor_names[MEASURE_EXECUTORS] = {"cuda", "host"};

/* Binds the calling thread to the quietest core. Threads started before are not bound: those of the
 * BLAS, of the driver and, started here, the threads that make matrices and check results. */
static void take_core(struct measure *measure)
{
	struct topology_facts facts;
	struct fault fault = {""};
	int started = 0;

#pragma omp parallel reduction(+ : started)
	started++;
	msg_note("%d threads make and check matrices", started);

	if (!(measure->topology = topology_host(&fault))) {
		msg_warn("the measuring thread is not bound to a core: %s", fault.text);
		return;
	}
	topology_facts(measure->topology, &facts);
	core_noise_open(&measure->noise, measure->topology, facts.cores, -1, false);
	measure->plan.noise = &measure->noise;
}

void measure_open(struct measure *measure)
{
	struct fault fault = {""};

	measure->has_gpu = gpu_open(&measure->gpu, measure->common.device, &fault);
	if (measure->has_gpu)
		measure->executor[0] = executor_cuda_new(measure->common.device, &fault);
	if (!measure->executor[0])
		msg_warn("no GPU is measured, host cases only: %s", fault.text);
	else if (!(measure->vendor = vendor_new(&fault)))
		msg_warn("no cuSOLVER reference: %s", fault.text);
	if (!(measure->executor[1] = executor_host_new(&fault)))
		msg_warn("no host executor: %s", fault.text);
	if (!measure->executor[0] && !measure->executor[1])
		msg_die(EXIT_NOT_POSSIBLE, "nothing can be measured here: %s", fault.text);
	take_core(measure);
}

void measure_close(struct measure *measure)
{
	vendor_free(measure->vendor);
	for (int e = 0; e < MEASURE_EXECUTORS; e++)
		executor_free(measure->executor[e]);
	if (measure->topology)
		core_noise_close(&measure->noise);
}

void measure_stamp(struct measure *measure, struct table *table)
{
	const struct gpu *gpu = measure->has_gpu ? &measure->gpu : NULL;

	machine_stamp(table, "measure", gpu, measure->argc, measure->argv);
	table_meta_set(table, "seed", "%" PRId64, measure->common.seed);
	if (gpu)
		table_meta_set(table, "other_users", "%d", gpu_other_users(gpu));
	if (measure->topology)
		core_noise_note(&measure->noise, table);
}

struct executor *measure_first(const struct measure *measure, const char **name)
{
	const int first = measure->executor[0] ? 0 : 1;

	if (name)
		*name = measure_executor_names[first];
	return measure->executor[first];
}

struct executor *measure_executor(const struct measure *measure, const char *name)
{
	for (int e = 0; e < MEASURE_EXECUTORS; e++)
		if (strcmp(name, measure_executor_names[e]) == 0)
			return measure->executor[e];
	return NULL;
}
