/* SPDX-License-Identifier: MIT */
/* LAWN 202's own factorizations, predicted: resident, from host memory, and without each of their
 * optimizations (Figures 7, 8 and 11). */
#include "predict.h"

#include "ablations.h"
#include "factor/validation/papers/lawn_plan.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>

enum { SMALLEST = 32, LARGEST = 16384, LARGEST_QUICK = 512, SIZES = 10, WITHOUT_FROM = 1024 };

/* One factorization of one size: its rows. */
struct lawn_run {
	struct bench_shape shape;
	struct result row[2 + ABLATIONS_OF];
	size_t count;
};

static void predict_run(const struct profile *profile, struct lawn_run *run)
{
	const struct factor_question asked = cases_question(&run->shape, MATH_FP32);
	struct executor *e = model_factor_executor(profile, MODEL_CUDA, &asked, LEVEL_FULL);

	run->row[0] = lawn_plan_row(profile, &run->shape, "cuda");
	run->row[1] = cases_from_host(profile, &run->row[0]);
	run->count = 2;
	if (run->shape.n >= WITHOUT_FROM)
		run->count += ablations_of(e, profile, &run->row[0], &run->row[2]);
	for (size_t i = 0; i < run->count; i++)
		whole_row_predict(profile, LEVEL_FULL, &run->row[i]);
	executor_free(e);
}

static void add_row(struct table *table, const struct result *row)
{
	const char precision[] = {(char)row->precision, 0};
	size_t r;

	if (!(row->seconds.value > 0))
		return;
	r = table_add_row(table);
	table_set_text(table, r, "operation", row->operation);
	table_set_text(table, r, "variant", row->variant);
	table_set_text(table, r, "precision", precision);
	table_set_int(table, r, "n", row->n);
	table_set_int(table, r, "nb", row->nb);
	table_set_text(table, r, "options", row->options);
	table_set_text(table, r, "plan", row->plan);
	table_set_real(table, r, "seconds", row->seconds.value);
	table_set_real(table, r, "gflops", results_gflops(row));
}

struct table *predict_lawn(const struct profile *profile, bool quick)
{
	static const char *const columns[] = {"operation", "variant", "precision", "n", "nb",
	        "options", "plan", "seconds", "gflops"};
	struct lawn_run *run = xcalloc((size_t)OPERATION_COUNT * SIZES, sizeof *run);
	struct table *table = table_new(columns, ARRAY_LEN(columns));
	size_t count = 0, done = 0;

	for (int o = 0; o < OPERATION_COUNT; o++)
		for (int64_t n = SMALLEST; n <= (quick ? LARGEST_QUICK : LARGEST); n *= 2)
			run[count++].shape =
			        (struct bench_shape){operation_name[o], SINGLE, n, n, 0};
	msg_progress_step(0, (double)count, INFINITY, "LAWN 202's %zu factorizations", count);
#pragma omp parallel for schedule(dynamic)
	for (size_t i = 0; i < count; i++) {
		predict_run(profile, &run[i]);
#pragma omp critical(progress)
		msg_progress_step((double)++done, (double)count, INFINITY,
		        "LAWN 202's %zu factorizations", count);
	}
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < run[i].count; k++)
			add_row(table, &run[i].row[k]);
	msg_progress_end();
	free(run);
	return table;
}
