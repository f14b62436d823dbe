/* SPDX-License-Identifier: MIT */
/* Curve of the launch probe -> gpu.launch.*, gpu.event.*, gpu.flag.*, gpu.copy.enqueue,
 * gpu.cublas.*. Every series but one is a parameter as it stands; gpu.event.wait is what a hop
 * between two streams takes beyond a launch in one. */
#include "lib/base/base.h"
#include "launch.h"

#include "lib/probe/curve_midrange.h"
#include "lib/base/msg.h"
#include "lib/profile/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A series, the argument column that makes it a function (or NULL), the parameter, what was done
 * and how it was timed. */
struct rule {
	const char *series, *argument, *name, *what, *how;
	double low, high; /* plausible seconds */
};

static const char held[] = "host clock over 64 calls, stream held";
static const char idle[] = "host clock over 8 round trips, idle stream";
static const char span[] = "device start to start behind a hold, difference of 144 and 16, middle "
                           "of the processes";

/* Bounds: an enqueue at least fills and announces a command; a dependent kernel starts after the
 * one before has drained; a round trip crosses the bus twice, but that of an event in an idle
 * stream, of which the driver may know enough. */
static const struct rule rules[] = {
        {"enqueue", NULL, "gpu.launch.enqueue", "<<<>>>", held, 2e-7, 5e-5},
        {"enqueue_driver", NULL, "gpu.launch.enqueue_driver", "cuLaunchKernel", held, 2e-7, 5e-5},
        {"enqueue_cooperative", NULL, "gpu.launch.enqueue_cooperative",
                "cudaLaunchCooperativeKernel, one block per SM", held, 2e-7, 1e-4},
        {"argument", "bytes", "gpu.launch.argument", "<<<>>>", held, 2e-7, 5e-5},
        {"grid", "blocks", "gpu.launch.grid", "null kernels of 256 threads", span, 1e-7, 1e-3},
        {"dependent", NULL, "gpu.launch.dependent", "null kernels of one block", span, 1e-7, 5e-5},
        {"cooperative", NULL, "gpu.launch.cooperative",
                "cooperative null kernels, one block per SM", span, 1e-7, 1e-4},
        {"stream", NULL, "gpu.launch.stream", "<<<>>>",
                "host clock to the end of the work, difference of 1024 and 128", 2e-7, 5e-5},
        {"sync", NULL, "gpu.launch.sync", "<<<>>> + cudaStreamSynchronize", idle, 1e-6, 1e-3},
        {"pdl", NULL, "gpu.launch.pdl", "programmatic dependent launch", span, 5e-8, 5e-5},
        {"graph_node", NULL, "gpu.launch.graph_node", "graphs of kernels in a row", span, 5e-8,
                5e-5},
        {"graph", NULL, "gpu.launch.graph", "cudaGraphLaunch of one node", held, 2e-7, 1e-4},
        {"access", "accesses", "gpu.launch.access",
                "kernels that follow dependent accesses to what the one before wrote", span, 1e-7,
                1e-4},
        {"turn", "threads", "gpu.launch.turn",
                "16 blocks after one another on every SM, an access and a barrier each", span, 1e-7,
                1e-3},
        {"copy_sync", NULL, "gpu.copy.sync", "<<<>>> + cudaMemcpyAsync of 4 bytes + synchronize",
                idle, 1e-6, 1e-3},
        {"copy_behind", "kernels", "gpu.copy.behind",
                "some <<<>>> + cudaMemcpyAsync of 4 bytes + synchronize", idle, 1e-6, 1e-3},
        {"graph_sync", NULL, "gpu.launch.graph_sync", "cudaGraphLaunch + cudaStreamSynchronize",
                idle, 1e-6, 1e-3},
        {"first", NULL, "gpu.launch.first", "<<<>>> + cudaStreamSynchronize, module not yet loaded",
                "host clock, once a process", 1e-6, 10},
        {"event_record", NULL, "gpu.event.record", "cudaEventRecord", held, 2e-8, 5e-5},
        {"event_sync", NULL, "gpu.event.sync", "cudaEventRecord + cudaEventSynchronize", idle, 1e-7,
                1e-3},
        {"event_wait", NULL, "gpu.event.wait", "kernels of two streams in turn, by record and wait",
                span, 1e-7, 5e-5},
        {"event_mark", NULL, "gpu.event.mark",
                "null kernels of one block, a timed event behind each", span, 1e-7, 5e-5},
        {"flag_sync", NULL, "gpu.flag.sync", "<<<>>> until the kernel's flag is seen", idle, 1e-6,
                1e-3},
        {"copy_enqueue", NULL, "gpu.copy.enqueue", "cudaMemcpyAsync of 4 bytes to pinned memory",
                held, 2e-7, 1e-4},
        {"iamax", "bytes", "gpu.cublas.iamax", "cublasIsamax, result on the host", idle, 2e-6,
                1e-3},
        {"nrm2", NULL, "gpu.cublas.nrm2", "cublasSnrm2 n=32, result on the host", idle, 2e-6, 1e-3},
        {"gemv", NULL, "gpu.cublas.gemv", "cublasSgemv 32x32", held, 2e-7, 1e-4},
        {"gemv_t", NULL, "gpu.cublas.gemv_t", "cublasSgemv 32x32, transposed", held, 2e-7, 1e-4},
        {"gemm", NULL, "gpu.cublas.gemm", "cublasSgemm n x n x 32, n = 32..1024 in turn", held,
                2e-7, 2e-4},
        {"gemm_t", NULL, "gpu.cublas.gemm_t",
                "cublasSgemm 32 x n x n, transposed, n = 32..1024 in turn", held, 2e-7, 2e-4},
        {"scal", NULL, "gpu.cublas.level1", "cublasSscal n=32", held, 2e-7, 1e-4},
        {"scal_device", NULL, "gpu.cublas.level1_device", "cublasSscal n=32", span, 1e-7, 1e-4},
        {"swap", NULL, "gpu.cublas.swap", "cublasSswap n=32", held, 2e-7, 1e-4},
        {"swap_device", NULL, "gpu.cublas.swap_device", "cublasSswap n=32", span, 1e-7, 1e-4},
        {"ger", NULL, "gpu.cublas.level2", "cublasSger 32x32", held, 2e-7, 1e-4},
        {"ger_device", NULL, "gpu.cublas.level2_device", "cublasSger 32x32", span, 1e-7, 1e-4},
};

/* The probe names in the metadata what the device does not have; that is no failure. */
static bool unavailable(const struct table *curve, const char *series)
{
	char *key = xasprintf("unavailable.%s", series);
	bool named = table_meta(curve, key) != NULL;
	free(key);
	return named;
}

/* A series without points gives one failed row. */
static void fit_rule(const struct table *curve, struct profile *profile, const struct rule *rule)
{
	char *method = xasprintf("%s; %s", rule->what, rule->how);
	/* a library's call by its size is a rate surface */
	const bool library = rule->argument && strncmp(rule->name, "gpu.cublas.", 11) == 0;
	struct parameter_spec spec = {
	        rule->name, "s", method, library ? "surface" : NULL, rule->low, rule->high};
	struct point *points;
	size_t n = curve_points(curve, rule->series, &points);
	for (size_t i = 0; i < n && (i == 0 || rule->argument); i++) {
		struct arg arg = {rule->argument, NAN};
		if (rule->argument)
			arg.value = curve_arg(curve, &points[i], rule->argument);
		const struct estimate seconds =
		        rule->how == span ? curve_midrange(curve, &points[i]) : points[i].seconds;
		profile_add(profile, &spec, &arg, rule->argument != NULL, seconds, points[i].busy);
	}
	if (n == 0 && !unavailable(curve, rule->series))
		profile_add(profile, &spec, NULL, 0, (struct estimate){NAN, NAN, NAN, 0}, false);
	free(points);
	free(method);
}

void launch_fit(const struct table *curve, struct profile *profile)
{
	for (size_t i = 0; i < ARRAY_LEN(rules); i++)
		fit_rule(curve, profile, &rules[i]);
}
