/* SPDX-License-Identifier: MIT */
/* Where blocks go, what the machine's clock does, and rows with substitutes. */
#include "law_parts.h"

#include "lib/base/architecture.h"

#include <math.h>

enum { WARP = 32, REGISTER_UNIT = 256 };

/* Shared memory that the system keeps of each block, from compute capability 8.0 on. */
static double kept_shared(const struct cost_reader *r)
{
	return r->tuning.device.capability >= 80 ? 1024 : 0;
}

double law_first(struct cost_reader *r, const char *const *names)
{
	for (size_t i = 0; names[i]; i++)
		if (cost_known(r, names[i]))
			return cost_scalar(r, names[i]);
	return cost_scalar(r, names[0]);
}

double law_clock(struct cost_reader *r)
{
	if (!cost_known(r, "gpu.clock.sm") || !cost_known(r, "gpu.bank.clock"))
		return 1;
	return cost_scalar(r, "gpu.bank.clock") / cost_scalar(r, "gpu.clock.sm");
}

/* Blocks of which a multiprocessor holds the threads, the registers and the shared memory. */
static double room(struct cost_reader *r, const struct kernel_work *work, double warps)
{
	const int code = r->tuning.device.capability;
	const double unit = ceil(work->registers * WARP / REGISTER_UNIT) * REGISTER_UNIT;
	double blocks = cost_known(r, "gpu.sm.blocks") ? cost_scalar(r, "gpu.sm.blocks")
	                                               : ARCHITECTURE_BLOCKS(code);
	const double threads = cost_known(r, "gpu.sm.threads") ? cost_scalar(r, "gpu.sm.threads")
	                                                       : ARCHITECTURE_THREADS(code);

	blocks = fmin(blocks, floor(threads / (warps * WARP)));
	if (unit > 0)
		blocks = fmin(blocks, floor(floor(ARCHITECTURE_REGISTERS / unit) / warps));
	if (work->shared > 0) {
		const double most = cost_scalar(r, "gpu.shared.per_block"), kept = kept_shared(r);
		blocks = fmin(blocks, floor((most + kept) / (work->shared + kept)));
	}
	return blocks;
}

struct law_place law_place(struct cost_reader *r, const struct kernel_work *work)
{
	struct law_place p = {
	        .sms = cost_scalar(r, "gpu.sm.count"), .warps = ceil(work->threads / WARP)};

	p.resident = room(r, work, p.warps);
	p.active = fmin(p.sms, work->blocks);
	p.busiest = ceil(work->blocks / p.sms);
	p.together = fmin(p.resident, p.busiest);
	p.waves = p.resident > 0 ? ceil(work->blocks / (p.resident * p.sms)) : 0;
	return p;
}

/* Null kernels of ever more blocks: what these take beyond one block. */
double law_dispatch(struct cost_reader *r, const struct law_place *p)
{
	static const char grid[] = "gpu.launch.grid";

	if (!cost_known(r, grid))
		return 0;
	return fmax(0,
	        cost_at(r, grid, "blocks", p->busiest * p->active) - cost_at(r, grid, "blocks", 1));
}

/* Blocks in turn on every multiprocessor, each with an access to memory and a barrier of its own:
 * what a turn takes beyond these. */
double law_turn(struct cost_reader *r, const struct kernel_work *work)
{
	static const char turn[] = "gpu.launch.turn", access[] = "gpu.launch.access",
	                  barrier[] = "gpu.barrier.block",
	                  *const gap[] = {"gpu.launch.dependent", NULL};
	static const double turns = 16;

	if (!cost_known(r, turn) || !cost_known(r, access) || !cost_known(r, barrier) ||
	        !cost_known(r, gap[0]))
		return 0;
	const double one = (cost_at(r, turn, "threads", work->threads) - law_first(r, gap)) / turns,
	             accesses =
	                     cost_at(r, access, "accesses", 2) - cost_at(r, access, "accesses", 1);
	return fmax(0, one - accesses - cost_at(r, barrier, "threads", work->threads));
}

/* The first access of a kernel takes longer than the others: its arguments, code and translations
 * of addresses come meanwhile. */
double law_first_access(struct cost_reader *r, const struct kernel_work *work)
{
	static const char access[] = "gpu.launch.access", *const gap[] = {
	                                                          "gpu.launch.dependent", NULL};
	const bool loads = work->link[LINK_L2] > 0 || work->link[LINK_DRAM] > 0;

	if (!loads || !cost_known(r, access) || !cost_known(r, gap[0]))
		return 0;
	return fmax(0, cost_at(r, access, "accesses", 1) - law_first(r, gap) -
	                       cost_scalar(r, "gpu.l2.latency"));
}
