/* SPDX-License-Identifier: MIT */
/* Shares of the multiprocessors, and waits for blocks. */
#include "simulation_internal.h"

static bool at_work(const struct simulation *s, const struct operation *o)
{
	return under_way(o) && o->work.engine == ENGINE_KERNELS &&
	       o->begin + o->work.start <= s->now && o->held <= s->now;
}

static bool precedes(const struct operation *a, const struct operation *b)
{
	return a->begin != b->begin ? a->begin < b->begin
	                            : a < b; /* then in the order of their calls */
}

/* Whether its blocks keep their multiprocessors until the kernel ends. */
static bool lives_to_end(const struct operation *o)
{
	return isinf(o->work.block_lifetime);
}

/* The part of the machine that kernels with such blocks that began before o leave. */
static double left_over(const struct simulation *s, const struct operation *o)
{
	double left = 1;

	for (int q = 0; q < QUEUE_COUNT; q++) {
		const struct operation *p = head(s, q);
		if (p != o && at_work(s, p) && lives_to_end(p) && precedes(p, o))
			left -= p->rate * p->work.share;
	}
	return left;
}

/* Whether a kernel takes the places left, and runs on them alone; not a panel, which needs all
 * places at once. */
static bool finds_places(const struct operation *o, double left)
{
	const double least = 1e-3; /* no multiprocessor is less */

	return o->work.overlapped == 0 && left > least && left < o->work.share;
}

/* The part of the machine for a kernel of high priority: its share, less the others' part of the
 * multiprocessors that it cannot have alone, and at most the part that is left. */
static double urgent_part(const struct simulation *s, const struct operation *o)
{
	double others = 0, kept = o->work.overlapped > 0 ? o->work.overlapped : 0.5;
	const double left = left_over(s, o);
	bool exclusive = true; /* all of them */

	for (int q = 0; q < QUEUE_COUNT; q++) {
		const struct operation *p = head(s, q);
		if (!at_work(s, p) || urgent(p) || p->work.light)
			continue;
		others += p->work.share;
		exclusive &= p->work.exclusive;
	}
	if (exclusive && o->work.overlapped == 0)
		return o->work.share;
	const double free = 1 - o->work.share, both = max_double(0, fmin(others, 1) - free);
	if (o->work.overlapped > 0 && free > 0)
		return o->work.share * (1 - (1 - kept) * fmin(1, others / free));
	const double part = o->work.share - (1 - kept) * both;
	return finds_places(o, left) ? fmin(part, left) : part;
}

/* The part of the machine that the others leave to a kernel of low priority. */
static double room_for(const struct simulation *s, const struct operation *o)
{
	double room = 1;

	for (int q = 0; q < QUEUE_COUNT; q++) {
		const struct operation *p = head(s, q);
		if (p == o || !at_work(s, p))
			continue;
		if (urgent(p))
			room -= urgent_part(s, p);
		else if (precedes(p, o))
			room -= p->work.share;
	}
	return max_double(0, room);
}

double simulation_rate(const struct simulation *s, const struct operation *o)
{
	if (o->work.engine != ENGINE_KERNELS || o->begin + o->work.start > s->now)
		return 1; /* a transfer, a wait, a kernel that starts */
	if (o->held > s->now)
		return 0;
	double room = urgent(o) ? urgent_part(s, o) : room_for(s, o);
	return room >= o->work.share ? 1 : room / o->work.share;
}

enum { TOGETHER = 2 }; /* rounds */

/* The time at which that part of the running blocks of p has ended: together in the first rounds,
 * evenly in time later. */
static double blocks_end(const struct simulation *s, const struct operation *p, double part)
{
	const double lifetime = p->work.block_lifetime, time = s->now - p->begin - p->work.start;
	double wait = 0;

	if (time < TOGETHER * lifetime)
		wait = (floor(time / lifetime) + 1) * lifetime - time;
	else if (lifetime > 0)
		wait = fmin(1, part) * lifetime;
	return s->now + fmin(wait, left_now(s, p));
}

/* The time at which o would begin if it had all places at once and ended as it does now: each place
 * of p that ends, evenly in time, goes to a block of o. Kernels in turn find p there again, which
 * takes back the places that each of them leaves. */
static double blocks_replaced(const struct simulation *s, const struct operation *o,
        const struct operation *p, double part)
{
	const double lifetime = p->work.block_lifetime, share = o->work.share, free = share - part;
	const double alone = left_now(s, o) / o->work.kernels;
	double wait = part * part * lifetime / (2 * share);

	if (share * alone < part * lifetime * (free + part / 2))
		wait = lifetime * (sqrt(free * free + 2 * share * alone / lifetime) - free) - alone;
	return s->now + fmin(o->work.kernels * wait, left_now(s, p));
}

static bool starts(const struct simulation *s, const struct operation *o)
{
	return under_way(o) && o->work.engine == ENGINE_KERNELS &&
	       o->begin + o->work.start > s->now;
}

/* Whether it follows an event of another queue, not a kernel of its own. */
static bool comes_from_afar(const struct simulation *s, const struct operation *o)
{
	return o->before >= 0 && s->operation[o->before].work.engine == ENGINE_HOST;
}

/* Whether p has, or takes, places that o needs. */
static bool in_the_way(const struct operation *o, const struct operation *p)
{
	return p && p != o && !(p->work.light && o->work.coresident);
}

/* Of two kernels whose blocks could start at the same instant the urgent one's do, unless it waited
 * for an event. */
static bool comes_first(
        const struct simulation *s, const struct operation *o, const struct operation *p)
{
	return p->begin + p->work.start == s->now && urgent(o) && !urgent(p) &&
	       !comes_from_afar(s, o);
}

/* Whether p has places that o finds taken. */
static bool has_places(
        const struct simulation *s, const struct operation *o, const struct operation *p)
{
	return at_work(s, p) && p->rate > 0 && !comes_first(s, o, p);
}

static double wait_for(const struct simulation *s, const struct operation *o,
        const struct operation *p, double missing)
{
	const bool evenly = s->now - p->begin - p->work.start >= TOGETHER * p->work.block_lifetime;

	return o->work.independent && p->work.exclusive && evenly
	               ? blocks_replaced(s, o, p, fmin(missing, o->work.share))
	               : blocks_end(s, p, missing / (p->rate * p->work.share));
}

void simulation_hold(struct simulation *s, struct operation *o)
{
	const double left = left_over(s, o);
	const bool found = finds_places(o, left);
	double taken = found ? left : o->work.share, end = s->now;

	for (int q = 0; q < QUEUE_COUNT; q++) {
		const struct operation *p = head(s, q);
		if (!in_the_way(o, p))
			continue;
		if (has_places(s, o, p)) {
			taken += p->rate * p->work.share;
		} else if (starts(s, p) && comes_from_afar(s, o)) {
			taken += p->work.share;
			end = max_double(
			        end, p->begin + fmin(p->work.start + p->work.block_lifetime,
			                                p->work.seconds));
		}
	}
	if (taken <= 1 + 1e-12)
		return;
	for (int q = 0; q < QUEUE_COUNT; q++) {
		const struct operation *p = head(s, q);
		if (in_the_way(o, p) && has_places(s, o, p) && !(found && lives_to_end(p)))
			end = max_double(end, wait_for(s, o, p, taken - 1));
	}
	o->held = end;
}
