/* SPDX-License-Identifier: MIT */
/* Shared by the parts of `measure`: the machine, and how cases become candidates. */
#pragma once

#include "lib/base/cli.h"
#include "lib/device/gpu.h"
#include "lib/profile/profile.h"
#include "lib/host/core_noise.h"
#include "factor/validation/predicted.h"
#include "factor/validation/timing.h"
#include "factor/validation/vendor.h"

enum { MEASURE_CANDIDATES = 48, MEASURE_EXECUTORS = 2 };

struct measure {
	struct cli_common common;
	struct gpu gpu;
	bool has_gpu;
	struct executor *executor[MEASURE_EXECUTORS]; /* cuda, host; NULL where not possible */
	struct vendor *vendor;                        /* NULL where not possible */
	const struct topology *topology;              /* of this machine; NULL: unknown */
	struct core_noise noise; /* the calling thread is on the quietest core; unused without a
	                       topology */
	struct timing_plan plan;
	size_t failed, refused;
	double budget;          /* no new shape is started after this many seconds */
	double wanted_hz;       /* host clock of the profile behind the predictions; 0: unknown */
	size_t off_clock;       /* shapes measured at another clock */
	size_t runs, discarded; /* runs, and disturbed runs that were discarded */
	bool again;             /* keep no rows of earlier calls */
	size_t kept;            /* rows of an earlier call */
	size_t remeasured;      /* cases measured twice (remeasured.h) */
	int argc;
	char **argv;
};
extern const char *const measure_executor_names[MEASURE_EXECUTORS];

/* ---- measure_machine.c ---- */

/* Both end the program when nothing can be measured, or a file cannot be written. */
void measure_open(struct measure *measure);
void measure_save(struct results *results, const char *path);
void measure_close(struct measure *measure);
void measure_stamp(struct measure *measure, struct table *table);

/* The profile of the output folder; NULL with a fault. */
struct profile *measure_profile(const struct measure *measure, struct fault *fault);

/* Prints the number of rows of the file, of disturbed, refused and failed ones, and the time. */
void measure_say(const struct measure *measure, const struct results *results, const char *path,
        double seconds);

/* Warns of the `late` ones that the budget was too short for, if any. */
void measure_say_late(const struct measure *measure, size_t late, const char *what);

/* The program's exit code. */
int measure_code(const struct measure *measure);

/* Stamped rows: those that the file has of this program, machine and, unless NULL, predictions;
 * none when measure->again. */
struct results *measure_start(
        struct measure *measure, const char *path, const char *predictions_sha);

/* Whether both tables are stamped by one version of the program on one machine; have the same value
 * of that key. */
bool measure_same(const struct table *a, const struct table *b);
bool measure_same_meta(const struct table *a, const struct table *b, const char *key);

/* NULL where not possible. */
struct executor *measure_executor(const struct measure *measure, const char *name);
struct executor *measure_first(const struct measure *measure, const char **name);

/* Copies a candidate's results into its row, adds the row to out and counts failures. */
void measure_add(struct measure *measure, struct result *row, const struct candidate *candidate,
        struct results *out);

/* The same for all rows of one shape; where they were not timed, warns with the reason unless the
 * program is to stop. Returns timed. */
bool measure_add_all(struct measure *measure, struct result *row, const struct candidate *candidate,
        size_t count, bool timed, const struct fault *fault, struct results *out);

/* Adds the model's time of a row, before its measurement, as a row of executor model, with the
 * option on=EXECUTOR if on. Nothing without a profile or when out has the row. */
void measure_add_model(const struct profile *profile, const struct result *measured, bool on,
        row_predictor predict, struct results *out);

/* ---- cases of one shape: times `count` of them and appends their rows; false when stopped or
 * impossible ---- */

typedef bool measure_cases(struct measure *measure, struct executor *executor, struct result *row,
        size_t count, struct results *out);

/* measure_whole.c: panels of LU; whole factorizations, where executor holds the matrix, rows of
 * variant openblas run on the host and rows of errors are not timed; products (products.h). */
measure_cases measure_panel, measure_whole, measure_product;

/* measure_gram_schmidt.c, measure_gram_host.c, measure_gram_kernels.c: Gram-Schmidt (gram_cases.h),
 * on the host by threads, its kernels (gram_kernels.h). */
measure_cases measure_gram, measure_gram_host, measure_gram_kernel;

/* ---- all cases of one kind that out has not; with a profile the model's rows, too. False when
 * none is new ---- */

/* measure_lawn_errors.c: errors of factorizations of n x n matrices in single precision
 * (lawn_errors.h), by LAWN 202's measure and by kind of matrix. */
bool measure_lawn_errors(struct measure *measure, int64_t n, struct results *out);
bool measure_kind_errors(struct measure *measure, int64_t n, struct results *out);

/* measure_paper_operations.c: LAWN 202's operations (paper_operations.h). */
bool measure_parts(struct measure *measure, const struct profile *profile, const char *operation,
        int64_t m, int64_t n, struct results *out);

/* The forms of Gram-Schmidt on the GPU and on the host; its kernels on n columns of m rows, all of
 * them or a few. */
bool measure_gram_schmidt(struct measure *measure, const struct profile *profile,
        enum precision precision, int64_t m, int64_t n, struct results *out);
bool measure_gram_kernels(struct measure *measure, const struct profile *profile, int64_t m,
        int64_t n, bool all, struct results *out);

/* ---- parts of the program, each with a file of its own; return its exit code ---- */

/* measure_bench.c: ours against the vendor and the host at the documented sizes, into bench.tsv,
 * and the table. Keeps the shapes that the file has of this program and machine. */
struct bench_request {
	bool model_plans; /* only whole factorizations, the largest squares first: the model's plans
	                on a GPU with panels there; the host up to 4096 rows */
	const char *only; /* the operation, with --kerr the variant; "": all */
	const char *math; /* of ours; "": all */
	int64_t smallest, largest; /* rows; rows and columns */
};
int measure_bench(struct measure *measure, const struct bench_request *request);

/* measure_breakdown.c: shares of phases in whole factorizations (LAWN 202, Figure 10) into
 * breakdown_measured.tsv, and a line each. Keeps rows as measure_bench does. */
void measure_breakdown(struct measure *measure, const struct bench_request *request,
        const struct profile *profile);

/* measure_gram_host.c: Gram-Schmidt on the host by threads, widths of blocks and compilers into
 * gram_host.tsv. */
int measure_gram_sweep(struct measure *measure);

/* measure_update.c: the changes of a QR factorization of update_predictions.tsv against factorizing
 * again, into update.tsv. */
int measure_update(struct measure *measure);

/* measure_update_paper.c: the paper's changes of a QR factorization, for several widths of blocks,
 * and their stages, into update_paper.tsv. */
int measure_update_paper(struct measure *measure);

/* measure_kerr.c: Kerr's benchmark of QR into kerr.tsv, and its table. Keeps rows as measure_bench
 * does. */
int measure_kerr(struct measure *measure, const struct bench_request *request);
