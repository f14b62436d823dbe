/* SPDX-License-Identifier: MIT */
/* Intervals of the hardware law. */
#include "law_parts.h"

#include "factor/model/predictions/intervals.h"
#include "lib/base/msg.h"
#include "lib/profile/profile_row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Each parameter at both ends of its interval, the others at their values. */
static void spread_rows(struct cost_reader *r, const struct kernel_work *work, size_t count,
        enum law_form form, double seconds, struct spread *spread)
{
	const struct model used = r->model;
	struct profile rows = model_rows(&used), shifted = profile_view(&rows);

	for (size_t u = 0; u < used.used_count; u++) {
		double below = 0, above = 0;
		for (int side = -1; side <= 1; side += 2) {
			if (!profile_move_rows(&shifted, &rows, used.used[u], side))
				continue;
			cost_reader_change(r, &shifted, used.used[u]);
			const double off =
			        law_answer_in_form(r, work, count, form).seconds - seconds;
			r->model.missing = false; /* another branch: no answer there */
			above = fmax(above, off);
			below = fmax(below, -off);
		}
		profile_move_rows(&shifted, &rows, used.used[u], 0);
		cost_reader_change(r, &shifted, used.used[u]);
		spread_widen(spread, below, above);
	}
	profile_view_free(&rows);
	profile_view_free(&shifted);
}

/* The class's efficiencies at both ends. */
static void spread_efficiency(struct cost_reader *r, const struct kernel_work *work, size_t count,
        enum law_form form, double seconds, struct spread *spread)
{
	struct kernel_work *at = xmalloc(count * sizeof *at);
	struct law_answer other;
	double off[2];

	for (int end = 0; end < 2; end++) {
		memcpy(at, work, count * sizeof *at);
		for (size_t i = 0; i < count; i++)
			at[i].efficiency.value =
			        end ? work[i].efficiency.low : work[i].efficiency.high;
		off[end] = law_overlapped(r, at, count, form, 0, &other) - seconds;
	}
	spread_widen(spread, -off[0], off[1]);
	free(at);
}

void law_interval(const struct cost_reader *reader, const struct kernel_work *work, size_t count,
        enum law_form form, struct law_answer *a)
{
	struct cost_reader *r = xmalloc(sizeof *r);
	const bool known = work[0].efficiency.value > 0;
	const struct interval_factor of_class = {.spreads = 1, .least = 1, .most = 1};
	struct spread spread = {0, 0};
	struct law_answer other;

	cost_reader_copy(r, reader);
	spread_widen(&spread, (a->seconds - law_overlapped(r, work, count, form, -1, &other)) / 2,
	        (law_overlapped(r, work, count, form, 1, &other) - a->seconds) / 2);
	if (known)
		spread_efficiency(r, work, count, form, a->seconds, &spread);
	spread_rows(r, work, count, form, a->seconds, &spread);
	interval_ends(known ? &of_class : &interval_table.of[INTERVAL_ALONE], &spread, a->seconds,
	        &a->low, &a->high);
	free(r);
}

bool law_estimate(struct cost_reader *r, const struct kernel_work *work, struct law_answer *a)
{
	const enum law_form form = law_own_form(work);

	*a = law_answer_in_form(r, work, 1, form);
	if (isnan(a->seconds))
		return false;
	law_interval(r, work, 1, form, a);
	return true;
}
