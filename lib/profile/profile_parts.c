/* SPDX-License-Identifier: MIT */
/* Rows that contain others: a round trip contains its launch, a library's call the call that
 * launches a kernel, a time from start to start a start. When a user changes a part, such a row
 * moves by as many seconds as its parts do, and what is left of it without its parts stays as
 * measured. Rates whose times contain a start move so, too, and a bandwidth that two probes measure
 * changes in both rows. */
#include "profile_row.h"

#include <fnmatch.h>
#include <math.h>

enum part {
	ENQUEUE,
	DEPENDENT,
	SYNC,
	EARLY,
	COPY_CALL,
	IDLE,
	L2_LATENCY,
	OUT_ALPHA,
	IN_ALPHA,
	BROADCAST_ALPHA,
	FIRST_RATE,
	OUT_BETA = FIRST_RATE, /* from here on rates, which count as seconds a byte */
	IN_BETA,
	L2_READ,
	L2_WRITE,
	DRAM_COPY,
	BROADCAST_BETA,
	PARTS
};
enum { TURNS = 16 }; /* of blocks in gpu.launch.turn */
_Static_assert((int)PARTS == (int)PROFILE_PARTS, "as many parts as profile_row.h says");

static const char *const part_name[PARTS] = {[ENQUEUE] = "gpu.launch.enqueue",
        [DEPENDENT] = "gpu.launch.dependent",
        [SYNC] = "gpu.launch.sync",
        [EARLY] = "gpu.launch.pdl",
        [COPY_CALL] = "gpu.copy.enqueue",
        [IDLE] = "gpu.concurrent.dependent_idle",
        [L2_LATENCY] = "gpu.l2.latency",
        [OUT_ALPHA] = "link.d2h.pinned.alpha",
        [IN_ALPHA] = "link.h2d.pinned.alpha",
        [OUT_BETA] = "link.d2h.pinned.beta",
        [IN_BETA] = "link.h2d.pinned.beta",
        [BROADCAST_ALPHA] = "link.nccl.broadcast.alpha",
        [BROADCAST_BETA] = "link.nccl.broadcast.beta",
        [L2_READ] = "gpu.l2.read",
        [L2_WRITE] = "gpu.l2.write",
        [DRAM_COPY] = "gpu.dram.copy"};

/* The same bandwidth, or launch, measured in another way: changes in proportion. */
static const struct twin {
	const char *name;
	enum part of;
} twins[] = {{"gpu.loaded.l2.read", L2_READ}, {"gpu.loaded.l2.write", L2_WRITE},
        {"gpu.launch.enqueue_pdl", ENQUEUE}, {"gpu.dram.copy_sustained", DRAM_COPY},
        {"gpu.copy.beta", DRAM_COPY}};

/* How often a row contains each part. `counted` is contained as often as the argument says, too. */
struct whole {
	const char *name; /* a pattern */
	double times[PARTS];
	const char *argument; /* or NULL */
	enum part counted;
};

/* A copy's round trip: its call, and the wait of a synchronization without launch and kernel. */
#define COPY_TRIP [SYNC] = 1, [ENQUEUE] = -1, [DEPENDENT] = -1, [COPY_CALL] = 1

static const struct whole trip = {"gpu.launch.sync", {[ENQUEUE] = 1, [DEPENDENT] = 1}, NULL, 0};

static const struct whole wholes[] = {{"gpu.copy.sync", {[SYNC] = 1}, NULL, 0},
        {"gpu.copy.behind", {[SYNC] = 1, [ENQUEUE] = -1}, "kernels", ENQUEUE},
        {"link.d2h.pinned.time", {COPY_TRIP, [OUT_ALPHA] = 1}, "bytes", OUT_BETA},
        {"link.h2d.pinned.time", {COPY_TRIP, [IN_ALPHA] = 1}, "bytes", IN_BETA},
        {"link.h2d.written.time", {COPY_TRIP, [IN_ALPHA] = 1}, "bytes", IN_BETA},
        {"link.nccl.broadcast.time", {[SYNC] = 1, [BROADCAST_ALPHA] = 1}, "bytes", BROADCAST_BETA},
        {"link.nccl.broadcast.alpha", {[SYNC] = 1}, NULL, 0},
        {"link.nccl.broadcast.queued", {[SYNC] = -1, [DEPENDENT] = 1, [BROADCAST_ALPHA] = 1},
                "bytes", BROADCAST_BETA},
        {"gpu.cublas.iamax", {[SYNC] = 1}, NULL, 0}, {"gpu.cublas.nrm2", {[SYNC] = 1}, NULL, 0},
        {"gpu.cublas.nrm2_length", {[SYNC] = 1}, NULL, 0},
        {"gpu.cublas.*_device", {[DEPENDENT] = 1}, NULL, 0},
        {"gpu.cublas.*", {[ENQUEUE] = 1}, NULL, 0},
        {"gpu.launch.access", {[DEPENDENT] = 1}, "accesses", L2_LATENCY},
        {"gpu.launch.turn", {[DEPENDENT] = 1, [L2_LATENCY] = TURNS}, NULL, 0},
        {"gpu.launch.grid", {[DEPENDENT] = 1}, NULL, 0},
        {"gpu.event.mark", {[DEPENDENT] = 1}, NULL, 0},
        {"gpu.concurrent.stream_wait_idle", {[IDLE] = 1}, NULL, 0},
        {"gpu.concurrent.stream_wait_d2h", {[IDLE] = 0.5, [OUT_ALPHA] = 0.5}, NULL, 0},
        {"gpu.concurrent.stream_wait_h2d", {[IDLE] = 0.5}, NULL, 0},
        {"gpu.panel.step.?", {[DEPENDENT] = 2}, NULL, 0},
        {"gpu.copy.time", {[DEPENDENT] = 1}, NULL, 0},
        {"gpu.change.time", {[DEPENDENT] = 1}, NULL, 0},
        {"gpu.read.time", {[DEPENDENT] = 1}, NULL, 0},
        {"gpu.write.time", {[DEPENDENT] = 1}, NULL, 0},
        /* a round trip less a call in a row */
        {"gpu.alone.panel_grid.?", {[SYNC] = 1, [DEPENDENT] = -1}, NULL, 0},
        {"gpu.alone.*", {[SYNC] = 1, [EARLY] = -1}, NULL, 0},
        /* kernels that are launched early */
        {"gpu.panel_geqrf.?", {[EARLY] = 1}, NULL, 0},
        {"gpu.panel_geqrf_shared.?", {[EARLY] = 1}, NULL, 0},
        {"gpu.panel_geqrf_gram.?", {[EARLY] = 1}, NULL, 0},
        {"gpu.panel_cluster*", {[EARLY] = 1}, NULL, 0},
        {"gpu.panel_grid_shared.?", {[DEPENDENT] = 1}, NULL, 0},
        {"gpu.panel_reflectors.?", {[EARLY] = 1}, NULL, 0},
        {"gpu.qr_columns.?", {[EARLY] = 1}, NULL, 0}, {"gpu.lu_top.?", {[EARLY] = 1}, NULL, 0},
        {"gpu.lu_columns.?", {[EARLY] = 1}, NULL, 0}, {"gpu.potrf_*", {[EARLY] = 1}, NULL, 0},
        {"gpu.own_gemv.?.?", {[EARLY] = 1}, NULL, 0}, {"gpu.half_pair.?", {[EARLY] = 1}, NULL, 0}};

/* Every other timing from start to start. */
static const struct whole started = {"gpu.*", {[DEPENDENT] = 1}, NULL, 0};

bool profile_name_matches(const char *name, const char *pattern)
{
	for (;; pattern++, name++) {
		if (*pattern == '*' || *pattern == '?' || *pattern == '[' || *pattern == '\\')
			return fnmatch(pattern, name, 0) == 0;
		if (*pattern != *name)
			return false;
		if (*pattern == '\0')
			return true;
	}
}

static const struct whole *whole_of(const struct parameter *row)
{
	for (size_t w = 0; w < ARRAY_LEN(wholes); w++)
		if (profile_name_matches(row->name, wholes[w].name))
			return &wholes[w];
	if (regime_is_timing(row->regime) && strstr(row->method, "start to start"))
		return &started;
	return NULL;
}

void profile_parts(const struct profile *profile, double value[PROFILE_PARTS])
{
	for (int p = 0; p < PARTS; p++) {
		value[p] = 0;
		EACH_ROW (i, profile, part_name[p]) {
			const struct parameter *row = &profile->row[i];
			const double x = row->estimate.value;
			if (profile_row_usable(row))
				value[p] = p < FIRST_RATE ? x : 1 / x;
		}
	}
	if (value[EARLY] == 0) /* a device that launches nothing early */
		value[EARLY] = value[DEPENDENT];
}

/* Rates of half of L2's bytes, whose times contain a start. */
static const char *const started_rate[] = {"gpu.l2.copy", "gpu.l2.read", "gpu.l2.write"};

static double half_of_l2(const struct profile *profile)
{
	double bytes = NAN;

	EACH_ROW (i, profile, "gpu.l2.stated")
		bytes = profile->row[i].estimate.value / 2;
	return bytes;
}

static void move_rate(struct parameter *row, double seconds, double bytes, uint64_t bit)
{
	double *const value[] = {&row->estimate.value, &row->estimate.low, &row->estimate.high};

	for (size_t r = 0; r < ARRAY_LEN(started_rate); r++) {
		if (seconds == 0 || isnan(bytes) || strcmp(started_rate[r], row->name) != 0)
			continue;
		for (size_t i = 0; i < ARRAY_LEN(value); i++)
			*value[i] = bytes / fmax(0, bytes / *value[i] + seconds);
		row->changed |= bit;
	}
}

static void scale_twin(struct parameter *row, const double *before, const double *now, uint64_t bit)
{
	struct estimate *e = &row->estimate;

	for (size_t t = 0; t < ARRAY_LEN(twins); t++) {
		const double was = before[twins[t].of], is = now[twins[t].of];
		const bool rate = twins[t].of >= FIRST_RATE;
		const double factor = rate ? was / is : is / was;
		if (was == is || strcmp(twins[t].name, row->name) != 0)
			continue;
		if (!rate && was == 0) { /* its ratio to the other one is gone */
			*e = (struct estimate){is, is, is, e->samples};
			row->changed |= bit;
			continue;
		}
		if (!isfinite(factor) || factor < 0 || (rate && factor == 0))
			continue;
		e->value *= factor;
		e->low *= factor;
		e->high *= factor;
		row->changed |= bit;
	}
}

static void move_row(struct parameter *row, double seconds, uint64_t bit)
{
	struct estimate *e = &row->estimate;

	if (seconds == 0)
		return;
	if (row->hardware > 0) /* the efficiency stays */
		row->start = fmax(0, row->start + seconds);
	e->value = fmax(0, e->value + seconds);
	e->low = fmax(0, e->low + seconds);
	e->high = fmax(0, e->high + seconds);
	row->changed |= bit;
}

static double moved_by(const struct whole *whole, const struct parameter *row, const double *moved)
{
	double seconds = 0;

	for (int p = 0; p < PARTS; p++)
		seconds += whole->times[p] * moved[p];
	if (whole->argument)
		seconds += profile_row_argument(row, whole->argument) * moved[whole->counted];
	return isfinite(seconds) ? seconds : 0;
}

double profile_parts_in(const double parts[PROFILE_PARTS], const struct parameter *row)
{
	const struct whole *whole = whole_of(row);

	return whole ? fmax(0, moved_by(whole, row, parts)) : 0;
}

/* Rows that a what-if set or matched stay as it says. */
static bool follows(const struct parameter *row, uint64_t bit)
{
	return !(row->changed & bit) && strcmp(row->method, "--set") != 0;
}

/* What a what-if did to the parts. */
struct moves {
	const double *before;
	double now[PARTS], moved[PARTS];
	double half_of_l2; /* bytes */
	uint64_t bit;
};

static void follow(struct parameter *row, const struct moves *m)
{
	if (!follows(row, m->bit))
		return;
	const struct whole *whole = whole_of(row);
	if (whole)
		move_row(row, moved_by(whole, row, m->moved), m->bit);
	scale_twin(row, m->before, m->now, m->bit);
	move_rate(row, m->moved[DEPENDENT], m->half_of_l2, m->bit);
}

void profile_follow(struct profile *profile, const double before[PROFILE_PARTS], uint64_t bit,
        const char *const *names, size_t count)
{
	struct moves m = {.before = before, .half_of_l2 = half_of_l2(profile), .bit = bit};
	bool any = false;

	profile_parts(profile, m.now);
	for (int p = 0; p < PARTS; p++) {
		m.moved[p] = m.now[p] - before[p];
		any |= m.moved[p] != 0;
	}
	if (!any)
		return;
	EACH_ROW (i, profile, trip.name) {
		struct parameter *row = &profile->row[i];
		if (!follows(row, bit))
			continue;
		m.moved[SYNC] = moved_by(&trip, row, m.moved);
		move_row(row, m.moved[SYNC], bit);
	}
	for (size_t n = 0; names && n < count; n++)
		EACH_ROW (i, profile, names[n])
			follow(&profile->row[i], &m);
	for (size_t i = 0; !names && i < profile->count; i++)
		follow(&profile->row[i], &m);
}

void profile_try_end(
        struct profile *view, const struct profile *profile, const char *const *names, size_t count)
{
	EACH_ROW (i, view, trip.name)
		view->row[i] = profile->row[i];
	for (size_t n = 0; n < count; n++)
		EACH_ROW (i, view, names[n])
			view->row[i] = profile->row[i];
}
