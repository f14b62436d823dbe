/* SPDX-License-Identifier: MIT */
/* Accuracy of predictions against measurements: error = predicted / measured - 1, signed, with the
 * median as the measurement. Reads no file and prints nothing. */
#pragma once

#include "draw.h"
#include "predicted.h"

#include "factor/model/predictions/intervals.h"

/* Within 10 %; predicted too slow; predicted too fast; the measurement's interval contains the 10 %
 * limit; disturbed; nothing to compare, or measured too noisily (a half-width over 20 %).
 *
 * A case is disturbed, and judges nothing, when others used its cores in nearly all runs, or when a
 * reference (reference.h) explains its error: the prediction made again, with the reference's time
 * in place of the probe's, has no longer that verdict. */
enum verdict {
	VERDICT_OK,
	VERDICT_OVER,
	VERDICT_UNDER,
	VERDICT_AMBIGUOUS,
	VERDICT_DISTURBED,
	VERDICT_SKIPPED
};
extern const char *const verdict_name[];

struct comparison {
	const struct result *predicted, *measured; /* measured is NULL when there is no row */
	char family[64];                           /* "panel_getrf/blas/s" */
	bool phase;                                /* one phase, not the whole operation */
	bool drawn;                                /* the shape was drawn, and judges */
	int level;
	enum verdict verdict;
	char reason[512];    /* of SKIPPED and DISTURBED */
	double error;        /* NaN when skipped, as all below */
	bool covered;        /* measured median inside the prediction's interval */
	double half_width;   /* of the prediction's interval, relative */
	double hardware;     /* seconds of the same case by the hardware alone, where predicted */
	double of_measured;  /* hardware over measured: the rest is what kernels leave on the table
	                      */
	double peak_error;   /* of the baseline "peak rate", filled by errors_baseline_... */
	double scaled_error; /* of the nearest other measured size of the family, scaled by flops */
	double interpolated_error; /* of log-log interpolation between benched powers of two */
};

/* Whether the row judges the model: OK, OVER, UNDER or AMBIGUOUS. */
static inline bool errors_counts(const struct comparison *row)
{
	return row->verdict < VERDICT_DISTURBED;
}

/* The verdict on an undisturbed case. */
enum verdict errors_judge(double predicted, const struct estimate *measured);

static inline double errors_relative(double predicted, double measured)
{
	return predicted / measured - 1;
}

/* One comparison per prediction, with the baseline of the nearest size, in the predictions' order.
 * The caller frees *rows. */
size_t errors_compare(const struct results *predictions, const struct results *measurements,
        struct comparison **rows);

/* Finds the cases with errors that references explain. predict: makes the prediction of such a case
 * again, at a level. */
void errors_find_disturbed(struct comparison *rows, size_t count, const struct profile *profile,
        const struct results *measurements, row_predictor predict);

/* scaled_error; done by errors_compare. */
void errors_baseline_scaled(struct comparison *rows, size_t count);

/* Baseline of memory-bound cases of one executor: peak_error of reading and writing the panel once
 * (gemv: reading the matrix) at `bandwidth` bytes/s (read + written). */
void errors_baseline_peak(
        struct comparison *rows, size_t count, const char *executor, double bandwidth);

/* Baseline of all other cases of one executor and precision: peak_error of the standard operation
 * count at `rate` flop/s. */
void errors_baseline_rate(struct comparison *rows, size_t count, const char *executor,
        enum precision precision, double rate);

/* Baseline of whole factorizations of squares by the model's plan: interpolated_error between the
 * fastest of the bench at powers of two, panels in the same place. NaN beyond the bench's sizes. */
void errors_baseline_interpolated(
        struct comparison *rows, size_t count, const struct results *bench);

/* Selects cases of one level, none of them a phase; NULL means any. */
enum shapes { SHAPES_ALL, SHAPES_DRAWN, SHAPES_FIXED };
enum choice { CHOICE_ANY, CHOICE_MODEL, CHOICE_RULE };
struct errors_filter {
	const char *family, *executor, *regime, *operation;
	const char *interval; /* the kind of its interval, by name */
	int level;
	enum shapes shapes;
	enum choice choice; /* of regret alone: whether the least cost or a rule chose the plan */
};

/* The kind of the interval of a prediction at LEVEL_FULL or LEVEL_HARDWARE. */
enum interval_kind errors_interval_kind(const struct comparison *);

struct error_summary {
	size_t cases, disturbed, skipped;
	double median_abs, p90_abs, worst, bias; /* worst and bias (median) are signed */
	double within[4];                        /* fractions within 5, 10, 20, 30 % */
	double coverage, half_width;             /* fraction covered; median relative half-width */
	double of_measured;                      /* median of hardware over measured */
	double peak, scaled, interpolated;       /* median absolute errors of the baselines */
};
struct error_summary errors_summary(
        const struct comparison *rows, size_t count, const struct errors_filter *filter);

/* Pairs of variants and plans of one problem (same operation, executor, precision, shape, triangle,
 * place of the matrix) with measured times within a factor of 2; `right` of them are predicted in
 * the measured order. Of the filter the operation, executor, level and shapes count. */
struct ranking {
	size_t pairs, right;
};
struct ranking errors_ranking(
        const struct comparison *rows, size_t count, const struct errors_filter *filter);

/* regret = measured time of the chosen way / best measured time - 1. The ways of a problem are its
 * predicted variants, block widths and plans; the chosen one is the model's plan where it was
 * measured, else the way predicted fastest. Over problems with at least two measured ways. The
 * filter as above, and family: only problems where that family was chosen. */
struct regret {
	size_t shapes;
	size_t fewest, most;  /* ways measured of a problem */
	size_t missing;       /* ways predicted, but not measured, of all of them */
	double median, worst; /* NaN when shapes is 0 */
};
struct regret errors_regret(
        const struct comparison *rows, size_t count, const struct errors_filter *filter);
