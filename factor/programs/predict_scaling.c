/* SPDX-License-Identifier: MIT */
#include "predict.h"

#include "factor/model/efficiency/efficiency.h"
#include "factor/model/predictions/model_factor.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_GPUS = 64, OF_A_HOST = 8, BLOCK = 512, MOST_RUNS = 128 };

struct scaling_run {
	struct several_question asked;
	bool weak;
	double seconds;
};

/* One matrix for all counts of GPUs; or matrices of as many elements for each GPU. */
static size_t list_runs(bool quick, struct scaling_run *run)
{
	static const char *const operations[] = {"getrf", "geqrf", "potrf"};
	static const int64_t sizes[] = {32768, 65536};
	const int most = quick ? 2 : MOST_GPUS;
	size_t count = 0;

	for (int gpus = most; gpus >= 1; gpus /= 2) /* the longest first */
		for (size_t o = 0; o < ARRAY_LEN(operations); o++)
			for (int weak = 0; weak <= 1; weak++)
				for (size_t i = 0; i < ARRAY_LEN(sizes) - (size_t)weak; i++) {
					const double n = (double)sizes[i] *
					                 (weak ? sqrt((double)gpus) : 1) /
					                 (quick ? 16 : 1);
					const int64_t columns = (int64_t)(n / BLOCK) * BLOCK;
					run[count++] = (struct scaling_run){
					        {.operation = operations[o],
					                .m = columns,
					                .n = columns,
					                .nb = BLOCK,
					                .precision = SINGLE,
					                .gpus = gpus,
					                .hosts = gpus > OF_A_HOST ? gpus / OF_A_HOST
					                                          : 1},
					        weak, NAN};
				}
	return count;
}

static void add_row(struct table *table, const struct scaling_run *run)
{
	const struct several_question *q = &run->asked;
	const size_t r = table_add_row(table);

	table_set_text(table, r, "scaling", run->weak ? "weak" : "strong");
	table_set_text(table, r, "operation", q->operation);
	table_set_text(table, r, "precision", "s");
	table_set_text(table, r, "math", math_name[q->math]);
	table_set_int(table, r, "n", q->n);
	table_set_int(table, r, "nb", q->nb);
	table_set_int(table, r, "gpus", q->gpus);
	table_set_int(table, r, "hosts", q->hosts);
	table_set_real(table, r, "seconds", run->seconds);
	table_set_real(table, r, "gflops",
	        model_factor_flops(q->operation, (double)q->n, (double)q->n) / run->seconds / 1e9);
}

struct table *predict_scaling(const struct profile *profile, bool quick)
{
	static const char *const columns[] = {"scaling", "operation", "precision", "math", "n",
	        "nb", "gpus", "hosts", "seconds", "gflops"};
	struct table *table = table_new(columns, ARRAY_LEN(columns));
	struct profile *links = profile_copy(profile);
	struct scaling_run run[MOST_RUNS];
	const size_t count = profile_has(profile, "gpu.") ? list_runs(quick, run) : 0;
	size_t done = 0;

	model_several_assume(links);
	efficiency_prepare(links);
	msg_progress_step(0, (double)count, INFINITY, "%zu factorizations over GPUs", count);
#pragma omp parallel for schedule(dynamic)
	for (size_t i = 0; i < count; i++) {
		struct several_prediction out;
		if (model_several_predict(links, &run[i].asked, false, &out))
			run[i].seconds = out.whole.seconds;
#pragma omp critical(progress)
		msg_progress_step((double)++done, (double)count, INFINITY,
		        "%zu factorizations over GPUs", count);
	}
	for (size_t i = count; i > 0; i--)
		if (run[i - 1].seconds > 0)
			add_row(table, &run[i - 1]);
	msg_progress_end();
	profile_free(links);
	return table;
}
