/* SPDX-License-Identifier: MIT */
#include "shapes.h"

#include "factor/validation/fixture.h"
#include "factor/validation/products.h"
#include "factor/validation/reference.h"
#include "lib/host/sample.h"

#include <math.h>
#include <string.h>

enum { RUNS = 8 }; /* of a case, about */

/* Products of one shape have the same operands. */
static bool same_product(const struct result *a, const struct result *b)
{
	return !results_is_product(a) ||
	       (a->k == b->k && product_of(a).trans == product_of(b).trans);
}

bool shapes_same(const struct result *a, const struct result *b)
{
	bool panel = results_is_lu_panel(a), both = panel == results_is_lu_panel(b);

	return both && same_product(a, b) && result_same_option(a, b, "lda") &&
	       (panel || strcmp(a->operation, b->operation) == 0) && a->m == b->m && a->n == b->n &&
	       a->precision == b->precision && strcmp(a->executor, b->executor) == 0;
}

size_t shapes_add(struct shape *shape, size_t count, const struct result *row)
{
	size_t s = 0;

	while (s < count && !shapes_same(shape[s].row, row))
		s++;
	if (s == count)
		shape[count++] = (struct shape){row, 0};
	if (results_level(row) == 2 && row->seconds.value > 0)
		shape[s].seconds += row->seconds.value;
	return count;
}

static void shuffle(struct shape *shape, size_t count, uint64_t state)
{
	for (size_t i = count; i > 1; i--) {
		size_t j = (size_t)fixture_random(&state, (int64_t)i);
		struct shape swap = shape[i - 1];
		shape[i - 1] = shape[j];
		shape[j] = swap;
	}
}

void shapes_order(struct shape *shape, size_t count, uint64_t seed, double budget)
{
	const double part = budget / (RUNS * (double)(count + 1));

	shuffle(shape, count, seed);
	for (size_t i = 1; i < count; i++) {
		struct shape this = shape[i];
		size_t at = i;
		for (; at > 0 && shape[at - 1].seconds > fmax(part, this.seconds); at--)
			shape[at] = shape[at - 1];
		shape[at] = this;
	}
}

/* ---- re-measurement ---- */

bool remeasure_wanted(
        const struct results *done, size_t kept, const struct result *of, double target)
{
	const struct result *found = results_find(done, of);

	if (!found || found < done->row + kept || found->seconds.samples < 2)
		return false;
	const struct estimate *t = &found->seconds;
	return results_disturbed(found) || !((t->high - t->low) / 2 <= target * t->value);
}

static void merge(struct result *row, const struct result *again)
{
	const bool before = results_disturbed(row), after = results_disturbed(again);

	if (before == after) {
		row->seconds = sample_merge((struct measurement){.seconds = row->seconds},
		        (struct measurement){.seconds = again->seconds})
		                       .seconds;
	} else if (before) {
		row->seconds = again->seconds;
		row->note[0] = 0;
	}
	row->residual = fmax(row->residual, again->residual);
	row->orthogonality = fmax(row->orthogonality, again->orthogonality);
}

size_t remeasured_merge(struct results *done, const struct results *second)
{
	size_t count = 0;

	for (size_t i = 0; i < second->count; i++) {
		const struct result *again = &second->row[i], *found = results_find(done, again);
		if (reference_is(again))
			reference_add(done, *again, &again->seconds);
		if (!found || again->seconds.samples == 0 || reference_is(again))
			continue;
		merge(&done->row[found - done->row], again);
		count++;
	}
	return count;
}
