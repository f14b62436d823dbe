/* SPDX-License-Identifier: MIT */
#include "kerr_cases.h"

#include "factor/model/predictions/model_kerr.h"
#include "factor/validation/predicted.h"
#include "kerr_protocol.h"

#include "lib/base/msg.h"

#include <math.h>
#include <string.h>

bool results_is_kerr(const struct result *row)
{
	return strcmp(row->operation, "qr_whole_q") == 0;
}

struct result kerr_case(enum kerr_variant variant, int64_t m, int64_t n, int64_t r)
{
	struct result row =
	        result_new("qr_whole_q", kerr_variant_name[variant], "cuda", SINGLE, m, n);

	row.nb = variant == KERR_ONE ? 0 : r;
	return row;
}

bool kerr_variant_of(const struct result *row, enum kerr_variant *variant)
{
	for (int v = 0; v < KERR_VARIANTS; v++)
		if (strcmp(row->variant, kerr_variant_name[v]) == 0) {
			*variant = (enum kerr_variant)v;
			return true;
		}
	return false;
}

bool kerr_row_predict(const struct profile *profile, int level, struct result *row)
{
	struct kerr_question question = {.m = row->m,
	        .n = row->n,
	        .r = max_int64(row->nb, 1),
	        .lda = result_lda(row),
	        .precision = row->precision};
	struct prediction made = {.seconds = NAN, .low = NAN, .high = NAN};
	bool ok = kerr_variant_of(row, &question.variant);

	if (ok)
		ok = model_kerr_predict(profile, &question, level, &made);
	else
		fault_set(&made.fault, "no variant %s", row->variant);
	return predicted_fill(row, &made, ok);
}

struct list {
	struct results *results;
	const struct profile *profile;
	const struct draw *draw;
	size_t refused;
};

static void add(struct list *list, enum kerr_variant variant, int64_t m, int64_t n, int64_t r)
{
	struct result row = kerr_case(variant, m, n, r);

	if (list->draw) /* predictions depend on the leading dimension */
		draw_mark_row(list->draw, &row);
	list->refused += predicted_levels(list->results, list->profile, &row, kerr_row_predict);
}

static void add_all(struct list *list, int64_t m, int64_t n, int64_t r)
{
	add(list, KERR_BLAS, m, n, r);
	add(list, KERR_KERNELS, m, n, r);
	add(list, KERR_ONE, m, n, 0);
}

size_t predict_kerr(
        struct results *results, const struct profile *profile, bool quick, const struct draw *draw)
{
	enum { NARROWEST = 8, MORE = 121 }; /* drawn widths: 8 to 128 */
	static const int64_t fixed[] = {600, 1500, 3000};
	struct list list = {results, profile, draw, 0};
	struct drawn_shape shape[DRAW_SHAPES];
	const size_t count = draw ? draw_shapes(draw, "qr_whole_q", "cuda", SINGLE, shape) : 0;

	for (size_t i = 0; i < count; i++)
		add_all(&list, shape[i].m, shape[i].n,
		        NARROWEST + draw_index(draw, shape[i].m, shape[i].n, 0, MORE));
	for (size_t i = 0; !draw && i < (quick ? 1 : ARRAY_LEN(fixed)); i++)
		add_all(&list, fixed[i], fixed[i] / 2, KERR_TABLE_R);
	return list.refused;
}
