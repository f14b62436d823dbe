/* SPDX-License-Identifier: MIT */
/* Question: how much time does each phase of a whole factorization take in a real run?
 * Method: runs the model's plan, as the predicted breakdown does. Records every operation of some
 * runs, in turns with runs without records. Every moment counts for one of the operations under
 * way. Error sources: the cost of the records, which grows with the number of operations (the time
 * without records is reported, too). Unit: seconds. */
#include "measure.h"

#include "lib/base/msg.h"
#include "factor/validation/breakdown.h"
#include "factor/validation/cases.h"
#include "factor/validation/trace_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Records would dominate smaller runs; on the host alone larger ones take long. */
enum { SMALLEST = 512, LARGEST = 8192, LARGEST_ON_HOST = 2048 };

struct breakdown_bench {
	struct measure *measure;
	struct table *table;
	char *path;
};

/* Keeps the file's rows when they are of this program, machine and profile. */
static void open_table(struct breakdown_bench *b)
{
	char *source = xasprintf("%s/profile.tsv", b->measure->common.output), sha[65];
	struct table *fresh = breakdown_table(), *old = NULL;
	struct fault fault;

	measure_stamp(b->measure, fresh);
	if (table_sha256(source, sha, &fault))
		table_meta_set(fresh, "profile_sha256", "%s", sha);
	if (access(b->path, F_OK) == 0)
		old = table_read(b->path, &fault);
	const bool keep = old && measure_continues(b->measure, old, fresh, "profile_sha256",
	                                 b->path, old->row_count);
	b->table = keep ? old : fresh;
	table_free(keep ? fresh : old);
	free(source);
}

static void run(struct breakdown_bench *b, struct factor_question *asked,
        enum breakdown_place place, struct plan_choice *choice)
{
	struct executor *e = measure_executor(b->measure, place == PLACE_HOST ? "host" : "cuda");
	struct whole whole = {.uplo = asked->uplo};
	struct trace_run run;
	struct fault fault;

	if (!e || breakdown_has(b->table, asked, place) ||
	        !breakdown_choose(b->measure->profile, asked, place, choice))
		return;
	msg_progress("breakdown of %s %s %" PRId64, breakdown_variant[place], asked->operation,
	        asked->n);
	asked->plan = &choice->plan;
	operation_find(asked->operation, &whole.operation);
	if (!trace_run(e, &whole, asked->plan, asked->precision, asked->m, asked->n,
	            b->measure->common.quick, asked->operation, &run, &fault)) {
		msg_warn("breakdown of %s %s %" PRId64 ": %s", breakdown_variant[place],
		        asked->operation, asked->n, fault.text);
		b->measure->failed++;
		return;
	}
	breakdown_add(b->table, asked, place, run.timeline, run.plain.value, run.timeline->seconds);
	timeline_free(run.timeline);
	table_save(b->table, "%s", b->path);
}

static void run_all(struct breakdown_bench *b)
{
	static const char *const operations[] = {"getrf", "geqrf", "potrf"};
	const struct bench_request *request = &b->measure->request;
	struct plan_choice *choice = xmalloc(sizeof *choice);

	for (size_t o = 0; o < ARRAY_LEN(operations); o++)
		for (int64_t n = SMALLEST; n <= LARGEST; n *= 2) {
			const struct bench_shape shape = {operations[o], SINGLE, n, n, 0};
			struct factor_question asked = cases_question(&shape, MATH_FP32);
			if (n < request->smallest || n > request->largest)
				continue;
			for (enum breakdown_place place = 0; place < PLACE_COUNT; place++)
				if (!measure_over(b->measure) &&
				        (place != PLACE_HOST || n <= LARGEST_ON_HOST))
					run(b, &asked, place, choice);
		}
	msg_progress_end();
	free(choice);
}

void measure_breakdown(struct measure *measure)
{
	struct breakdown_bench b = {.measure = measure};

	if (!measure->profile) {
		msg_warn("no breakdown of times: it needs the model's plans; %s; fathom probe "
		         "writes "
		         "it",
		        measure->fault.text);
		return;
	}
	b.path = xasprintf("%s/breakdown_measured.tsv", measure->common.output);
	open_table(&b);
	run_all(&b);
	if (b.table->row_count) {
		printf("\nShares of time by phase, recorded runs\n");
		breakdown_print(b.table, stdout);
		printf("%s\n", b.path);
	}
	table_free(b.table);
	free(b.path);
}
