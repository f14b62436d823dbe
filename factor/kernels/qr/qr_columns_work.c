/* SPDX-License-Identifier: MIT */
/* The kernel takes twice as long as this work: clusters that need whole multiprocessors start late,
 * and its code runs once. */
#include "qr_columns_work.h"
#include "qr_columns_plan.h"

#include "factor/kernels/blocks/block_kernels.h"
#include "factor/kernels/lu/panel_registers_work.h"

enum {
	DEPTH = BLOCK_QR_COLUMNS_MAX, /* columns of V, with zeros */
	EACH = QR_COLUMNS_EACH,
	UNROLLED = 4, /* a thread's loads of T at once */
	THREADS = 32 * QR_COLUMNS_WARPS
};

static void clusters_work(const struct qr_columns_plan *plan, int64_t clusters, int64_t m,
        int64_t k, struct kernel_work *work)
{
	const double blocks = (double)(clusters * plan->blocks), share = (double)plan->share,
	             words = DEPTH * EACH, c = 4 * (double)(m * clusters * EACH),
	             v = 4 * (double)(clusters * m * k), t = 4 * blocks * (double)(k * k);

	*work = (struct kernel_work){.launches = 1,
	        .early = 1,
	        .blocks = blocks,
	        .threads = THREADS,
	        .registers = 255,
	        .shared = 4 * (DEPTH + EACH) * share,
	        .cluster = (double)plan->blocks,
	        .dram = {c, c},
	        .l2.read = v + t,
	        .working_set = c + 4 * (double)(m * k),
	        .in_flight = 256,
	        .exchange[SCOPE_CLUSTER] = {4 * words, words / THREADS}};
	/* both products, T^T V^T C; sums over warps and blocks */
	work->operations[PIPE_FP32] =
	        blocks * words * (4 * share + 2 * DEPTH + QR_COLUMNS_WARPS + (double)plan->blocks);
	/* V and C arrive, 16 bytes a thread; four rows of both for V^T C; a row of V and its
	 * multipliers for V (T^T V^T C). T arrives four words to a bank. T^T V^T C, and sums */
	work->wavefronts =
	        blocks *
	        (share * ((DEPTH + EACH) / 32. + 6 + (EACH + 5 * DEPTH) / 32.) + DEPTH * DEPTH / 8 +
	                words / 32 * (2 * DEPTH + 2 * QR_COLUMNS_WARPS + (double)plan->blocks));
	work->link[LINK_DRAM] = 1;
	work->link[LINK_L2] = DEPTH * DEPTH / THREADS / UNROLLED; /* T */
	work->link[LINK_BLOCK] = 4;
	work->link[LINK_SHARED] = DEPTH / 8 /* V */ + 2 * DEPTH / 16 /* T */ + 4;
	work->link[LINK_FMA] = 2 * DEPTH + QR_COLUMNS_WARPS + (double)plan->blocks;
	work->link[LINK_CLUSTER_BARRIER] = 2;
}

size_t qr_columns_works(int64_t m, int64_t k, int64_t n, const struct tuning_device *device,
        struct kernel_work work[2])
{
	const struct qr_columns_plan plan = qr_columns_plan_of(m, n);
	const int64_t held = work_clusters_held(device, plan.blocks);

	if (device->max_cluster < QR_COLUMNS_MOST)
		return 0;
	clusters_work(&plan, min_int64(held, plan.clusters), m, k, &work[0]);
	if (plan.clusters <= held)
		return 1;
	clusters_work(&plan, plan.clusters - held, m, k, &work[1]);
	work[1].phase = 1;
	return 2;
}
