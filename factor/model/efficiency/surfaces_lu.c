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
	return 2;
}

static size_t cluster(const struct surface_point *p, struct kernel_work *work)
{
	return panel_cluster_work(p->precision, (int64_t)p->at[0], (int64_t)p->at[1], work);
}

static size_t grid(const struct surface_point *p, struct kernel_work *work)
{
	return panel_registers_work(p->precision, (int64_t)p->at[0], (int64_t)p->at[1],
	        p->tuning->device.sm_count, work);
}

static size_t potrf(const struct surface_point *p, struct kernel_work *work)
{
	const struct tuning_device *device = &p->tuning->device;
	const bool beside = strstr(p->name, "_overlapped") || strstr(p->name, "_shared");
	const struct block_room room = {.shared_bytes = ARCHITECTURE_SHARED(device->capability),
	        .blocks = device->sm_count / (beside ? BLOCK_POTRF_BESIDE : 1)};

	return block_potrf_works(p->precision, (int64_t)p->at[0], (int64_t)p->at[1], &room, work);
}

_Static_assert((int)SURFACE_WORKS >= (int)POTRF_WORKS, "the kernels of a call");

const struct surface surfaces_lu[] = {{"gpu.panel.column.?", {"blocks", "n"}, column},
        {"gpu.panel.twice.?", {"n"}, column_twice}, {"gpu.panel.pivot.?", {"m", "n"}, pivot},
        {"gpu.panel.step.?", {"m", "n"}, step}, {"gpu.panel_cluster.?", {"m", "n"}, cluster},
        {"gpu.panel_cluster_shared.?", {"m", "n"}, cluster}, {"gpu.panel_grid.?", {"m", "n"}, grid},
        {"gpu.panel_grid_shared.?", {"m", "n"}, grid}, {"gpu.potrf_block.?", {"n"}, potrf},
        {"gpu.potrf_rows*", {"n", "below"}, potrf}, {NULL, {NULL}, NULL}};
