/* SPDX-License-Identifier: MIT */
/* Rows that contain others: a round trip contains its launch, a library's call the call that
 * launches a kernel, a time from start to start a start. When a user changes a part, such a row
 * moves by as many seconds as its parts do, and what is left of it without its parts stays as
 * measured. */
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
	OUT_ALPHA,
	IN_ALPHA,
	FIRST_RATE,
	OUT_BETA = FIRST_RATE, /* from here on rates, which count as seconds a byte */
	IN_BETA,
	PARTS
};
_Static_assert((int)PARTS == (int)PROFILE_PARTS, "as many parts as profile_row.h says");

static const char *const part_name[PARTS] = {[ENQUEUE] = "gpu.launch.enqueue",
        [DEPENDENT] = "gpu.launch.dependent",
        [SYNC] = "gpu.launch.sync",
        [EARLY] = "gpu.launch.pdl",
        [COPY_CALL] = "gpu.copy.enqueue",
        [IDLE] = "gpu.concurrent.dependent_idle",
        [OUT_ALPHA] = "link.d2h.pinned.alpha",
        [IN_ALPHA] = "link.h2d.pinned.alpha",
        [OUT_BETA] = "link.d2h.pinned.beta",
        [IN_BETA] = "link.h2d.pinned.beta"};

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
        {"gpu.cublas.iamax", {[SYNC] = 1}, NULL, 0}, {"gpu.cublas.nrm2", {[SYNC] = 1}, NULL, 0},
        {"gpu.cublas.*_device", {[DEPENDENT] = 1}, NULL, 0},
        {"gpu.cublas.*", {[ENQUEUE] = 1}, NULL, 0},
        {"gpu.launch.access", {[DEPENDENT] = 1}, NULL, 0},
        {"gpu.launch.turn", {[DEPENDENT] = 1}, NULL, 0},
        {"gpu.launch.grid", {[DEPENDENT] = 1}, NULL, 0},
        {"gpu.event.mark", {[DEPENDENT] = 1}, NULL, 0},
        {"gpu.concurrent.stream_wait_idle", {[IDLE] = 1}, NULL, 0},
        {"gpu.panel.step.?", {[DEPENDENT] = 2}, NULL, 0},
        /* kernels that are launched early */
        {"gpu.panel_geqrf.?", {[EARLY] = 1}, NULL, 0},
        {"gpu.panel_geqrf_shared.?", {[EARLY] = 1}, NULL, 0},
        {"gpu.panel_cluster*", {[EARLY] = 1}, NULL, 0},
        {"gpu.panel_grid_shared.?", {[DEPENDENT] = 1}, NULL, 0},
        {"gpu.panel_reflectors.?", {[EARLY] = 1}, NULL, 0},
        {"gpu.qr_columns.?", {[EARLY] = 1}, NULL, 0}, {"gpu.lu_top.?", {[EARLY] = 1}, NULL, 0},
        {"gpu.lu_columns.?", {[EARLY] = 1}, NULL, 0}, {"gpu.potrf_*", {[EARLY] = 1}, NULL, 0}};

/* Every other timing from start to start. */
static const struct whole started = {"gpu.*", {[DEPENDENT] = 1}, NULL, 0};

static const struct whole *whole_of(const struct parameter *row)
{
	for (size_t w = 0; w < ARRAY_LEN(wholes); w++)
		if (fnmatch(wholes[w].name, row->name, 0) == 0)
			return &wholes[w];
	if (regime_is_timing(row->regime) && strstr(row->method, "start to start"))
		return &started;
	return NULL;
}

void profile_parts(const struct profile *profile, double value[PROFILE_PARTS])
{
	uint32_t key[PARTS];

	for (int p = 0; p < PARTS; p++) {
		key[p] = profile_name_key(part_name[p]);
		value[p] = 0;
	}
	for (size_t i = 0; i < profile->count; i++)
		for (int p = 0; p < PARTS; p++) {
			const struct parameter *row = &profile->row[i];
			if (!profile_row_has_name(row, key[p], part_name[p]) ||
			        !profile_row_usable(row))
				continue;
			const double x = row->estimate.value;
			value[p] = p < FIRST_RATE ? x : 1 / x;
		}
}

static void move_row(struct parameter *row, double seconds, uint64_t bit)
{
	struct estimate *e = &row->estimate;

	if (seconds == 0)
		return;
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

void profile_follow(struct profile *profile, const double before[PROFILE_PARTS], uint64_t bit)
{
	const uint32_t key = profile_name_key(trip.name);
	double moved[PARTS];
	bool any = false;

	profile_parts(profile, moved);
	for (int p = 0; p < PARTS; p++) {
		moved[p] -= before[p];
		any |= moved[p] != 0;
	}
	for (size_t i = 0; any && i < profile->count; i++) {
		struct parameter *row = &profile->row[i];
		if (!profile_row_has_name(row, key, trip.name) || !follows(row, bit))
			continue;
		moved[SYNC] = moved_by(&trip, row, moved);
		move_row(row, moved[SYNC], bit);
	}
	for (size_t i = 0; any && i < profile->count; i++) {
		struct parameter *row = &profile->row[i];
		const struct whole *whole = follows(row, bit) ? whole_of(row) : NULL;
		if (whole)
			move_row(row, moved_by(whole, row, moved), bit);
	}
}
