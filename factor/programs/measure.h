/* SPDX-License-Identifier: MIT */
/* Shared by the parts of `measure`: the machine, a study's rows, and how cases become candidates.
 */
#pragma once

#include "lib/base/cli.h"
#include "lib/device/gpu.h"
#include "lib/profile/profile.h"
#include "lib/host/core_noise.h"
#include "factor/validation/results.h"
#include "factor/validation/timing.h"
#include "factor/validation/vendor.h"

#include <string.h>

enum { MEASURE_CANDIDATES = 64, MEASURE_EXECUTORS = 2 };

enum { SEVERAL_DRAWN = 64 }; /* orders at most */

/* The part of --bench, --kerr and --several that is asked for. */
struct bench_request {
	bool model_plans; /* only whole factorizations, the largest squares first: the model's plans
	                on a GPU with panels there; the host up to 4096 rows */
	const char *only; /* the operation, with --kerr the variant; "": all */
	const char *math; /* of ours; "": all; "fp64": double precision alone */
	bool tall;        /* only shapes of at least eight rows a column */
	int64_t smallest, largest; /* rows; rows and columns */
	int64_t drawn;             /* orders that the seed draws; 0: the documented ones */
};

static inline bool double_alone(const struct bench_request *request)
{
	return strcmp(request->math, "fp64") == 0;
}

struct measure {
	struct cli_common common;
	struct bench_request request;
	struct gpu gpu;
	char tuning[TUNING_NOTE]; /* "" where its sizes are measured ones */
	bool has_gpu;
	struct executor *executor[MEASURE_EXECUTORS]; /* cuda, host; NULL where not possible */
	struct vendor *vendor;                        /* NULL where not possible */
	bool emulates[2];                /* whether its products can be emulated: single, double */
	const struct topology *topology; /* of this machine; NULL: unknown */
	struct core_noise noise; /* the calling thread is on the quietest core; unused without a
	                       topology */
	struct timing_plan plan;
	size_t failed, refused;
	double budget;          /* no new shape is started after this many seconds */
	size_t runs, discarded; /* runs, and disturbed runs that were discarded */
	bool again;             /* keep no rows of earlier calls */
	size_t kept;            /* rows of an earlier call */
	int argc;
	char **argv;
	/* of the study */
	struct results *predictions; /* that it measures; NULL: of no file */
	struct results *results;     /* its file's rows */
	struct profile *profile;     /* for the model's times and plans; NULL: none, see fault */
	struct fault fault;
	char *path;                     /* of its file */
	double start;                   /* when it began */
	double step_began;              /* the step shown last */
	size_t no_steps;                /* steps that had nothing to measure */
	size_t late;                    /* shapes that the budget was too short for */
	struct update_fixture *changed; /* the QR factorization that time_updates changes */
	struct update_errors *errors;   /* of time_updates' rows; NULL: not asked for */
	/* rows to be timed together */
	struct result row[MEASURE_CANDIDATES];
	size_t listed;
};

/* ---- measure_study.c ---- */

void measure_stamp(struct measure *measure, struct table *table);

/* NULL where not possible; the first that is, and its name unless NULL. */
struct executor *measure_executor(const struct measure *measure, const char *name);
struct executor *measure_first(const struct measure *measure, const char **name);

/* The most threads of a run on the host, where the topology is known: as the probes'. */
int measure_largest_threads(const struct measure *measure);

/* A study: a file of rows. */
struct study {
	const char *file, *source, *remedy; /* source: its predictions, and what writes them */
	bool continues;                     /* the rows that the file has are kept */
	double budget;                      /* by default, seconds */
	void (*measure)(struct measure *);
	void (*print)(const struct results *, FILE *out); /* NULL: nothing */
	bool own_rows; /* its file has other columns: it reads and writes the file itself */
};

/* Opens the machine and the results, measures, and prints what was done; returns the program's exit
 * code. */
int measure_study(struct measure *measure, const struct study *study);

/* Whether the rows of a file stamped as `old` go on with those stamped as `fresh`: by one version
 * of the program, both --quick or not, on one machine and with the same value of that key; key is
 * NULL: on machines of one kind, and `fresh` names the rows of others. Warns of the number of rows
 * kept. */
bool measure_continues(const struct measure *measure, const struct table *old, struct table *fresh,
        const char *key, const char *path, size_t rows);

/* The live line of a study: the step that begins, of which `done` of `total` are over. */
void measure_progress(struct measure *measure, size_t done, size_t total, const char *format, ...)
        PRINTF_LIKE(4, 5);

/* Writes the results; ends the program when the file cannot be written. */
void measure_save(struct measure *measure);

/* Whether nothing new may start: stopped, or beyond the budget. measure_in_time: whether it may;
 * counts what is late. */
bool measure_over(const struct measure *measure);
bool measure_in_time(struct measure *measure);

/* ---- measure_rows.c: rows of one shape, timed in turns ---- */

struct rows {
	struct measure *measure;
	struct executor *executor;
	struct result *row;
	size_t count;
	struct candidate *candidate;
	struct fault fault;
};

/* Times the rows into the candidates; false with a fault when stopped or impossible. Panels of LU;
 * whole factorizations, where executor holds the matrix, rows of variant openblas run on the host
 * and rows of errors are not timed; products; Gram-Schmidt, on the host by threads, and its
 * kernels; QR with the whole Q; changes of a QR factorization, ours and (variants paper and whole)
 * the paper's. */
typedef bool rows_timer(struct rows *);
rows_timer time_panels, time_whole, time_products, time_gram, time_gram_host, time_gram_kernels,
        time_updates;

/* What times a row of predictions.tsv. */
rows_timer *measure_timer(const struct result *row);

/* Times the rows and adds them to the results. Where they were not timed, warns with the reason
 * unless the program is to stop. Returns whether they were. */
bool measure_rows(struct measure *measure, rows_timer *timer, struct executor *executor,
        struct result *row, size_t count);

/* Fills a row with its prediction at a level; false with its note. */
typedef bool model_time(const struct profile *profile, int level, struct result *row);

/* Lists a row unless the results or the list have it. With predict and a profile the model's time
 * comes first, as a row of executor model, with the option on=EXECUTOR if `on`. */
void measure_list(struct measure *measure, const struct result *row, model_time *predict, bool on);
/* Times the listed rows, if any, on an executor; returns whether rows are new. */
bool measure_listed(struct measure *measure, rows_timer *timer, struct executor *executor);

/* ---- measure_reference.c ---- */

/* Measures the references of the first rows of the list into the results: to be called before and
 * after these rows are timed. Nothing without a profile. */
struct references *references_new(struct measure *measure);
void references_free(struct references *references);
void references_measure(struct references *references, struct measure *measure, size_t rows,
        struct results *results);

/* Keeps a predicted row's references that were measured while it was timed (struct candidate). */
void references_keep(struct measure *measure, const struct result *row, const double ratio[2]);

/* ---- what the studies measure ---- */

/* measure_predicted.c: the cases of predictions.tsv, into measurements.tsv. */
void measure_predicted(struct measure *measure);

/* measure_bench.c: ours against the vendor and the host at the documented sizes; and the breakdown
 * of times. */
void measure_bench(struct measure *measure);

/* Rows of a shape; of a factorization: Cholesky's triangle is an option. */
struct bench_shape;
struct result bench_row(const struct bench_shape *shape, const char *variant, const char *executor);
struct result bench_factorization(
        const struct bench_shape *shape, const char *variant, const char *executor, bool upper);

/* measure_bench_others.c: a shape of the bench that is no factorization; false: it is one. any:
 * whether rows are new. */
bool measure_others(struct measure *measure, const struct bench_shape *shape, bool *any);

/* measure_widths.c: widths of QR's blocks from measured stages (LAWN 202, section 5). Returns
 * whether rows are new. */
bool measure_widths(struct measure *measure, const struct bench_shape *shape);

/* measure_breakdown.c: shares of phases in whole factorizations (LAWN 202, Figure 10) into
 * breakdown_measured.tsv, and a line each. Keeps rows as the bench does. */
void measure_breakdown(struct measure *measure);

/* measure_several.c: LU, Cholesky and QR on one GPU and on several, and its table. */
void measure_several(struct measure *measure);
void several_print(const struct results *, FILE *out);

/* measure_gram_host.c: Gram-Schmidt on the host by threads, widths of blocks and compilers. */
void measure_gram_sweep(struct measure *measure);

/* measure_update.c: the changes of a QR factorization of update_predictions.tsv against factorizing
 * again. change_open makes the factorization of such a question; false, with a warning, when it
 * cannot. change_close frees it. */
void measure_update(struct measure *measure);
struct update_question;
bool change_open(
        struct measure *measure, const char *executor, const struct update_question *asked);
void change_close(struct measure *measure);

/* measure_update_paper.c: the paper's changes of a QR factorization, for several widths of blocks,
 * and their stages. */
void measure_update_paper(struct measure *measure);

/* measure_kerr.c: Kerr's benchmark of QR, rows of its own kind, and its table. */
void measure_kerr(struct measure *measure);
