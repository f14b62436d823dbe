/* SPDX-License-Identifier: MIT */
/* Curve of the launch probe -> gpu.launch.*, gpu.event.*, gpu.flag.*, gpu.copy.*, gpu.cublas.*.
 * Every series is one parameter. */
#include "lib/base/base.h"
#include "launch.h"

#include "lib/probe/curve_fit.h"

/* How the time was taken: of 64 calls into a held stream, of 8 round trips on an idle stream, or by
 * the device from the start of one kernel to the start of the next. */
#define TIMED(name, what, how, low, high)                                                          \
	{                                                                                          \
		name, "s", what "; " how, NULL, low, high                                          \
	}
#define HELD(name, what, low, high)                                                                \
	TIMED(name, what, "host clock over 64 calls, stream held", low, high)
#define IDLE(name, what, low, high)                                                                \
	TIMED(name, what, "host clock over 8 round trips, idle stream", low, high)
#define SPAN(name, what, low, high)                                                                \
	TIMED(name, what,                                                                          \
	        "device start to start behind a hold, difference of 144 and 16, middle of the "    \
	        "processes",                                                                       \
	        low, high)
#define STREAM(name, what, low, high)                                                              \
	TIMED(name, what, "host clock to the end of the work, difference of 1024 and 128", low,    \
	        high)

/* Bounds: an enqueue at least fills and announces a command; a dependent kernel starts after the
 * kernel before has drained; a round trip crosses the bus twice, except that of an event in an idle
 * stream, which the driver may answer alone. */
static const struct curve_rows rows[] = {
        {"enqueue", .spec = HELD("gpu.launch.enqueue", "<<<>>>", 2e-7, 5e-5)},
        {"enqueue_driver", .spec = HELD("gpu.launch.enqueue_driver", "cuLaunchKernel", 2e-7, 5e-5)},
        {"enqueue_cooperative",
                .spec = HELD("gpu.launch.enqueue_cooperative",
                        "cudaLaunchCooperativeKernel, one block per SM", 2e-7, 1e-4)},
        {"argument", HELD("gpu.launch.argument", "<<<>>>", 2e-7, 5e-5), .column = {"bytes"}},
        {"grid", .spec = SPAN("gpu.launch.grid", "null kernels of 256 threads", 1e-7, 1e-3),
                {"blocks"}, curve_midrange},
        {"dependent", SPAN("gpu.launch.dependent", "null kernels of one block", 1e-7, 5e-5),
                .value = curve_midrange},
        {"cooperative",
                SPAN("gpu.launch.cooperative", "cooperative null kernels, one block per SM", 1e-7,
                        1e-4),
                .value = curve_midrange},
        {"stream", .spec = STREAM("gpu.launch.stream", "<<<>>>", 2e-7, 5e-5)},
        {"sync", .spec = IDLE("gpu.launch.sync", "<<<>>> + cudaStreamSynchronize", 1e-6, 1e-3)},
        {"pdl", SPAN("gpu.launch.pdl", "programmatic dependent launch", 5e-8, 5e-5),
                .value = curve_midrange},
        {"graph_node", SPAN("gpu.launch.graph_node", "graphs of kernels in a row", 5e-8, 5e-5),
                .value = curve_midrange},
        {"graph", .spec = HELD("gpu.launch.graph", "cudaGraphLaunch of one node", 2e-7, 1e-4)},
        {"access",
                SPAN("gpu.launch.access",
                        "kernels that follow dependent accesses to what the one before wrote", 1e-7,
                        1e-4),
                .column = {"accesses"}, .value = curve_midrange},
        {"turn",
                SPAN("gpu.launch.turn",
                        "16 blocks after one another on every SM, an access and a barrier each",
                        1e-7, 1e-3),
                .column = {"threads"}, .value = curve_midrange},
        {"copy_sync", .spec = IDLE("gpu.copy.sync",
                              "<<<>>> + cudaMemcpyAsync of 4 bytes + synchronize", 1e-6, 1e-3)},
        {"copy_behind",
                IDLE("gpu.copy.behind", "some <<<>>> + cudaMemcpyAsync of 4 bytes + synchronize",
                        1e-6, 1e-3),
                .column = {"kernels"}},
        {"graph_sync", .spec = IDLE("gpu.launch.graph_sync",
                               "cudaGraphLaunch + cudaStreamSynchronize", 1e-6, 1e-3)},
        {"first", .spec = TIMED("gpu.launch.first",
                          "<<<>>> + cudaStreamSynchronize, module not yet loaded",
                          "host clock, once a process", 1e-6, 10)},
        {"event_record", .spec = HELD("gpu.event.record", "cudaEventRecord", 2e-8, 5e-5)},
        {"event_sync", .spec = IDLE("gpu.event.sync", "cudaEventRecord + cudaEventSynchronize",
                               1e-7, 1e-3)},
        {"event_wait",
                SPAN("gpu.event.wait", "kernels of two streams in turn, by record and wait", 1e-7,
                        5e-5),
                .value = curve_midrange},
        {"event_mark",
                SPAN("gpu.event.mark", "null kernels of one block, a timed event behind each", 1e-7,
                        5e-5),
                .value = curve_midrange},
        {"flag_sync", .spec = IDLE("gpu.flag.sync", "<<<>>> until the kernel's flag is seen", 1e-6,
                              1e-3)},
        {"copy_enqueue", .spec = HELD("gpu.copy.enqueue",
                                 "cudaMemcpyAsync of 4 bytes to pinned memory", 2e-7, 1e-4)},
        {"iamax",
                {"gpu.cublas.iamax", "s",
                        "cublasIsamax, result on the host; host clock over 8 round trips, idle "
                        "stream",
                        "surface", 2e-6, 1e-3},
                .column = {"bytes"}},
        {"nrm2", .spec = IDLE(
                         "gpu.cublas.nrm2", "cublasSnrm2 n=32, result on the host", 2e-6, 1e-3)},
        {"gemv", .spec = HELD("gpu.cublas.gemv", "cublasSgemv 32x32", 2e-7, 1e-4)},
        {"gemv_t", .spec = HELD("gpu.cublas.gemv_t", "cublasSgemv 32x32, transposed", 2e-7, 1e-4)},
        {"gemm", .spec = HELD("gpu.cublas.gemm", "cublasSgemm n x n x 32, n = 32..1024 in turn",
                         2e-7, 2e-4)},
        {"gemm_t", .spec = HELD("gpu.cublas.gemm_t",
                           "cublasSgemm 32 x n x n, transposed, n = 32..1024 in turn", 2e-7, 2e-4)},
        {"scal", .spec = HELD("gpu.cublas.level1", "cublasSscal n=32", 2e-7, 1e-4)},
        {"scal_device", SPAN("gpu.cublas.level1_device", "cublasSscal n=32", 1e-7, 1e-4),
                .value = curve_midrange},
        {"swap", .spec = HELD("gpu.cublas.swap", "cublasSswap n=32", 2e-7, 1e-4)},
        {"swap_device", SPAN("gpu.cublas.swap_device", "cublasSswap n=32", 1e-7, 1e-4),
                .value = curve_midrange},
        {"ger", .spec = HELD("gpu.cublas.level2", "cublasSger 32x32", 2e-7, 1e-4)},
        {"ger_device", SPAN("gpu.cublas.level2_device", "cublasSger 32x32", 1e-7, 1e-4),
                .value = curve_midrange},
};

void launch_fit(const struct table *curve, struct profile *profile)
{
	curve_fit_rows(curve, profile, rows, ARRAY_LEN(rows), true);
}
