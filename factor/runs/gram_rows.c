/* SPDX-License-Identifier: MIT */
#include "gram_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct result gram_row(enum precision precision, int64_t m, int64_t n, const struct gram_run *run,
        const char *compiler)
{
	struct result row = {.precision = precision,
	        .m = m,
	        .n = n,
	        .k = run->k < n ? run->k : 0,
	        .nb = run->nb,
	        .residual = NAN,
	        .orthogonality = NAN};
	char number[16];

	snprintf(number, sizeof number, "%d", run->threads);
	snprintf(row.operation, sizeof row.operation, "gramschmidt");
	snprintf(row.variant, sizeof row.variant, "%s",
	        strcmp(run->form, "blas") == 0 ? "openblas" : run->form);
	snprintf(row.executor, sizeof row.executor, "host");
	results_options(row.options, "host", NULL, 2);
	results_option_add(row.options, "threads", number);
	if (compiler)
		results_option_add(row.options, "compiler", compiler);
	return row;
}

bool results_is_host_gram(const struct result *row)
{
	return strcmp(row->operation, "gramschmidt") == 0 && strcmp(row->executor, "host") == 0 &&
	       results_option(row->options, "threads", NULL, 0);
}

struct gram_run gram_run_of(const struct result *row)
{
	char threads[16] = "1", compiler[16];
	bool other = results_option(row->options, "compiler", compiler, sizeof compiler);

	results_option(row->options, "threads", threads, sizeof threads);
	return (struct gram_run){
	        .form = strcmp(row->variant, "openblas") == 0 ? "blas" : row->variant,
	        .loops = other ? gram_loops_by(compiler) : NULL,
	        .nb = row->nb,
	        .k = row->k ? row->k : row->n,
	        .threads = atoi(threads)};
}
