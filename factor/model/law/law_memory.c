/* SPDX-License-Identifier: MIT */
/* Throughput of memory: DRAM, L2, shared memory, atomics. */
#include "law_parts.h"

#include <math.h>

enum {
	WARP = 32,
	SECTOR_STRIDE = 32 /* words: one in each line */,
	WIDEST = 16,
	UNDER_WAY = 4 * WIDEST,
	COPIES_UNDER_WAY = 2048 * WIDEST /* on a multiprocessor */
};

/* Words of the measured copy by strides. */
static const double stride_words = 33554432;

static double stride_rate(struct cost_reader *r, double stride)
{
	return cost_at2(r, "gpu.copy.stride", "words", stride_words, "stride",
	        fmax(1, fmin(stride, SECTOR_STRIDE)));
}

/* Useful bytes a second, as a share of the contiguous pattern's. Without the measured curve an
 * access moves whole sectors of 32 bytes. */
static double pattern_share(struct cost_reader *r, const struct kernel_work *w)
{
	const char *const width = "gpu.copy.width", *const off = "gpu.copy.misaligned";

	switch (w->pattern) {
	case PATTERN_STRIDE:
		return cost_known(r, "gpu.copy.stride")
		               ? stride_rate(r, w->step) / stride_rate(r, 1)
		               : 1 / fmin(w->step, 8);
	case PATTERN_RANDOM:
		return cost_known(r, "gpu.copy.stride")
		               ? fmin(1, w->step / 4 * stride_rate(r, SECTOR_STRIDE) /
		                                 stride_rate(r, 1))
		               : fmin(1, w->step / 32);
	case PATTERN_MISALIGNED:
		return cost_known(r, off) ? fmin(1, cost_at(r, off, "offset", fmin(w->step, 64)) /
		                                            cost_at(r, width, "width", WIDEST))
		                          : 0.5;
	case PATTERN_WIDTH:
		return cost_known(r, width)
		               ? fmin(1, cost_at(r, width, "width", fmin(w->step, WIDEST)) /
		                                 cost_at(r, width, "width", WIDEST))
		               : 1;
	default:
		return 1;
	}
}

/* Share of the highest bandwidth that `bytes` under way on each multiprocessor reach; without the
 * measured curve by Little's law. */
static double in_flight_share(struct cost_reader *r, double bytes, double bandwidth, double sms)
{
	static const char curve[] = "gpu.copy.inflight";

	if (cost_known(r, curve)) {
		const double last = cost_last(r, curve, "bytes");
		double most = 0, reached = cost_at(r, curve, "bytes", fmin(bytes, last));
		for (double b = last; b > last / 16; b /= 2) {
			const double rate = cost_at(r, curve, "bytes", b);
			most = fmax(most, rate);
			reached = b < bytes ? fmax(reached, rate) : reached;
		}
		return fmin(1, reached / most);
	}
	if (!cost_known(r, "gpu.dram.latency"))
		return 1;
	return fmin(1, bytes * sms / (cost_scalar(r, "gpu.dram.latency") * bandwidth));
}

/* Seconds of traffic: what is read and written at once at `both` (read + written), the rest at its
 * own bandwidth. */
static double mixed(struct work_bytes b, double read, double write, double both)
{
	const double less = fmin(b.read, b.written);

	return 2 * less / both + (b.read - less) / read + (b.written - less) / write;
}

/* Slower than the device's bandwidth: few multiprocessors, and few bytes under way. */
static double few(struct cost_reader *r, const struct kernel_work *w, double bandwidth,
        double active, double together, double sms, const char *one)
{
	const double thread = w->in_flight > 0 ? w->in_flight : UNDER_WAY,
	             under_way = thread * w->threads * together * active / sms;
	double most = cost_known(r, one) ? active * cost_scalar(r, one) : bandwidth;

	return bandwidth / fmin(most, bandwidth * in_flight_share(r, under_way, bandwidth, sms));
}

/* Full rounds of blocks, and the last one on fewer multiprocessors. */
static double rounds(struct cost_reader *r, const struct kernel_work *w, const struct law_place *p,
        double bandwidth, const char *one)
{
	const double room = p->resident * p->sms, full = floor(w->blocks / room) * room,
	             rest = w->blocks - full;
	double slower = full ? full * few(r, w, bandwidth, p->sms, p->resident, p->sms, one) : 0;

	if (rest > 0)
		slower += rest * few(r, w, bandwidth, fmin(p->sms, rest), fmax(1, rest / p->sms),
		                         p->sms, one);
	return slower / w->blocks;
}

double law_dram(struct cost_reader *r, const struct kernel_work *w, const struct law_place *p)
{
	static const char *const reads[] = {"gpu.dram.read", "gpu.dram.copy", "gpu.copy.beta",
	        NULL},
	                         *const writes[] = {"gpu.dram.write", "gpu.dram.copy",
	                                 "gpu.copy.beta", NULL},
	                         *const copies[] = {"gpu.dram.copy", "gpu.copy.beta", NULL};
	const double missed = 1 - cost_l2_hits(r, w->working_set),
	             bytes = w->dram.read + w->dram.written;

	if (!(bytes * missed > 0))
		return 0;
	/* The probe's copies have a vector a thread under way, too few for few multiprocessors. */
	const double read = law_first(r, reads), copy = law_first(r, copies),
	             all = in_flight_share(r, COPIES_UNDER_WAY, copy, p->sms),
	             plain = mixed(w->dram, read, law_first(r, writes), copy / all);
	const double part = w->patterned > 0 ? w->patterned : 1,
	             slower = part / pattern_share(r, w) + 1 - part;
	return missed * plain * slower * rounds(r, w, p, bytes / plain, "gpu.sm.read");
}

/* Read + written bytes a second of a copy in L2. gpu.l2.copy includes the kernel's start, which the
 * smallest copy shows: its share of the time is left out. */
static double l2_copies(struct cost_reader *r, double read, double write)
{
	static const char copy[] = "gpu.l2.copy", time[] = "gpu.copy.time",
	                  size[] = "gpu.l2.stated";
	const double apart = 2 / (1 / read + 1 / write), smallest = 4096;

	if (!cost_known(r, copy) || !cost_known(r, time) || !cost_known(r, size))
		return apart;
	const double whole = cost_at(r, time, "bytes", cost_scalar(r, size) / 2),
	             start = cost_at(r, time, "bytes", smallest);
	return whole > start ? fmax(apart, cost_scalar(r, copy) * whole / (whole - start)) : apart;
}

/* All bytes of DRAM go through L2, too. */
double law_l2(struct cost_reader *r, const struct kernel_work *w, const struct law_place *p)
{
	static const char *const reads[] = {"gpu.loaded.l2.read", "gpu.l2.read", "gpu.l2.copy",
	        NULL},
	                         *const writes[] = {"gpu.loaded.l2.write", "gpu.l2.write",
	                                 "gpu.l2.copy", NULL};
	const struct work_bytes all = {w->l2.read + w->dram.read, w->l2.written + w->dram.written};
	const bool known =
	        cost_known(r, reads[0]) || cost_known(r, reads[1]) || cost_known(r, reads[2]);

	/* A GPU without L2 in its profile: what the law of DRAM says. */
	if (!(all.read + all.written > 0) || (!known && !(w->l2.read + w->l2.written > 0)))
		return 0;
	const double read = law_first(r, reads), write = law_first(r, writes),
	             plain = mixed(all, read, write, l2_copies(r, read, write));
	const double one = cost_known(r, "gpu.sm.l2_read")
	                           ? p->active * cost_scalar(r, "gpu.sm.l2_read")
	                           : INFINITY;
	return fmax(plain, (all.read + all.written) / one);
}

double law_way(struct cost_reader *r, const struct kernel_work *w, const struct law_place *p)
{
	static const char far[] = "gpu.sm.read", near[] = "gpu.sm.l2_read";
	const double all = w->dram.read + w->dram.written,
	             missed = all * (1 - cost_l2_hits(r, w->working_set)),
	             hit = all - missed + w->l2.read + w->l2.written;

	double seconds = 0;

	if (missed > 0 && cost_known(r, far))
		seconds += missed / p->active / cost_scalar(r, far);
	if (hit > 0 && cost_known(r, near))
		seconds += hit / p->active / cost_scalar(r, near);
	return seconds * law_clock(r);
}

double law_shared(struct cost_reader *r, const struct kernel_work *w, const struct law_place *p)
{
	static const char curve[] = "gpu.bank.saturated.load";
	const double passes = w->ways > 1 ? w->ways : 1,
	             accesses = w->wavefronts / w->blocks * p->busiest;

	if (!(w->wavefronts > 0))
		return 0;
	const double one = cost_known(r, curve)
	                           ? cost_at2(r, curve, "ways", fmin(passes, WARP), "width", 4)
	                           : passes * 4 * WARP * p->sms / cost_scalar(r, "gpu.shared.read");
	return accesses * one * law_clock(r);
}

/* Independent atomics of all multiprocessors: the measured strides are those of 32-bit words. The
 * row is the time of a warp's instruction, which makes 32 of them. */
double law_atomics(struct cost_reader *r, const struct kernel_work *w)
{
	static const char curve[] = "gpu.atomic.global.saturated.red_u32";
	const double stride = w->atomic_stride <= 0 ? 0 : w->atomic_stride <= 16 ? 4 : 128;

	return w->atomics > 0 ? w->atomics / WARP * cost_at(r, curve, "stride_bytes", stride) : 0;
}
