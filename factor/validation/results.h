/* SPDX-License-Identifier: MIT */
/* The rows of predictions.tsv and measurements.tsv: one case each, unique by its key columns
 * (operation variant precision math m n k p nb options executor). */
#ifndef FATHOM_RESULTS_H
#define FATHOM_RESULTS_H

#include "lib/stats/stats.h"
#include "lib/base/table.h"
#include "factor/executors/executor.h"

struct result {
	char operation[24], variant[24], executor[16];
	enum precision precision;
	enum math math; /* of ours in single precision */
	int64_t m, n;
	int64_t k, p, nb; /* where the operation has them, else 0: inner dimension or reflectors,
	                     right-hand sides, width of the (first) block */
	char options[64]; /* key=value pairs joined by commas: the memory state, phase=NAME,
	                     uplo=l|u, from=host, alg=NAME, plan=chosen,
	                     without=NAME, trans=nn|nt, layout=row|column,
	                     blocks=folded|exit|full, side=l|r, splits=N|plan,
	                     level=0|1 (last) */
	char plan[256];   /* of whole factorizations as whole_plan_text has it; else block width and
	                     leading dimension */
	struct estimate
	        seconds; /* samples = repeats; value NaN: refused or failed, note says why */
	double residual; /* LAPACK's test ratio; of whole factorizations estimated as check_whole.h
	                    says; of error_* what that has of LAWN 202 */
	double orthogonality; /* of QR, alike; else NaN */
	char regime[16];      /* of a prediction: hardware | surface */
	char note[512];       /* why there is no number, or what it is worth; else empty */
};

struct results {
	struct table *table; /* metadata */
	struct result *row;
	size_t count;
};

/* An empty list with an empty table (for metadata); results_write fills the table's rows. */
struct results *results_new(void);
void results_free(struct results *results);
void results_add(struct results *results, const struct result *row);

/* All rows of others. */
void results_append(struct results *results, const struct results *others);

/* Writes rows and metadata atomically. */
bool results_write(struct results *results, const char *path, struct fault *fault);

/* Reads and checks: missing columns, an unknown precision, sizes that are not positive, a negative
 * or infinite time, an inverted interval, a key that occurs twice. */
struct results *results_read(const char *path, struct fault *fault);

/* "l2=warm" or "cache=warm" by executor, then phase (NULL: none), then level (2 is not written). */
void results_options(char options[64], const char *executor, const char *phase, int level);

/* One more pair. */
void results_option_add(char options[64], const char *key, const char *value);

/* Value of one option into value (size bytes); false when it is not there. */
bool results_option(const char *options, const char *key, char *value, size_t size);

/* Calls of one sample, from a plan calls=N; 1 without. */
int64_t results_calls(const struct result *row);

/* Level of a prediction: 0, 1, or 2 when options name none. */
int results_level(const struct result *row);

/* Marks a time as that of runs that others on the host disturbed (timing.h); whether it is one; how
 * many are. */
void results_disturbed_set(struct result *row);
bool results_disturbed(const struct result *row);
size_t results_count_disturbed(const struct results *results);

/* The measurement of a prediction's case, or NULL. */
const struct result *results_find(const struct results *results, const struct result *like);

/* A panel or a rank-1 update of one; else a whole factorization. Panels of LU, and those updates,
 * come in variants of their own; those of QR and Cholesky are matrices of one block. */
#define RESULTS_PANEL "panel_"
bool results_is_panel(const struct result *row);
bool results_is_lu_panel(const struct result *row);

/* Errors of a whole factorization by LAWN 202's measure (lawn_errors.h): the operation's name
 * behind this. */
#define RESULTS_ERROR "error_"
bool results_is_error(const struct result *row);

/* The factorization that an operation's name is of, which may be an error's or a panel's. */
const char *results_factorization(const char *operation);

/* LAPACK Working Note 41's operation count, NaN of what only moves words. */
double results_flops(const struct result *row);

#endif
