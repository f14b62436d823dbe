/* SPDX-License-Identifier: MIT */
/* Costs of Gram-Schmidt's passes on the device. A pass reads each element of its columns once, and
 * writes it back unless it only forms dot products, at the rates of reads and copies in order
 * (factor/kernels/gram_schmidt/gram_schmidt.cu). Its blocks also read column j, each for itself. A
 * pass in the direction opposite to the one before finds the columns in the near half of L2. The
 * panel in registers is a surface (block_kernel probe), divided into terms as the Householder panel
 * of that size. */
#include "cost_blocks.h"

#include "factor/kernels/gram_schmidt/gram_pass_plan.h"

#include <math.h>

/* In a pass, one after another: reads of L2 (its columns, parts of dot products, the norm, the
 * first columns) and sums over a block (the previous pass's dot products, and its own). A pass of
 * dot products alone has fewer. */
enum { READS = 5, SUMS = 2, DOTS_READS = 2, DOTS_SUMS = 1, PASS_THREADS = 256 };

static double moved(enum gram_step step, struct matrix a)
{
	double column = (double)a.m * (double)precision_bytes(a.precision);

	return step == GRAM_DOTS ? column * (double)a.n : 2 * column * (double)(a.n - 1);
}

/* Seconds of all multiprocessors for a pass: a multiply-add for an element in dot products, and in
 * the update. */
static double arithmetic(struct cost_reader *r, enum gram_step step, struct matrix a)
{
	const double columns = step == GRAM_DOTS    ? (double)a.n
	                       : step == GRAM_FUSED ? 2 * (double)(a.n - 1)
	                                            : (double)(a.n - 1);

	return cost_multiply_adds(r, a.precision, (double)a.m * columns) /
	       cost_scalar(r, "gpu.sm.count");
}

/* Seconds that so many dependent accesses of L2 add to the start of a kernel. */
double cost_accesses(struct cost_reader *r, double count)
{
	static const char name[] = "gpu.launch.access";

	if (!cost_known(r, name))
		return count * cost_scalar(r, "gpu.l2.latency");
	return cost_surface1(r, name, "accesses", count) - cost_scalar(r, "gpu.launch.dependent");
}

/* Passes are launched early, before the kernel ahead has ended, where the profile has its time. */
static struct cost pass_kernel(struct cost_reader *r, enum gram_step step)
{
	const bool dots = step == GRAM_DOTS;
	struct cost cost = cost_kernel(r);

	cost.enqueue = cost_enqueue_early(r);
	if (cost_known(r, "gpu.launch.pdl"))
		cost.term[TERM_LAUNCH] = cost_scalar(r, "gpu.launch.pdl");
	cost.term[TERM_BARRIER] = cost_accesses(r, dots ? DOTS_READS : READS) +
	                          (dots ? DOTS_SUMS : SUMS) * cost_surface1(r, "gpu.reduce.sum",
	                                                              "threads", PASS_THREADS);
	return cost;
}

/* The factor of a copy's seconds in DRAM when this part of the bytes is moved by blocks that go on
 * to further bytes, with enough loads in flight, instead of by blocks in order. */
static double chained(struct cost_reader *r, double part)
{
	enum { WIDEST = 16 };
	static const char going_on[] = "gpu.copy.inflight", in_order[] = "gpu.copy.width";

	if (!cost_known(r, going_on) || !cost_known(r, in_order))
		return 1;
	const double most = cost_last(r, going_on, "bytes"),
	             slower = cost_at(r, in_order, "width", WIDEST) /
	                      cost_at(r, going_on, "bytes", most);
	return 1 + part * fmax(0, slower - 1);
}

/* Columns changed in place; without that measurement, two copies of half of them each. */
static double gram_change(struct cost_reader *r, double columns)
{
	static const char name[] = "gpu.change.time";

	return cost_known(r, name) ? cost_traffic(r, name, 2 * columns)
	                           : 2 * cost_traffic(r, "gpu.copy.time", columns);
}

/* Columns of so many bytes in the direction of the pass before, which is how the probe sweeps its
 * sets: its curves know what L2 still holds. behind: of the bytes that it does not hold, the part
 * that blocks change behind others of theirs. */
double cost_gram_sweep(struct cost_reader *r, bool reads, double columns, double behind)
{
	if (reads)
		return cost_traffic(r, "gpu.read.time", columns);
	return gram_change(r, columns) *
	       (1 + (1 - cost_l2_hits(r, columns)) * (chained(r, behind) - 1));
}

int64_t cost_gram_access(struct matrix a)
{
	enum { WIDE = 16 };
	const int64_t word = precision_bytes(a.precision);

	return a.ld * word % WIDE == 0 ? WIDE : word;
}

/* A warp that changes a column off the boundary of a sector writes parts of two sectors, which L2
 * has to merge: as in the probe's copies by such accesses, aligned and not. Columns begin at all
 * multiples of the largest power of two in the leading dimension. */
double cost_gram_partial(struct cost_reader *r, struct matrix a, int64_t access)
{
	enum { SECTOR = 32 };
	static const char off[] = "gpu.copy.misaligned", width[] = "gpu.copy.width";
	const int64_t bytes = a.ld * precision_bytes(a.precision), step = bytes & -bytes;

	if (step >= SECTOR || !cost_known(r, off) || !cost_known(r, width))
		return 1;
	const double slower = cost_at(r, width, "width", (double)access) /
	                      cost_at(r, off, "offset", (double)access);
	return 1 + (1 - (double)step / SECTOR) * fmax(0, slower - 1);
}

static struct gram_pass_plan plan_of(struct cost_reader *r, enum gram_step step, struct matrix a)
{
	return gram_pass_plan(step, a.precision, a.m, step == GRAM_DOTS ? a.n : a.n - 1,
	        cost_gram_access(a) == 16, cost_whole(r, "gpu.l2.stated"),
	        (int)cost_whole(r, "gpu.sm.count"));
}

/* The part of its columns that a block loads behind others. */
static double chained_part(enum gram_step step, const struct gram_pass_plan *plan)
{
	const double first = GRAM_PASS_AT_ONCE(plan->unroll, step == GRAM_FUSED);

	return plan->each > 0 ? fmax(0, 1 - first / plan->each) : 1;
}

/* Seconds in which the blocks that share the columns of a pass each read their rows of column j and
 * of the next one from L2. */
static double shared_columns(struct cost_reader *r, enum gram_step step, struct matrix a,
        const struct gram_pass_plan *plan)
{
	static const char loaded[] = "gpu.loaded.l2.read";
	const double read = (double)(a.m * precision_bytes(a.precision)) * plan->groups *
	                    (step == GRAM_FUSED ? 2 : 1);

	return read / cost_scalar(r, cost_known(r, loaded) ? loaded : "gpu.l2.copy");
}

/* In the direction opposite to the pass before, near bytes come from L2. */
static double turned(struct cost_reader *r, bool reads, double columns, double behind)
{
	const double near = fmin(cost_near_l2(r), columns), far = columns - near;

	if (reads)
		return cost_traffic(r, "gpu.read.time", near) +
		       far / cost_scalar(r, "gpu.dram.read");
	return gram_change(r, near) +
	       2 * far / cost_scalar(r, "gpu.dram.copy") * chained(r, behind);
}

struct cost cost_gram_pass(struct cost_reader *r, enum gram_step step, struct matrix a)
{
	const bool reads = step == GRAM_DOTS;
	const double bytes = moved(step, a), columns = reads ? bytes : bytes / 2;
	const struct gram_pass_plan plan = plan_of(r, step, a);
	const double behind = chained_part(step, &plan),
	             held = r->same_way ? cost_l2_hits(r, columns)
	                                : fmin(1, cost_near_l2(r) / columns);
	struct cost cost = pass_kernel(r, step);

	cost.term[TERM_MEMORY] =
	        (r->same_way ? cost_gram_sweep : turned)(r, reads, columns, behind);
	if (!reads)
		cost.term[TERM_MEMORY] *= cost_gram_partial(r, a, cost_gram_access(a));
	if (columns > 0) /* beside bytes of DRAM they take no time */
		cost.term[TERM_MEMORY] += held * shared_columns(r, step, a, &plan);
	/* the curve leaves out the time of its smallest bytes, which hides arithmetic, too */
	cost.term[TERM_ARITHMETIC] =
	        fmax(0, arithmetic(r, step, a) - fmax(cost.term[TERM_MEMORY],
	                                                 bytes / cost_scalar(r, "gpu.l2.copy")));
	return cost;
}

struct cost cost_column_norms(struct cost_reader *r, struct matrix a)
{
	return cost_gram_pass(r, GRAM_DOTS, a);
}

/* Seconds of a multiprocessor with one block for a column of q (block_kernel probe). */
static double apply_step(struct cost_reader *r, const char *name, struct matrix a, double columns)
{
	enum { FEW = 16, MANY = 64 };
	static const char *const axes[] = {"m", "k", "columns"};
	const double few[] = {(double)a.m, FEW, columns}, many[] = {(double)a.m, MANY, columns};

	return (cost_surface(r, name, axes, many, 3) - cost_surface(r, name, axes, few, 3)) /
	       (MANY - FEW);
}

enum { APPLY_THREADS = 512, APPLY_WARPS = APPLY_THREADS / 32, TREE = 10 };

/* A block of threads holds GRAM_APPLY_COLUMNS columns, or one; a multiprocessor one block. For each
 * of the k columns of q the block reads that column from L2, as all blocks do at once, multiplies,
 * waits for its sums, and subtracts. A warp alone adds up the sums of the APPLY_WARPS for a column.
 */
struct cost cost_gram_apply(struct cost_reader *r, struct matrix a, int64_t k, bool single)
{
	const double sms = cost_scalar(r, "gpu.sm.count"),
	             together = single ? 1 : GRAM_APPLY_COLUMNS;
	const double blocks = ceil((double)a.n / together), waves = ceil(blocks / sms);
	const double column = (double)a.m * (double)precision_bytes(a.precision);
	const double rows = 64.0 / (double)precision_bytes(a.precision);
	const double loads = 2 * rows / cost_scalar(r, "gpu.clock.sm"),
	             computed = together * (2 * rows + 2 * APPLY_WARPS + TREE) * cost_issue(r, a);
	const double issued = (loads + computed) * APPLY_WARPS / SCHEDULERS;
	const char *name = OF_PRECISION("gpu.gram_apply", a.precision);
	struct cost cost = cost_kernel(r);

	cost.share = cost_share(r, blocks);
	if (cost_known(r, name)) {
		cost.term[TERM_ARITHMETIC] = (double)k * waves * apply_step(r, name, a, together);
		cost.term[TERM_MEMORY] = cost_traffic(r, "gpu.copy.time", 2 * cost_bytes(a));
		return cost;
	}
	cost.term[TERM_ARITHMETIC] = (double)k * waves * issued;
	cost.term[TERM_MEMORY] = cost_traffic(r, "gpu.copy.time", 2 * cost_bytes(a)) +
	                         (double)k * blocks * column / cost_scalar(r, "gpu.loaded.l2.read");
	cost.term[TERM_BARRIER] =
	        (double)k * waves * cost_surface1(r, "gpu.reduce.sum", "threads", APPLY_THREADS);
	return cost;
}

struct cost cost_gram_passes(struct cost_reader *r, struct matrix a,
        struct cost (*pass)(struct cost_reader *, enum gram_step, struct matrix))
{
	struct cost all = pass(r, GRAM_DOTS, a);

	for (int64_t j = 0; j < a.n; j++)
		all = cost_both(all, pass(r, j + 1 < a.n ? GRAM_FUSED : GRAM_UPDATE,
		                             matrix_view(a, 0, j, a.m, a.n - j)));
	return all;
}

/* A profile without the surface of resident panels uses that of Householder panels. */
struct cost cost_gram_panel(struct cost_reader *r, struct matrix a)
{
	const double at[] = {(double)a.m, (double)a.n};
	const char *name = OF_PRECISION("gpu.gram_panel", a.precision);

	if (a.n > GRAM_RESIDENT_COLUMNS || (cost_known(r, name) && at[0] > cost_last(r, name, "m")))
		return cost_gram_passes(r, a, cost_gram_pass);
	return cost_if_measured(r, cost_panel_geqrf(r, a, false), name, axes_mn, at, 2);
}
