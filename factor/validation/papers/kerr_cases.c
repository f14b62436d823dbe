/* SPDX-License-Identifier: MIT */
#include "kerr_cases.h"

#include "factor/model/predictions/model_kerr.h"
#include "factor/validation/predicted.h"
#include "kerr_protocol.h"

#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool results_is_kerr(const struct result *row)
{
	return strcmp(row->operation, "qr_whole_q") == 0;
}

/* A row without results. */
static struct result kerr_case(enum kerr_variant variant, int64_t m, int64_t n, int64_t r)
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

/* Three rows a shape, in which the widths of blocks are drawn. */
static struct result *list(bool quick, const struct draw *draw, size_t *count)
{
	enum { NARROWEST = 8, MORE = 121 }; /* drawn widths: 8 to 128 */
	static const enum kerr_variant variants[] = {KERR_BLAS, KERR_KERNELS, KERR_ONE};
	static const int64_t fixed[] = {600, 1500, 3000};
	struct drawn_shape shape[DRAW_SHAPES] = {{0}};
	const size_t shapes = draw    ? draw_shapes(draw, "qr_whole_q", "cuda", SINGLE, shape)
	                      : quick ? 1
	                              : ARRAY_LEN(fixed);
	struct result *rows = xcalloc(shapes * ARRAY_LEN(variants) + 1, sizeof *rows);

	*count = 0;
	for (size_t i = 0; i < shapes; i++) {
		const int64_t m = draw ? shape[i].m : fixed[i], n = draw ? shape[i].n : m / 2,
		              r = draw ? NARROWEST + draw_index(draw, m, n, 0, MORE) : KERR_TABLE_R;
		for (size_t v = 0; v < ARRAY_LEN(variants); v++)
			rows[(*count)++] = kerr_case(variants[v], m, n, r);
	}
	return rows;
}

size_t predict_kerr(
        struct results *results, const struct profile *profile, bool quick, const struct draw *draw)
{
	size_t count, refused = 0;
	struct result *rows = list(quick, draw, &count);

	msg_progress_step(0, (double)count, INFINITY, "%zu cases of QR with the whole Q", count);
#pragma omp parallel for ordered schedule(dynamic) reduction(+ : refused)
	for (size_t i = 0; i < count; i++) {
		struct results *levels = results_new();
		if (draw) /* predictions depend on the leading dimension */
			draw_mark_row(draw, &rows[i]);
		refused += predicted_levels(levels, profile, &rows[i], kerr_row_predict);
#pragma omp ordered
		{
			results_append(results, levels);
			msg_progress_step((double)i + 1, (double)count, INFINITY,
			        "%zu cases of QR with the whole Q", count);
		}
		results_free(levels);
	}
	free(rows);
	return refused;
}
