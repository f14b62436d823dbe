/* SPDX-License-Identifier: MIT */
/* Prices of Gram-Schmidt's passes. On the device a pass moves each element of the columns it works
 * on, once from memory and, unless it only forms dot products, once back, at the rates of reads and
 * copies in order, as its blocks begin (lib/gram_schmidt.cu); a pass that goes the other way
 * through them than the one before finds there what the near half of L2 holds. The panel in
 * registers is a surface (the block_kernel probe), divided as the Householder panel of that size,
 * whose exchanges it has. On the host all threads share the columns: from their own caches while
 * these hold all of them. */
#include "price_blocks.h"

#include <math.h>

/* Of a pass, one behind the other: reads of L2 (its own columns, parts of dot products, the norm
 * and the first columns), sums over a block (the dot products of the pass before, and its own), and
 * of dot products alone less. */
enum { READS = 5, SUMS = 2, DOTS_READS = 2, DOTS_SUMS = 1, PASS_THREADS = 256 };

/* ---- device ---- */

static double moved(enum gram_step step, struct matrix a)
{
	double column = (double)a.m * (double)precision_bytes(a.precision);

	return step == GRAM_DOTS ? column * (double)a.n : 2 * column * (double)(a.n - 1);
}

/* What so many accesses of L2 behind one another add to a kernel that starts. */
double price_accesses(struct price_reader *r, double count)
{
	static const char name[] = "gpu.launch.access";

	if (!price_known(r, name))
		return count * price_scalar(r, "gpu.l2.latency");
	return price_surface1(r, name, "accesses", count) - price_scalar(r, "gpu.launch.dependent");
}

/* Kernels that begin before the one ahead of them ends, where the profile knows such. */
static struct price pass_kernel(struct price_reader *r, enum gram_step step)
{
	const bool dots = step == GRAM_DOTS;
	struct price price = price_kernel(r);

	if (price_known(r, "gpu.launch.pdl"))
		price.term[TERM_LAUNCH] = price_scalar(r, "gpu.launch.pdl");
	price.term[TERM_BARRIER] = price_accesses(r, dots ? DOTS_READS : READS) +
	                           (dots ? DOTS_SUMS : SUMS) * price_surface1(r, "gpu.reduce.sum",
	                                                               "threads", PASS_THREADS);
	return price;
}

double price_walking(struct price_reader *r)
{
	static const char name[] = "gpu.copy.inflight";

	return price_known(r, name) ? price_surface1(r, name, "bytes", price_last(r, name, "bytes"))
	                            : price_scalar(r, "gpu.dram.copy");
}

/* The part of the columns that L2 holds when they are gone through again in the same direction. */
double price_gram_held(struct price_reader *r, double columns)
{
	const double most = price_scalar(r, "gpu.l2.stated");

	return fmin(1, fmax(0, (most - columns) / (most - price_near_l2(r))));
}

/* Columns changed in their place; without the probe of that, as two copies of half of them each. */
double price_gram_change(struct price_reader *r, double columns)
{
	static const char name[] = "gpu.change.time";

	return price_known(r, name) ? price_surface_traffic(r, name, 2 * columns)
	                            : 2 * price_surface_traffic(r, "gpu.copy.time", columns);
}

struct price price_gram_pass(struct price_reader *r, enum gram_step step, struct matrix a)
{
	const bool reads = step == GRAM_DOTS;
	const double bytes = moved(step, a), columns = reads ? bytes : bytes / 2;
	const double near = r->same_way ? columns * price_gram_held(r, columns)
	                                : fmin(price_near_l2(r), columns);
	struct price price = pass_kernel(r, step);

	price.term[TERM_MEMORY] = reads ? price_surface_traffic(r, "gpu.read.time", near)
	                                : price_gram_change(r, near);
	price.term[TERM_MEMORY] += (columns - near) * (reads ? 1 : 2) /
	                           price_scalar(r, reads ? "gpu.dram.read" : "gpu.dram.copy");
	return price;
}

struct price price_gram_norms(struct price_reader *r, struct matrix a)
{
	return price_gram_pass(r, GRAM_DOTS, a);
}

/* A block of threads holds GRAM_APPLY_COLUMNS columns, or one, of the rows that it has room for,
 * and a multiprocessor one block. For each of the k columns it reads that column from L2, which all
 * multiprocessors do at once, multiplies, waits for the block's sums, and subtracts; a warp adds up
 * what the APPLY_WARPS found of each column by itself. */
/* Of a column of q: what a multiprocessor takes for it that has a block (the block_kernel probe).
 */
static double apply_step(struct price_reader *r, const char *name, struct matrix a, double columns)
{
	enum { FEW = 16, MANY = 64 };
	static const char *const axes[] = {"m", "k", "columns"};
	const double few[] = {(double)a.m, FEW, columns}, many[] = {(double)a.m, MANY, columns};

	return (price_surface(r, name, axes, many, 3) - price_surface(r, name, axes, few, 3)) /
	       (MANY - FEW);
}

enum { APPLY_THREADS = 512, APPLY_WARPS = APPLY_THREADS / 32, SCHEDULERS = 4, TREE = 10 };

struct price price_gram_apply(struct price_reader *r, struct matrix a, int64_t k, bool single)
{
	const double sms = price_scalar(r, "gpu.sm.count"),
	             together = single ? 1 : GRAM_APPLY_COLUMNS;
	const double blocks = ceil((double)a.n / together), waves = ceil(blocks / sms);
	const double column = (double)a.m * (double)precision_bytes(a.precision);
	const double rows = 64.0 / (double)precision_bytes(a.precision);
	const double instructions = together * (2 * rows + 2 * APPLY_WARPS + TREE) + 2 * rows;
	const double issued = instructions * APPLY_WARPS / SCHEDULERS /
	                      price_scalar(r, "gpu.clock.sm") * (a.precision == SINGLE ? 1 : 2);
	const char *name = a.precision == SINGLE ? "gpu.gram_apply.s" : "gpu.gram_apply.d";
	struct price price = price_kernel(r);

	price.share = price_share(r, blocks);
	if (price_known(r, name)) {
		price.term[TERM_ARITHMETIC] = (double)k * waves * apply_step(r, name, a, together);
		price.term[TERM_MEMORY] =
		        price_surface_traffic(r, "gpu.copy.time", 2 * price_bytes(a));
		return price;
	}
	price.term[TERM_ARITHMETIC] = (double)k * waves * issued;
	price.term[TERM_MEMORY] =
	        price_surface_traffic(r, "gpu.copy.time", 2 * price_bytes(a)) +
	        (double)k * blocks * column / price_scalar(r, "gpu.loaded.l2.read");
	price.term[TERM_BARRIER] =
	        (double)k * waves * price_surface1(r, "gpu.reduce.sum", "threads", APPLY_THREADS);
	return price;
}

struct price price_gram_passes(struct price_reader *r, struct matrix a,
        struct price (*pass)(struct price_reader *, enum gram_step, struct matrix))
{
	struct price all = pass(r, GRAM_DOTS, a);

	for (int64_t j = 0; j < a.n; j++)
		all = price_both(all, pass(r, j + 1 < a.n ? GRAM_FUSED : GRAM_UPDATE,
		                              matrix_view(a, 0, j, a.m, a.n - j)));
	return all;
}

/* A profile without the surface of resident panels has them in that of Householder panels. */
struct price price_gram_panel(struct price_reader *r, struct matrix a)
{
	static const char *const axes[] = {"m", "n"};
	const double at[] = {(double)a.m, (double)a.n};
	const char *name = a.precision == SINGLE ? "gpu.gram_panel.s" : "gpu.gram_panel.d";
	const bool known = price_known(r, name), tall = at[0] > price_last(r, name, "m");

	if (a.n > GRAM_RESIDENT_COLUMNS || (known && tall))
		return price_gram_passes(r, a, price_gram_pass);
	struct price price = price_panel_geqrf(r, a, false);
	return known ? price_as_measured(price, price_surface(r, name, axes, at, 2)) : price;
}
