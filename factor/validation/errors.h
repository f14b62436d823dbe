/* SPDX-License-Identifier: MIT */
/* The statistics of validation: predictions set against measurements. error = predicted / measured
 * - 1, signed; the measurement is the median. Nothing here reads a file or prints. */
#ifndef FATHOM_ERRORS_H
#define FATHOM_ERRORS_H

#include "results.h"

/* Within 10 %; too slow predicted; too fast predicted; the measurement's own interval straddles the
 * 10 % limit; nothing to compare, or measured too noisily (a half-width over 20 %). */
enum verdict { VERDICT_OK, VERDICT_OVER, VERDICT_UNDER, VERDICT_AMBIGUOUS, VERDICT_SKIPPED };
extern const char *const verdict_name[];

struct comparison {
	const struct result *predicted, *measured; /* measured is NULL when there is no row */
	char family[64];                           /* "panel_getrf/blas/s" */
	bool phase;                                /* one phase of the sequence, not the whole */
	int level;
	enum verdict verdict;
	char reason[512];    /* of SKIPPED */
	double error;        /* NaN when skipped, as all below */
	bool covered;        /* measured median inside the prediction's interval */
	double half_width;   /* of the prediction's interval, relative */
	double peak_error;   /* of "bytes at the peak rate", filled by errors_baseline_peak */
	double scaled_error; /* of the nearest other measured size of the family scaled by flops */
};

/* One comparison per prediction, in the predictions' order. The caller frees *rows. */
size_t errors_compare(const struct results *predictions, const struct results *measurements,
        struct comparison **rows);

/* Fills peak_error: the panel (of gemv: the matrix) read and written (read) once at `bandwidth`
 * bytes/s (read + written), nothing else; for the cases of one executor. */
void errors_baseline_peak(
        struct comparison *rows, size_t count, const char *executor, double bandwidth);

/* What a summary covers; NULL and -1 mean any. Phases are never part of a summary. */
struct errors_filter {
	const char *family, *executor, *regime;
	int level;
};

struct error_summary {
	size_t cases, skipped;
	double median_abs, p90_abs, worst, bias; /* worst and bias (median) are signed */
	double within[4];                        /* fractions within 5, 10, 20, 30 % */
	double coverage, half_width;             /* fraction covered; median relative half-width */
	double peak, scaled;                     /* median absolute errors of the two baselines */
};
struct error_summary errors_summary(
        const struct comparison *rows, size_t count, const struct errors_filter *filter);

/* The same for whole factorizations: the standard count of operations at `rate` flop/s, for the
 * cases of one executor and precision. */
void errors_baseline_rate(struct comparison *rows, size_t count, const char *executor,
        enum precision precision, double rate);

/* Of all pairs of variants (and plans) of one problem (same operation, executor, precision, shape,
 * triangle, place of the matrix) whose measured times lie
 * within a factor of 2: how many the level's predictions put in the measured order. */
struct ranking {
	size_t pairs, right;
};
struct ranking errors_ranking(const struct comparison *rows, size_t count, const char *operation,
        const char *executor, int level);

/* regret = measured time of the variant chosen (the plan that the model chose, where that was
 * measured, or the one predicted fastest) / best measured time - 1, over the
 * problems with at least two variants predicted and measured: every way there is to solve it that
 * was predicted, by variant, block width and plan. family: only problems where that family was
 * chosen (NULL: all). operation and executor: NULL means any. */
struct regret {
	size_t shapes;
	size_t fewest, most;  /* ways measured of a problem */
	size_t missing;       /* ways predicted, but not measured, of all of them */
	double median, worst; /* NaN when shapes is 0 */
};
struct regret errors_regret(const struct comparison *rows, size_t count, const char *operation,
        const char *executor, const char *family, int level);

#endif
