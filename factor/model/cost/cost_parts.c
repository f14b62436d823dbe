/* SPDX-License-Identifier: MIT */
/* Building blocks of the costs on the device: kernels, library calls, copies. */
#include "cost_blocks.h"

#include "lib/base/architecture.h"

#include <math.h>

const char *const axes_mn[] = {"m", "n"}, *const axes_swaps[] = {"swaps", "n", "cold"};

/* Bytes that a block of our sweeps works on. */
static const double sweep_bytes = 16384;

double cost_share(struct cost_reader *r, double blocks)
{
	return fmin(1, blocks / cost_scalar(r, "gpu.sm.count"));
}

/* A profile without the device's statement: that of the architecture. */
double cost_resident_blocks(struct cost_reader *r, double threads, double registers)
{
	static const char most_threads[] = "gpu.sm.threads", most_blocks[] = "gpu.sm.blocks";
	const bool stated = cost_known(r, most_threads) && cost_known(r, most_blocks);
	const int code = r->tuning.device.capability;
	const double held = stated ? cost_scalar(r, most_threads) : ARCHITECTURE_THREADS(code),
	             blocks = stated ? cost_scalar(r, most_blocks) : ARCHITECTURE_BLOCKS(code),
	             room = fmin(held, ARCHITECTURE_REGISTERS / registers);

	return fmax(1, fmin(blocks, floor(room / threads)));
}

struct cost cost_library(struct cost_reader *r, double total, enum term term)
{
	double start = fmin(total, cost_scalar(r, "gpu.launch.dependent"));
	struct cost cost = {.enqueue = cost_scalar(r, "gpu.cublas.level2"), .withheld = true};

	cost.term[TERM_LAUNCH] = start;
	cost.term[term] = total - start;
	return cost;
}

struct cost cost_kernel(struct cost_reader *r)
{
	return (struct cost){.enqueue = cost_scalar(r, "gpu.launch.enqueue"),
	        .term[TERM_LAUNCH] = cost_scalar(r, "gpu.launch.dependent")};
}

double cost_enqueue_early(struct cost_reader *r)
{
	static const char name[] = "gpu.launch.enqueue_pdl";

	return cost_scalar(r, cost_known(r, name) ? name : "gpu.launch.enqueue");
}

struct cost cost_sweep(struct cost_reader *r, const char *curve, double bytes)
{
	struct cost cost = cost_kernel(r);

	cost.light = true;
	cost.share = cost_share(r, ceil(bytes / sweep_bytes));
	cost.term[TERM_MEMORY] = cost_traffic(r, curve, bytes);
	return cost;
}

struct cost cost_as_measured(struct cost cost, double seconds)
{
	double launch = fmin(seconds, cost.term[TERM_LAUNCH]), rest = 0;

	for (int t = 0; t < TERM_COUNT; t++)
		rest += t == TERM_LAUNCH ? 0 : cost.term[t];
	for (int t = 0; t < TERM_COUNT; t++)
		cost.term[t] *= rest > 0 ? (seconds - launch) / rest : 0;
	cost.term[TERM_LAUNCH] = rest > 0 ? launch : seconds;
	return cost;
}

struct cost cost_if_measured(struct cost_reader *r, struct cost estimated, const char *name,
        const char *const *axes, const double *at, size_t count)
{
	return cost_known(r, name)
	               ? cost_as_measured(estimated, cost_surface(r, name, axes, at, count))
	               : estimated;
}

double cost_unaligned(struct cost_reader *r, double time, const char *name, const char *aligned,
        const char *const *axes, const double *at, size_t count)
{
	const double start = cost_scalar(r, "gpu.launch.dependent"),
	             slower = cost_known(r, name)
	                              ? (cost_surface(r, name, axes, at, count) - start) /
	                                        (cost_surface(r, aligned, axes, at, count) - start)
	                              : cost_work_ratio(r, name, aligned, axes, at, count);

	return time + fmax(0, slower - 1) * fmax(0, time - start);
}

double cost_total(const struct cost *cost)
{
	double sum = 0;

	for (int t = 0; t < TERM_COUNT; t++)
		sum += cost->term[t];
	return sum;
}

struct cost cost_both(struct cost first, struct cost second)
{
	first.enqueue += second.enqueue;
	for (int t = 0; t < TERM_COUNT; t++)
		first.term[t] += second.term[t];
	first.share = fmax(first.share, second.share);
	first.further += 1 + second.further;
	return first;
}

double cost_wait(struct cost_reader *r)
{
	return fmax(0, cost_scalar(r, "gpu.launch.sync") - cost_scalar(r, "gpu.launch.enqueue") -
	                       cost_scalar(r, "gpu.launch.dependent"));
}

double cost_alone(struct cost_reader *r, const char *name, const char *const *axes,
        const double *at, size_t count)
{
	return cost_known(r, name) ? cost_surface(r, name, axes, at, count) : 0;
}

/* Seconds from the end of a kernel until the host has a small copy behind it, the call's time left
 * out. Older profiles have a copy behind several short kernels, or one, which may have ended when
 * the copy arrived. */
static double behind_kernels(struct cost_reader *r)
{
	static const char running[] = "gpu.copy.running", name[] = "gpu.copy.behind";
	const double accesses = cost_last(r, running, "accesses");

	if (isfinite(accesses))
		return cost_at(r, running, "accesses", accesses) + cost_wait(r);
	const double most = cost_last(r, name, "kernels"), kernels = isfinite(most) ? most : 1;
	const double whole = isfinite(most) ? cost_at(r, name, "kernels", most)
	                                    : cost_scalar(r, "gpu.copy.sync");

	return whole - kernels * cost_scalar(r, "gpu.launch.enqueue") -
	       cost_scalar(r, "gpu.launch.dependent");
}

double cost_hand_over(struct cost_reader *r)
{
	double idle = cost_at(r, "link.d2h.pinned.time", "bytes", sizeof(float)) -
	              cost_scalar(r, "gpu.copy.enqueue");

	return fmax(0, behind_kernels(r) - idle);
}
