/* SPDX-License-Identifier: MIT */
/* What the parts of `measure` share: the machine, and how cases become candidates. */
#ifndef FATHOM_MEASURE_H
#define FATHOM_MEASURE_H

#include "lib/base/cli.h"
#include "lib/device/gpu.h"
#include "lib/profile/profile.h"
#include "lib/host/core_noise.h"
#include "factor/validation/results.h"
#include "factor/validation/timing.h"
#include "factor/validation/vendor.h"

enum { MEASURE_CANDIDATES = 48, MEASURE_EXECUTORS = 2 };

struct measure {
	struct cli_common common;
	struct gpu gpu;
	bool has_gpu;
	struct executor *executor[MEASURE_EXECUTORS]; /* cuda, host; NULL where not possible */
	struct vendor *vendor;                        /* NULL where not possible */
	const struct topology *topology; /* of this machine; NULL where it is not known */
	struct core_noise noise; /* the calling thread is on the quietest core, as the probes'
	                       is; without a topology nothing */
	struct timing_plan plan;
	size_t failed, refused;
	double budget;          /* no new shape is started after this many seconds */
	double wanted_hz;       /* host clock of the profile behind the predictions; 0: unknown */
	size_t off_clock;       /* shapes measured at another one */
	size_t runs, discarded; /* runs, of which disturbed ones were discarded */
	bool again;             /* nothing of earlier calls is kept */
	size_t kept;            /* rows of an earlier call */
	size_t remeasured;   /* cases measured twice (remeasured.h) */
	int argc;
	char **argv;
};
extern const char *const measure_executor_names[MEASURE_EXECUTORS];

/* measure_machine.c. The program ends when nothing can be measured, or a file not written. */
void measure_open(struct measure *measure);
void measure_close(struct measure *measure);
void measure_stamp(struct measure *measure, struct table *table);
void measure_save(struct results *results, const char *path);

/* What the file has now, how much of it was disturbed, refused or failed, and how long it took. */
void measure_say(const struct measure *measure, const struct results *results, const char *path,
        double seconds);

/* What the file has of this program, machine and, unless NULL, predictions, when earlier calls'
 * rows are to be kept; else nothing. Stamped. */
struct results *measure_start(
        struct measure *measure, const char *path, const char *predictions_sha);

/* Whether both tables are stamped by one version of the program on one machine; have one value of
 * that key. */
bool measure_same(const struct table *a, const struct table *b);
bool measure_same_meta(const struct table *a, const struct table *b, const char *key);
struct executor *measure_executor(const struct measure *measure, const char *name);

/* Copies what a candidate found into its row, adds that to out and counts failures. */
void measure_add(struct measure *measure, struct result *row, const struct candidate *candidate,
        struct results *out);

/* The same for all rows of one shape; where they were not timed, says why unless that was asked to
 * stop. Returns timed. */
bool measure_add_all(struct measure *measure, struct result *row, const struct candidate *candidate,
        size_t count, bool timed, const struct fault *fault, struct results *out);

/* measure_panel.c: times `count` cases of one panel shape and appends their rows. False when
 * stopped or impossible. */
bool measure_panel(struct measure *measure, struct executor *executor, struct result *row,
        size_t count, struct results *out);

/* measure_whole.c: the same for cases of one whole factorization; executor is where the matrix is.
 * Rows of variant openblas run on the host all the same; those of errors are not timed. */
bool measure_whole(struct measure *measure, struct executor *executor, struct result *row,
        size_t count, struct results *out);

/* measure_lawn_errors.c: errors of the factorizations of n x n matrices in single precision (by
 * measure_whole, as rows of lawn_errors.h), all ways that out has not. False when none is new. */
bool measure_lawn_errors(struct measure *measure, int64_t n, struct results *out);
/* Those of LU and QR by kind of matrix, as kind_errors.h measures them. */
bool measure_kind_errors(struct measure *measure, int64_t n, struct results *out);

/* measure_product.c: the same for products in a row (products.h). */
bool measure_product(struct measure *measure, struct executor *executor, struct result *row,
        size_t count, struct results *out);

/* measure_paper_operations.c: the operations that LAWN 202 measures by themselves (paper_operations.h), all ways that out
 * has not; with a profile, its estimates of the vector-thread product as rows of executor model. */
bool measure_parts(struct measure *measure, const struct profile *profile, const char *operation,
        int64_t m, int64_t n, struct results *out);

/* measure_gram_schmidt.c: cases of Gram-Schmidt (gram_cases.h), as measure_product; and all forms
 * that out has not, with a profile what the model says of them as rows of executor model,
 * on=EXECUTOR. */
bool measure_gram(struct measure *measure, struct executor *executor, struct result *row,
        size_t count, struct results *out);
bool measure_gram_schmidt(struct measure *measure, const struct profile *profile,
        enum precision precision, int64_t m, int64_t n, struct results *out);

/* measure_gram_host.c: the same for rows of it on the host (gram_rows.h), of one matrix. */
bool measure_gram_host(struct measure *measure, struct executor *host, struct result *row,
        size_t count, struct results *out);
/* measure_gram_kernels.c: cases of Gram-Schmidt's kernels, as measure_product; and all documented
 * ones of n columns of m rows that out has not (gram_kernels.h), with the model's as rows of
 * executor model. */
bool measure_gram_kernel(struct measure *measure, struct executor *executor, struct result *row,
        size_t count, struct results *out);
bool measure_gram_kernels(struct measure *measure, const struct profile *profile, int64_t m,
        int64_t n, bool all, struct results *out);

/* measure_bench.c: ours against the vendor and the host at the documented sizes, into bench.tsv,
 * and the table of it. Shapes that the file has of this program and machine are kept
 * (measure.again: not). only: the operation (of Kerr's benchmark the variant) to measure ("": all);
 * math: of ours alone ("": all); smallest: rows; largest: rows and columns. chosen: whole
 * factorizations alone, the largest squares first; of ours on a GPU the plans that the model
 * chooses with the panels there, the host for squares of 4096 rows at most. */
struct bench_request {
	bool chosen;
	const char *only, *math;
	int64_t smallest, largest;
};
int measure_bench(struct measure *measure, const struct bench_request *request);

/* measure_breakdown.c: where the time of whole factorizations goes (LAWN 202, Figure 10) into
 * breakdown_measured.tsv, and a line each; sizes and rows that are kept as with measure_bench. */
void measure_breakdown(struct measure *measure, const struct bench_request *request,
        const struct profile *profile);

/* measure_gram_host.c: Gram-Schmidt on the host by threads, widths of blocks and compilers into
 * gram_host.tsv. */
int measure_gram_sweep(struct measure *measure);

/* measure_update.c: the changes of a QR factorization that update_predictions.tsv has, against
 * factorizing again, into update.tsv. */
int measure_update(struct measure *measure);

/* measure_update_paper.c: the paper's changes of a QR factorization, for several widths of blocks,
 * and their stages, into update_paper.tsv. */
int measure_update_paper(struct measure *measure);

/* measure_kerr.c: Kerr's benchmark of QR into kerr.tsv, and the table of it; sizes and rows that
 * are kept as with measure_bench. */
int measure_kerr(struct measure *measure, const struct bench_request *request);

#endif
