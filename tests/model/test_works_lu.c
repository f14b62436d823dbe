/* SPDX-License-Identifier: MIT */
/* Works that kernels state, at shapes whose sums can be done by hand. */
#include "tests/tap.h"

#include "factor/kernels/cholesky/potrf_work.h"
#include "factor/kernels/lu/panel_geometry.h"
#include "factor/kernels/lu/panel_work.h"

static void equal(double got, double want, const char *what)
{
	is_real(got, want, 1e-12, what);
}

static void panels_in_registers(void)
{
	struct kernel_work w;

	ok(panel_cluster_work(SINGLE, 4096, 64, &w), "4096 x 64 fits one cluster");
	equal(w.blocks * (w.threads - 32), 4096 / 2, "two rows a thread, and a warp that sends");
	equal(w.exchange[SCOPE_CLUSTER].count, 64, "an exchange a column");
	equal(w.exchange[SCOPE_CLUSTER].bytes, 4 * 16, "of a head of each of four warps");
	equal(w.operations[PIPE_FP32], 2. * 4096 * (32 * 64 + 32 * 32),
	        "half of the columns are updated by all of the kernel's, half by 32");
	equal(w.link[LINK_CLUSTER_BARRIER], 2, "barriers at the beginning and the end");
	ok(!panel_cluster_work(SINGLE, 4097, 128, &w), "4097 x 128 fits no cluster");
	ok(panel_registers_work(SINGLE, 131072, 32, 132, &w), "131072 x 32 fits the grid");
	equal(w.blocks, 128, "1024 rows a block");
	equal(w.exchange[SCOPE_GRID].count, 32, "an exchange a column");
	equal(w.l2.read + w.l2.written, 2. * 131072 * 32 * 4, "the panel once and back");
	ok(!panel_registers_work(SINGLE, 131072, 32, 127, &w), "but not of 127 multiprocessors");
}

static void panels(void)
{
	struct kernel_work w;

	panel_column_work(DOUBLE, 16 * PANEL_FEWEST_ROWS, 64, 132, &w);
	equal(w.blocks, 16, "a column of 16 blocks");
	equal(w.exchange[SCOPE_GRID].bytes, 65 * 8 + 4, "a row, its divisor and its number");
	equal(w.link[LINK_SEARCH], 1, "one search");
	panel_pivot_work(SINGLE, 65536, 32, &w);
	equal(w.link[LINK_L2], 2048 / 256 + 1, "the parts by one block, and both rows");
	panel_update_work(SINGLE, 131072, 129, &w);
	equal(w.link[LINK_DRAM], 2 * 2, "two passes of 64 columns twice");
	equal(w.dram.read, 131072. * 129 * 4, "the panel is read once");
	panel_update_work(SINGLE, 2048 * 32 + 1 + 32 * 512, 32, &w);
	equal(w.link[LINK_BLOCK], 1.25, "a second pass of a quarter of the blocks");
	panels_in_registers();
}

static void cholesky(void)
{
	const struct block_room room = {.shared_bytes = 227 * 1024, .blocks = 132};
	struct kernel_work w[POTRF_WORKS];

	ok(block_potrf_works(SINGLE, 256, 0, &room, w) == 3, "256 columns: step, update, step");
	equal(w[0].blocks, 128 / 32, "a strip of 32 rows a block");
	equal(w[0].link[LINK_SPECIAL], 128, "a reciprocal root a column");
	equal(w[1].blocks, 4 * 5 / 2, "the tiles of a triangle of 128");
	equal(w[1].operations[PIPE_FP32], 2. * 10 * 32 * 32 * 128, "and their products");
	equal(w[2].blocks, 1, "no rows below: one block");
	ok(block_potrf_works(SINGLE, 128, 4224, &room, w) == 1 && w[0].blocks == 132,
	        "as many tiles of rows as multiprocessors");
	block_potrf_works(SINGLE, 128, 4225, &room, w);
	equal(w[0].blocks, 67, "one row more: strips of two tiles");
	ok(block_potrf_works(DOUBLE, 512, 0,
	           &(struct block_room){.shared_bytes = 99 * 1024, .blocks = 132}, w) == 15,
	        "little shared memory: steps of 64 columns");
}

int main(void)
{
	panels();
	cholesky();
	return finish();
}
