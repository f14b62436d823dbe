/* SPDX-License-Identifier: MIT */
/* The work that kernels state: sums by hand. */
#include "factor/kernels/blocks/triangle_work.h"
#include "factor/kernels/lu/panel_registers_work.h"
#include "factor/kernels/qr/panel_geqrf_work.h"
#include "factor/kernels/qr/qr_columns_work.h"
#include "factor/model/efficiency/efficiency.h"
#include "tests/tap.h"

#include <string.h>

/* A device with clusters of 16, and a part of it without. */
static const struct tuning_device whole = {90, 90, 132, 16, 0}, part = {90, 90, 64, 8, 0};

static void qr_panels(void)
{
	struct kernel_work w[PANEL_GEQRF_WORKS];
	struct geqrf_call call = {SINGLE, 1024, 32, false, true, false, false};

	is_real((double)panel_geqrf_works(&call, &whole, w), 1, 0, "a narrow panel is one kernel,");
	is_real((double)w->blocks, 8, 0, "of one cluster with a warp on every scheduler,");
	is_real(w->threads, 128, 0, "32 rows each,");
	is_real(w->dram.read, 1024 * 32 * 4, 0, "that reads the panel once,");
	is_real(w->dram.written, 2 * 1024 * 32 * 4, 0, "writes it and V,");
	is_real(w->exchange[SCOPE_CLUSTER].count, 32, 0, "and has an exchange a column,");
	is_real(w->exchange[SCOPE_CLUSTER].bytes, 128, 0, "of 32 words");
	is_real((double)panel_geqrf_works(&call, &part, w), 0, 0, "small clusters make no V");

	call = (struct geqrf_call){DOUBLE, 1024, 16, false, false, false, false};
	is_real((double)panel_geqrf_works(&call, &part, w), 2, 0,
	        "without the cluster slots are cleared,");
	is_real(w[1].blocks, 8, 0, "each block has 128 rows,");
	is_real(w[1].exchange[SCOPE_GRID].count, 16, 0, "and the grid exchanges");
	is_real(w[1].exchange[SCOPE_GRID].bytes, 8 * 8.5, 1e-12, "16, 15 ... 1 sums");
	call.n = 128;
	is_real((double)panel_geqrf_works(&call, &whole, w), 5, 0, "wide panels stay in memory");

	call = (struct geqrf_call){SINGLE, 8192, 64, false, false, false, false};
	is_real((double)panel_geqrf_works(&call, &whole, w), 4, 0,
	        "the Gram matrix's kernel in parts");
	is_real(w[0].operations[PIPE_TENSOR_FP64_LARGE], 16 * 68 * 20 * 2048, 0,
	        "16 blocks with 68 eights of rows and 20 tiles");
	ok(w[0].phase == 0 && w[1].phase == 1 && w[1].blocks == 1, "one block makes the steps");
	is_real((double)panel_geqrf_works(&call, &part, w), 8, 0, "or several kernels,");
	ok(w[3].early == 0 && w[4].blocks == 1, "with a form between them that has no work");

	call = (struct geqrf_call){DOUBLE, 65536, 64, false, true, true, false};
	is_real((double)panel_geqrf_works(&call, &whole, w), 12, 0,
	        "in double precision ten and that form,");
	is_real(w[0].operations[PIPE_TENSOR_FP64_LARGE], 8192 * 20 * 2048, 0, "with A^T A,");
	ok(w[2].operations[PIPE_FP64] > 0 && w[3].operations[PIPE_FP64] == 0 && w[3].early,
	        "and four kernels that have nothing to do for most matrices");
	is_real(w[0].dram.read + w[9].dram.read + w[9].dram.written, 4 * 65536 * 64 * 8, 0,
	        "four passes with V");
	const double product = w[9].operations[PIPE_TENSOR_FP64_LARGE];
	call.summed = true;
	is_real((double)panel_geqrf_works(&call, &whole, w), 11, 0, "one less behind an update");
	is_real(w[8].operations[PIPE_TENSOR_FP64_LARGE], product, 0, "that has left A^T A");
	call.gram = false;
	is_real((double)panel_geqrf_works(&call, &whole, w), 0, 0,
	        "without it the kernel in memory makes no V");
}

static void panels_in_memory(void)
{
	struct kernel_work w[COLUMNS_WORKS];
	const struct geqrf_call call = {SINGLE, 512, 4, false, false, false, false};
	double read = 0, barriers = 0;

	is_real((double)panel_geqrf_columns_works(&call, &whole, w), 5, 0,
	        "four columns, four parts");
	for (int i = 1; i < 5; i++) {
		read += w[i].dram.read;
		barriers += w[i].link[LINK_GRID_BARRIER];
	}
	is_real(read, 2 * 4 * (4 * 512 + 3 * 511 + 2 * 510 + 509), 0,
	        "update and sums read what is left");
	is_real(barriers, 8, 0, "two barriers a column");
	is_real(w[4].working_set, 512 * 4, 0, "L2 has to hold the last column in the end");
	ok(w[1].phase == 0 && w[2].phase == 1, "one launch");
}

static void gram_schmidt_panel(void)
{
	struct kernel_work w[2];
	struct register_panel_call call = {true, SINGLE, 32768, 64, false};

	is_real((double)register_panel_works(&call, &whole, w), 2, 0, "cleared slots and a kernel");
	is_real(w[1].blocks, 128, 0, "of 256 rows a block");
	is_real(w[1].cluster, 8, 0, "in clusters,");
	is_real(w[1].link[LINK_CLUSTER_BARRIER], 64, 0, "with a barrier a column");
	call.m = 131072;
	is_real((double)register_panel_works(&call, &whole, w), 0, 0,
	        "more rows than registers hold");
}

static void right_of_a_panel(void)
{
	struct kernel_work w[2];

	is_real((double)qr_columns_works(4096, 64, 64, &whole, w), 1, 0, "8 clusters of 8 blocks");
	is_real(w->blocks, 64, 0, "run at once");
	is_real(w->operations[PIPE_FP32], 64.0 * 512 * (4 * 512 + 128 + 8 + 8), 0,
	        "512 rows a block: two products of V, and one of T");
	is_real((double)qr_columns_works(8192, 64, 64, &whole, w), 2, 0, "of 8 clusters of 16");
	ok(w[0].blocks == 112 && w[1].blocks == 16 && w[1].phase == 1, "one waits for seven");
}

static void triangle(void)
{
	struct kernel_work w[TRIANGLE_WORKS];

	triangle_works(SINGLE, 64, w);
	is_real(w[0].blocks, 2, 0, "two tiles wide: two blocks, two tiles on the diagonal each");
	is_real(w[0].operations[PIPE_FP32], 2 * 2 * 32 * (32 * 31 + 128), 0, "by substitution");
	is_real(w[1].operations[PIPE_FP32], 2 * 65536, 0, "and two products of tiles");
	triangle_works(DOUBLE, 32, w);
	is_real(w[1].operations[PIPE_FP64], 0, 0, "one tile: no product");
}

/* How often as long a panel takes after the what-if. */
static double longer(const char *assignment, const char *name, double m, double n)
{
	struct profile *before = profile_open(RECORDED), *after = profile_open(RECORDED);
	const struct arg at[] = {{"m", m}, {"n", n}, {"overlapped", 0}};
	const size_t count = strstr(name, "panel_geqrf.") ? 3 : 2;
	struct fault fault;

	what_if_scale(after, assignment, &fault);
	const double times = profile_get(after, name, at, count).estimate.value /
	                     profile_get(before, name, at, count).estimate.value;
	profile_free(before);
	profile_free(after);
	return times;
}

static bool within(double low, double value, double high)
{
	if (!(value >= low && value <= high))
		diag("%g, not %g to %g", value, low, high);
	return value >= low && value <= high;
}

static void what_ifs(void)
{
	ok(within(4, longer("gpu.exchange.*=20", "gpu.panel_geqrf.s", 1024, 32), 10),
	        "a panel of one cluster exchanges a quarter to a half of its time");
	ok(within(5, longer("gpu.barrier.*=20", "gpu.panel_geqrf_columns.s", 8192, 16), 12),
	        "a panel in memory waits at barriers for a third of it");
	ok(within(1, longer("gpu.barrier.*=20", "gpu.panel_geqrf_columns.d", 131072, 128), 1.6),
	        "and large ones hardly");
	ok(within(0.6, longer("gpu.launch.*=0.1", "gpu.panel_reflectors.s", 16384, 64), 0.9),
	        "eight launches are a fifth of the Gram matrix's form");
	ok(within(1.9, longer("gpu.clock.sm=0.5", "gpu.panel_geqrf.s", 1024, 64), 2),
	        "a panel on chip takes the clock's time");
}

int main(void)
{
	qr_panels();
	panels_in_memory();
	gram_schmidt_panel();
	right_of_a_panel();
	triangle();
	what_ifs();
	return finish();
}
