/* SPDX-License-Identifier: MIT */
/* Surfaces of LU panels and of Cholesky's blocks. */
#include "factor/kernels/cholesky/potrf_work.h"
#include "factor/kernels/lu/panel_geometry.h"
#include "factor/kernels/lu/panel_work.h"
#include "lib/base/architecture.h"
#include "surface_work.h"

#include <string.h>

/* A column of panels with that many blocks of the fewest rows. */
static size_t column(const struct surface_point *p, struct kernel_work *work)
{
	panel_column_work(p->precision, (int64_t)p->at[0] * PANEL_FEWEST_ROWS, (int64_t)p->at[1],
	        p->tuning->device.sm_count, work);
	return 1;
}

/* The same on all multiprocessors with more rows than threads. */
static size_t column_twice(const struct surface_point *p, struct kernel_work *work)
{
	enum { ROWS = 384 };
	const int sms = p->tuning->device.sm_count;

	panel_column_work(p->precision, (int64_t)sms * ROWS, (int64_t)p->at[0], sms, work);
	return 1;
}

static size_t pivot(const struct surface_point *p, struct kernel_work *work)
{
	panel_pivot_work(p->precision, (int64_t)p->at[0], (int64_t)p->at[1], work);
	return 1;
}

static size_t step(const struct surface_point *p, struct kernel_work *work)
{
	panel_pivot_work(p->precision, (int64_t)p->at[0], (int64_t)p->at[1], &work[0]);
	panel_update_work(p->precision, (int64_t)p->at[0], (int64_t)p->at[1], &work[1]);
	work[1].phase = 1; /* the row contains two starts: profile_parts.c */
	return 2;
}

/* A panel beside products waits until blocks of these leave a multiprocessor: a round of tiles of
 * the calibration's product, whose C in single precision is about as large as L2. */
static size_t beside_products(const struct surface_point *p, size_t count, struct kernel_work *work)
{
	enum { TILE = 128, DEPTH = 64, THREADS = 256 };
	const bool single = p->precision == SINGLE;
	const double blocks = (single ? 2 : 1) * (double)p->tuning->device.sm_count,
	             tile = TILE * TILE,
	             bytes = blocks * tile * (double)precision_bytes(p->precision);

	if (count == 0)
		return 0;
	work[count] = (struct kernel_work){.launches = 1,
	        .phase = 1,
	        .blocks = blocks,
	        .threads = THREADS,
	        .registers = 128,
	        .in_flight = 128,
	        .chains = 16};
	*(single ? &work[count].l2 : &work[count].dram) = (struct work_bytes){bytes, bytes};
	work[count].operations[single ? PIPE_FP32 : PIPE_TENSOR_FP64_LARGE] =
	        2 * blocks * tile * DEPTH;
	return count + 1;
}

static size_t cluster(const struct surface_point *p, struct kernel_work *work)
{
	return p->tuning->device.max_cluster >= PANEL_CLUSTER &&
	       panel_cluster_work(p->precision, (int64_t)p->at[0], (int64_t)p->at[1], work);
}

static size_t grid(const struct surface_point *p, struct kernel_work *work)
{
	return panel_registers_work(p->precision, (int64_t)p->at[0], (int64_t)p->at[1],
	        p->tuning->device.sm_count, work);
}

static size_t cluster_shared(const struct surface_point *p, struct kernel_work *work)
{
	return beside_products(p, cluster(p, work), work);
}

static size_t grid_shared(const struct surface_point *p, struct kernel_work *work)
{
	return beside_products(p, grid(p, work), work);
}

static size_t potrf(const struct surface_point *p, struct kernel_work *work)
{
	const struct tuning_device *device = &p->tuning->device;
	const bool beside = strstr(p->name, "_overlapped") || strstr(p->name, "_shared");
	const struct block_room room = {.shared_bytes = ARCHITECTURE_SHARED(device->capability),
	        .blocks = device->sm_count / (beside ? BLOCK_POTRF_BESIDE : 1)};

	return block_potrf_works(p->precision, (int64_t)p->at[0], (int64_t)p->at[1], &room, work);
}

static size_t potrf_shared(const struct surface_point *p, struct kernel_work *work)
{
	return beside_products(p, potrf(p, work), work);
}

_Static_assert((int)SURFACE_WORKS > (int)POTRF_WORKS, "the kernels of a call, and a wait");

const struct surface surfaces_lu[] = {{"gpu.panel.column.?", {"blocks", "n"}, column},
        {"gpu.panel.twice.?", {"n"}, column_twice}, {"gpu.panel.pivot.?", {"m", "n"}, pivot},
        {"gpu.panel.step.?", {"m", "n"}, step}, {"gpu.panel_cluster.?", {"m", "=n"}, cluster},
        {"gpu.panel_cluster_shared.?", {"m", "=n"}, cluster_shared},
        {"gpu.panel_grid.?", {"m", "=n"}, grid},
        {"gpu.panel_grid_shared.?", {"m", "=n"}, grid_shared}, {"gpu.potrf_block.?", {"n"}, potrf},
        {"gpu.potrf_rows_shared.?", {"n", "below"}, potrf_shared},
        {"gpu.potrf_rows*", {"n", "below"}, potrf}, {NULL, {NULL}, NULL}};
