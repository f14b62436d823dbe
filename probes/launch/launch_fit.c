/* SPDX-License-Identifier: MIT */
/* Curve of the launch probe -> gpu.launch.*, gpu.event.*, gpu.flag.*, gpu.copy.*, gpu.cublas.*.
 * Every series is one parameter, but event_wait: that is what gpu.concurrent.stream_wait_idle is.
 */
#include "launch.h"

#include "lib/base/msg.h"
#include "lib/probe/curve_fit.h"

#include <stdlib.h>

/* How the time was taken. SPAN: by the device, from one kernel's start to the next one's. MORE: as
 * the difference that a copy makes. */
enum how { HELD, IDLE, SPAN, STREAM, ONCE, MORE };
static const char *const how_text[] = {"host clock over 64 calls, stream held",
        "host clock over 8 round trips, idle stream",
        "device start to start behind a hold, difference of 144 and 16, middle of the processes",
        "host clock to the end of the work, difference of 1024 and 128",
        "host clock, once a process", "host clock over 8 round trips, less 8 without the copy"};

/* Bounds: an enqueue at least fills and announces a command; a dependent kernel starts after the
 * kernel before has drained; a round trip crosses the bus twice, except that of an event in an idle
 * stream, which the driver may answer alone. */
static const struct {
	const char *series, *name, *what;
	enum how how;
	double low, high;
	const char *column;
	bool added; /* not in all recorded curves */
} rows[] = {
        {"enqueue", "gpu.launch.enqueue", "<<<>>>", HELD, 2e-7, .high = 5e-5},
        {"enqueue_driver", "gpu.launch.enqueue_driver", "cuLaunchKernel", HELD, 2e-7, .high = 5e-5},
        {"enqueue_cooperative", "gpu.launch.enqueue_cooperative",
                "cudaLaunchCooperativeKernel, one block per SM", HELD, 2e-7, .high = 1e-4},
        {"enqueue_pdl", "gpu.launch.enqueue_pdl", "programmatic dependent launch", HELD, 2e-7,
                .high = 5e-5, .added = true},
        {"argument", "gpu.launch.argument", "<<<>>>", HELD, 2e-7, .high = 5e-5, .column = "bytes"},
        {"grid", "gpu.launch.grid", "null kernels of 256 threads", SPAN, 1e-7, .high = 1e-3,
                .column = "blocks"},
        {"dependent", "gpu.launch.dependent", "null kernels of one block", SPAN, 1e-7,
                .high = 5e-5},
        {"cooperative", "gpu.launch.cooperative", "cooperative null kernels, one block per SM",
                SPAN, 1e-7, .high = 1e-4},
        {"stream", "gpu.launch.stream", "<<<>>>", STREAM, 2e-7, .high = 5e-5},
        {"sync", "gpu.launch.sync", "<<<>>> + cudaStreamSynchronize", IDLE, 1e-6, .high = 1e-3},
        {"pdl", "gpu.launch.pdl", "programmatic dependent launch", SPAN, 5e-8, .high = 5e-5},
        {"graph_node", "gpu.launch.graph_node", "graphs of kernels in a row", SPAN, 5e-8,
                .high = 5e-5},
        {"graph", "gpu.launch.graph", "cudaGraphLaunch of one node", HELD, 2e-7, .high = 1e-4},
        {"access", "gpu.launch.access",
                "kernels that follow dependent accesses to what the one before wrote", SPAN, 1e-7,
                .high = 1e-4, .column = "accesses"},
        {"turn", "gpu.launch.turn",
                "16 blocks after one another on every SM, an access and a barrier each", SPAN, 1e-7,
                .high = 1e-3, .column = "threads"},
        {"copy_sync", "gpu.copy.sync", "<<<>>> + cudaMemcpyAsync of 4 bytes + synchronize", IDLE,
                1e-6, .high = 1e-3},
        {"copy_behind", "gpu.copy.behind", "some <<<>>> + cudaMemcpyAsync of 4 bytes + synchronize",
                IDLE, 1e-6, .high = 1e-3, .column = "kernels", .added = true},
        {"copy_running", "gpu.copy.running",
                "a running kernel + cudaMemcpyAsync of 4 bytes + synchronize", MORE, 2e-7,
                .high = 1e-4, .column = "accesses", .added = true},
        {"graph_sync", "gpu.launch.graph_sync", "cudaGraphLaunch + cudaStreamSynchronize", IDLE,
                1e-6, .high = 1e-3},
        {"first", "gpu.launch.first", "<<<>>> + cudaStreamSynchronize, module not yet loaded", ONCE,
                1e-6, .high = 10},
        {"event_record", "gpu.event.record", "cudaEventRecord", HELD, 2e-8, .high = 5e-5},
        {"event_sync", "gpu.event.sync", "cudaEventRecord + cudaEventSynchronize", IDLE, 1e-7,
                .high = 1e-3},
        {"event_mark", "gpu.event.mark", "null kernels of one block, a timed event behind each",
                SPAN, 1e-7, .high = 5e-5},
        {"flag_sync", "gpu.flag.sync", "<<<>>> until the kernel's flag is seen", IDLE, 1e-6,
                .high = 1e-3},
        {"copy_enqueue", "gpu.copy.enqueue", "cudaMemcpyAsync of 4 bytes to pinned memory", HELD,
                2e-7, .high = 1e-4},
        {"iamax", "gpu.cublas.iamax", "cublasIsamax, result on the host", IDLE, 2e-6, .high = 1e-3,
                .column = "bytes"},
        {"nrm2", "gpu.cublas.nrm2", "cublasSnrm2 n=32, result on the host", IDLE, 2e-6,
                .high = 1e-3},
        {"nrm2_length", "gpu.cublas.nrm2_length", "cublasSnrm2, result on the host", IDLE, 2e-6,
                .high = 1e-3, .column = "bytes", .added = true},
        {"gemv", "gpu.cublas.gemv", "cublasSgemv 32x32", HELD, 2e-7, .high = 1e-4},
        {"gemv_t", "gpu.cublas.gemv_t", "cublasSgemv 32x32, transposed", HELD, 2e-7, .high = 1e-4},
        {"gemv_rows", "gpu.cublas.gemv_rows", "cublasSgemv of 32 columns", HELD, 2e-7, .high = 1e-4,
                .column = "rows", .added = true},
        {"gemv_t_rows", "gpu.cublas.gemv_t_rows", "cublasSgemv of 32 columns, transposed", HELD,
                2e-7, .high = 1e-4, .column = "rows", .added = true},
        {"gemm", "gpu.cublas.gemm", "cublasSgemm n x n x 32, n = 32..1024 in turn", HELD, 2e-7,
                .high = 2e-4},
        {"gemm_t", "gpu.cublas.gemm_t", "cublasSgemm 32 x n x n, transposed, n = 32..1024 in turn",
                HELD, 2e-7, .high = 2e-4},
        {"gemm_d", "gpu.cublas.gemm.d", "cublasDgemm n x n x 32, n = 32..1024 in turn", HELD, 2e-7,
                .high = 2e-4, .added = true},
        {"gemm_t_d", "gpu.cublas.gemm_t.d",
                "cublasDgemm 32 x n x n, transposed, n = 32..1024 in turn", HELD, 2e-7,
                .high = 2e-4, .added = true},
        {"gemm_odd_d", "gpu.cublas.gemm_odd.d", "cublasDgemm n x n x 32, n = 31..1023 in turn",
                HELD, 2e-7, .high = 2e-4, .added = true},
        {"gemm_t_odd_d", "gpu.cublas.gemm_t_odd.d",
                "cublasDgemm 32 x n x n, transposed, n = 31..1023 in turn", HELD, 2e-7,
                .high = 2e-4, .added = true},
        {"scal", "gpu.cublas.level1", "cublasSscal n=32", HELD, 2e-7, .high = 1e-4},
        {"scal_device", "gpu.cublas.level1_device", "cublasSscal n=32", SPAN, 1e-7, .high = 1e-4},
        {"swap", "gpu.cublas.swap", "cublasSswap n=32", HELD, 2e-7, .high = 1e-4},
        {"swap_device", "gpu.cublas.swap_device", "cublasSswap n=32", SPAN, 1e-7, .high = 1e-4},
        {"ger", "gpu.cublas.level2", "cublasSger 32x32", HELD, 2e-7, .high = 1e-4},
        {"ger_device", "gpu.cublas.level2_device", "cublasSger 32x32", SPAN, 1e-7, .high = 1e-4},
};

void launch_fit(const struct table *curve, struct profile *profile)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *method = xasprintf("%s; %s", rows[i].what, how_text[rows[i].how]);
		const bool library =
		        strncmp(rows[i].name, "gpu.cublas.", strlen("gpu.cublas.")) == 0;
		const struct curve_rows row = {rows[i].series,
		        {rows[i].name, "s", method, library ? "library" : "hardware", rows[i].low,
		                rows[i].high},
		        .column = {rows[i].column},
		        .value = rows[i].how == SPAN ? curve_midrange : NULL};
		curve_fit_rows(curve, profile, &row, 1, !rows[i].added);
		free(method);
	}
}
