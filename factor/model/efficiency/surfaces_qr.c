/* SPDX-License-Identifier: MIT */
/* Surfaces of QR: Householder's and Gram-Schmidt's panels, columns right of a panel, T; and of the
 * inverses of triangles that LU and Cholesky multiply by, which are T's kernel. */
#include "factor/kernels/blocks/triangle_work.h"
#include "factor/kernels/lu/panel_registers_work.h"
#include "factor/kernels/qr/panel_geqrf_work.h"
#include "factor/kernels/qr/qr_columns_work.h"
#include "surface_work.h"

enum { RIGHT = 64 /* columns right of the panel */ };

static size_t geqrf(const struct surface_point *p, bool beside, bool reflects, bool gram,
        struct kernel_work *work)
{
	const struct geqrf_call call = {
	        p->precision, (int64_t)p->at[0], (int64_t)p->at[1], beside, reflects, gram, false};

	return panel_geqrf_works(&call, &p->tuning->device, work);
}

static size_t panel(const struct surface_point *p, struct kernel_work *work)
{
	return geqrf(p, p->at[2] > 0, false, false, work);
}

/* Blocks of products, two on every multiprocessor, that each of the works' launches waits for. */
static void wait_for_products(const struct surface_point *p, size_t count,
        const struct kernel_work *panel, struct kernel_work *wait)
{
	enum { TILE = 128, DEPTH = 64, RESIDENT = 2 };
	const double blocks = RESIDENT * p->tuning->device.sm_count;

	*wait = (struct kernel_work){
	        .phase = 1, .blocks = blocks, .threads = 256, .registers = 128};
	wait->operations[p->precision == SINGLE ? PIPE_FP32 : PIPE_TENSOR_FP64_LARGE] =
	        blocks * 2 * TILE * TILE * DEPTH;
	for (size_t i = 0; i < count; i++)
		wait->launches += panel[i].phase == 0;
}

static size_t panel_beside(const struct surface_point *p, struct kernel_work *work)
{
	const size_t count = geqrf(p, true, false, false, work);

	if (count == 0)
		return 0;
	_Static_assert((int)SURFACE_WORKS > (int)PANEL_GEQRF_WORKS, "and a wait");
	wait_for_products(p, count, work, &work[count]);
	return count + 1;
}

static size_t reflectors(const struct surface_point *p, struct kernel_work *work)
{
	return geqrf(p, false, true, false, work);
}

static size_t by_gram(const struct surface_point *p, struct kernel_work *work)
{
	return geqrf(p, false, true, true, work);
}

/* The same behind an update that has left the sums of A^T A. */
static size_t summed(const struct surface_point *p, struct kernel_work *work)
{
	const struct geqrf_call call = {
	        p->precision, (int64_t)p->at[0], (int64_t)p->at[1], false, true, true, true};

	return panel_geqrf_works(&call, &p->tuning->device, work);
}

/* Without V and T. */
static size_t last(const struct surface_point *p, struct kernel_work *work)
{
	return geqrf(p, false, false, true, work);
}

static size_t columns(const struct surface_point *p, struct kernel_work *work)
{
	const struct geqrf_call call = {
	        p->precision, (int64_t)p->at[0], (int64_t)p->at[1], false, false, false, false};

	return panel_geqrf_columns_works(&call, &p->tuning->device, work);
}

static size_t gram_panel(const struct surface_point *p, struct kernel_work *work)
{
	const struct register_panel_call call = {
	        true, p->precision, (int64_t)p->at[0], (int64_t)p->at[1], false};

	return register_panel_works(&call, &p->tuning->device, work);
}

static size_t right(const struct surface_point *p, struct kernel_work *work)
{
	return qr_columns_works(
	        (int64_t)p->at[0], (int64_t)p->at[1], RIGHT, &p->tuning->device, work);
}

static size_t triangle(const struct surface_point *p, struct kernel_work *work)
{
	triangle_works(p->precision, (int64_t)p->at[0], work);
	return TRIANGLE_WORKS;
}

const struct surface surfaces_qr[] = {{"gpu.panel_geqrf.?", {"m", "=n", "overlapped"}, panel},
        {"gpu.panel_geqrf_shared.?", {"m", "=n"}, panel_beside},
        {"gpu.panel_geqrf_columns.?", {"m", "n"}, columns},
        {"gpu.panel_reflectors.?", {"m", "=n"}, reflectors},
        {"gpu.panel_geqrf_gram.?", {"m", "n"}, by_gram},
        {"gpu.panel_geqrf_summed.d", {"m", "n"}, summed},
        {"gpu.panel_geqrf_last.?", {"m", "n"}, last}, {"gpu.gram_panel.?", {"m", "n"}, gram_panel},
        {"gpu.qr_columns.?", {"m", "n"}, right}, {"gpu.larft.?", {"n"}, triangle},
        {"gpu.trtri.?", {"n"}, triangle}, {NULL, {NULL}, NULL}};
