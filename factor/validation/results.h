/* SPDX-License-Identifier: MIT */
/* The rows of predictions.tsv and measurements.tsv: one case each, unique by its key columns
 * (operation variant precision math m n k p nb options executor). */
#pragma once

#include "lib/stats/stats.h"
#include "lib/base/table.h"
#include "factor/executors/executor.h"
#include "factor/model/simulation/level.h"

enum { RESULT_OPTIONS = 96 };

struct result {
	char operation[24], variant[24], executor[16];
	enum precision precision;
	enum math math; /* of our code in single precision */
	int64_t m, n;
	int64_t k, p, nb; /* inner dimension or number of reflectors; right-hand sides; width of the
	                     (first) block; 0 where the operation has none */
	char options[RESULT_OPTIONS]; /* key=value pairs joined by commas: the memory state,
	                     phase=NAME, uplo=l|u, from=host, alg=NAME, plan=model|stages,
	                     without=NAME, trans=nn|nt, layout=row|column, blocks=folded|exit|full,
	                     side=l|r, splits=N|plan, error=x|factors|q (update_errors.h),
	                     of=OPERATION and row=MxN (reference.h), lda=N, gpus=N, launch=device,
	                     seed=N (draw.h), level=0|1|hardware (last) */
	char plan[256]; /* of whole factorizations the text of whole_plan_text; else block width
	                   and leading dimension */
	struct estimate seconds; /* samples = repeats; NaN: refused or failed, see note */
	double residual;         /* LAPACK's test ratio; check_whole.h estimates it for whole
	                            factorizations; rows error_* hold LAWN 202's measure, of changes of
	                            a QR factorization Andrew and Dingle's */
	double orthogonality;    /* of QR, the same ratio; else NaN */
	char regime[16];         /* of a prediction: hardware | library | calibrated */
	char note[512];          /* the reason why there is no number, or a warning; else empty */
};

struct results {
	struct table *table; /* metadata */
	struct result *row;
	size_t count;
};

/* A row without times, in the usual memory state of the executor. */
struct result result_new(const char *operation, const char *variant, const char *executor,
        enum precision precision, int64_t m, int64_t n);

/* An empty list with an empty table (for metadata); results_write fills the table's rows. */
struct results *results_new(void);
void results_free(struct results *results);
void results_add(struct results *results, const struct result *row);

/* All rows of others. */
void results_append(struct results *results, const struct results *others);

/* Writes rows and metadata atomically. */
bool results_write(struct results *results, const char *path, struct fault *fault);

/* The same as JSON to stdout. */
void results_write_json(const struct results *results);

/* Writes those columns of a row that the table has; all but gflops. */
void result_write(struct table *table, size_t r, const struct result *row);

/* Reads and checks. NULL with a fault for missing columns, an unknown precision or math, sizes or
 * times that are not positive, an inverted interval, a key that occurs twice. */
struct results *results_read(const char *path, struct fault *fault);

/* "l2=warm" or "cache=warm" by executor, then phase (NULL: none), then level (2 is not written). */
void results_options(
        char options[RESULT_OPTIONS], const char *executor, const char *phase, int level);

/* One more pair, before the level. */
void results_option_add(char options[RESULT_OPTIONS], const char *key, const char *value);

/* Value of one option into value (size bytes); false when it is absent. */
bool results_option(const char *options, const char *key, char *value, size_t size);

/* Whether the row has this option at all; whether with this value. */
bool result_has(const struct result *row, const char *key);
bool result_has_value(const struct result *row, const char *key, const char *value);

/* Whether both rows have the same value of this option, or neither has it. */
bool result_same_option(const struct result *a, const struct result *b, const char *key);

/* Calls of one sample, from a plan calls=N; 1 without. */
int64_t results_calls(const struct result *row);

/* Level of a prediction (enum level), LEVEL_FULL when options name none, -1 for an unknown one; its
 * name in options and tables: 0, 1, 2, hardware. */
int results_level(const struct result *row);
const char *results_level_name(int level);

/* A note marks times that other processes disturbed, and how. */
void results_disturbed_set(struct result *row, const char *how);
bool results_disturbed(const struct result *row);
size_t results_count_disturbed(const struct results *results);

/* A note marks predictions of plans that a rule chose among plans of nearly the same cost. */
void results_by_rule_set(struct result *row);
bool results_by_rule(const struct result *row);

/* Reads a row's columns; NULL, or what is wrong with it. */
const char *result_read(const struct table *table, size_t r, struct result *row);

/* The measurement of a prediction's case, or NULL. */
const struct result *results_find(const struct results *results, const struct result *like);

/* Whether two rows have the same key columns, apart from a prediction's level. */
bool result_same_case(const struct result *a, const struct result *b);

/* Whether two rows have the same operation, precision and size. */
bool result_same_problem(const struct result *a, const struct result *b);

/* A panel or a rank-1 update of one; else a whole factorization. Panels of LU, and their rank-1
 * updates, have variants of their own; panels of QR and Cholesky are matrices of one block. */
#define RESULTS_PANEL "panel_"
bool results_is_panel(const struct result *row);
bool results_is_lu_panel(const struct result *row);

/* Errors of a whole factorization by LAWN 202's measure (lawn_errors.h): this prefix, then the
 * operation's name. */
#define RESULTS_ERROR "error_"
bool results_is_error(const struct result *row);

/* QR by widths from measured stages (stage_rows.h): stages of order n with k reflectors, and whole
 * factorizations. These prefixes, then geqrf. */
#define RESULTS_STAGE "stage_"
#define RESULTS_WIDTHS "widths_"
bool results_is_stage(const struct result *row);
bool results_is_widths(const struct result *row);

/* The factorization behind an operation's name, without the prefix of the kinds above. */
const char *results_factorization(const char *operation);

/* LAPACK Working Note 41's operation count; NaN for operations that only move words. */
double results_flops(const struct result *row);

/* The same rate in Gflop/s; NaN for NULL. */
double results_gflops(const struct result *row);
