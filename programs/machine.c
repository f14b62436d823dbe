/* SPDX-License-Identifier: MIT */
/* Question: what machine is this? Facts of hardware and system, without a measurement.
 *
 * Method: attributes of the CUDA device, NVML where the driver has it, hwloc for the host, and the
 * BLAS and LAPACK libraries in use. An unknown fact reads "unknown".
 *
 * What can fool it: a virtual machine hides the GPU's attachment (locality "unknown"); a container
 * hides other users of the GPU; clocks are settings, not measurements.
 *
 * Unit: the key's last part (bytes, hz, watt, celsius), else a count or a name. */
#include "lib/base/cli.h"
#include "lib/device/gpu.h"
#include "lib/device/machine.h"
#include "lib/base/msg.h"
#include "lib/host/allowance.h"
#include "lib/host/topology.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A host that hwloc cannot read is only a warning: the facts are complete. */
static void write_topology(const char *folder)
{
	struct fault fault;
	char *path = xasprintf("%s/topology.xml", folder);
	const struct topology *topology = topology_host(&fault);
	if (!topology || !topology_export(topology, path, &fault))
		msg_warn("%s", fault.text);
	free(path);
}

/* OpenBLAS may not know a new processor. */
static void warn_of_slow_blas(void)
{
#if defined(__x86_64__)
	if (strcmp(openblas_get_corename(), "Prescott") == 0 && __builtin_cpu_supports("avx2"))
		msg_warn("OpenBLAS takes this processor for a Prescott, whose kernels are several "
		         "times slower than what it could run: install a newer OpenBLAS, or set "
		         "OPENBLAS_CORETYPE=Haswell (SkylakeX with AVX-512) for all that is run");
#endif
}

static void warn_of_limits(void)
{
	const struct cpu_quota *quota = host_quota();
	const char *given = topology_given();
	struct topology_facts facts = {0};
	struct fault fault;

	if (given)
		msg_warn("%s is set: the recorded topology may be another machine's (unset it to "
		         "record this one)",
		        given);
	if (topology_host(&fault))
		topology_facts(topology_host(&fault), &facts);
	if (facts.core_kinds > 1)
		msg_warn("the host has cores of %d kinds: one thread runs on the fastest kind, "
		         "many threads on all, so results of many threads mix them",
		        facts.core_kinds);
	if (isfinite(quota->processors))
		msg_warn(
		        "a CPU quota leaves this process the time of %.3g processors: host results "
		        "that meet it are noisy",
		        quota->processors);
}

static void warn_of_gpu(const struct gpu *gpu)
{
	struct gpu_warnings warnings;

	machine_gpu_warnings(gpu, &warnings);
	for (int i = 0; i < warnings.count; i++)
		msg_warn("%s", warnings.text[i].text);
}

int main(int argc, char **argv)
{
	const struct cli_program program = {.name = "fathom-machine",
	        .summary = "What machine is this? Facts of the GPU and the host, nothing measured.",
	        .examples = "fathom machine\n"
	                    "fathom machine --json\n",
	        .details =
	                "Writes OUTPUT/machine.tsv and OUTPUT/topology.xml. A GPU is not needed."};
	struct cli_common common = {0};
	cli_parse(argc, argv, &program, &common, NULL);

	struct gpu gpu;
	struct fault reason;
	bool usable = gpu_open(&gpu, common.device, &reason);
	struct table *facts = machine_describe(usable ? &gpu : NULL, reason.text);
	machine_stamp(facts, "machine", usable ? &gpu : NULL, argc, argv);
	table_save(facts, "%s/machine.tsv", common.output);
	write_topology(common.output);
	warn_of_slow_blas();
	warn_of_limits();
	if (usable)
		warn_of_gpu(&gpu);
	if (common.json)
		cli_write_json(facts, "facts");
	else
		table_print(facts, NULL, 0, stdout);
	table_free(facts);
	return EXIT_DONE;
}
