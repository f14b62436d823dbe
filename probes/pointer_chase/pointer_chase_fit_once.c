/* SPDX-License-Identifier: MIT */
/* Near and far hits in L2, from loads of lines that the SM has not read before. After an SM of the
 * same partition read them, all are near hits. After an SM of the other partition, the lines with
 * their home there are far hits. Both ways read the same lines, which cancels each line's own
 * distance. */
#include "pointer_chase_fit_internal.h"

#include "lib/stats/bimodality.h"

#include <stdlib.h>
#include <string.h>

enum { OTHER, SAME, ABSENT, KINDS };

/* A reader's load of a line in one process, by the kind of reader before; seconds, NaN where it was
 * not measured. */
struct first_read {
	double sm, line, seconds[KINDS];
	int process;
	bool kept, far; /* still in L2 after the other partition's reads; a far hit */
};

static int by_line(const void *a, const void *b)
{
	const struct first_read *x = a, *y = b;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->sm != y->sm)
		return x->sm < y->sm ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static int kind_of(const char *series)
{
	static const char *const names[KINDS] = {"once_other", "once_same", "once_absent"};
	int kind = 0;
	while (kind < KINDS && strcmp(series, names[kind]) != 0)
		++kind;
	return kind;
}

/* One entry for each line; the caller frees *reads. */
static size_t read_lines(const struct table *curve, struct first_read **reads)
{
	struct first_read *read = xmalloc((curve->row_count + 1) * sizeof *read);
	size_t rows = 0, lines = 0;
	for (size_t row = 0; row < curve->row_count; ++row) {
		const int kind = kind_of(table_text(curve, row, "series"));
		const double process = table_real(curve, row, "process");
		if (kind == KINDS || !(process >= 0 && process < PROCESSES_MAX))
			continue;
		read[rows] = (struct first_read){.sm = table_real(curve, row, "sm"),
		        .line = table_real(curve, row, "line"),
		        .seconds = {NAN, NAN, NAN},
		        .process = (int)process};
		read[rows++].seconds[kind] = table_real(curve, row, "seconds");
	}
	qsort(read, rows, sizeof *read, by_line);
	for (size_t i = 0; i < rows; ++i) {
		if (lines == 0 || by_line(&read[lines - 1], &read[i]) != 0)
			read[lines++] = read[i];
		for (int kind = 0; kind < KINDS; ++kind)
			if (!isnan(read[i].seconds[kind]))
				read[lines - 1].seconds[kind] = read[i].seconds[kind];
	}
	*reads = read;
	return lines;
}

enum which { ALL, KEPT, NEAR, FAR };

static bool is_one(const struct first_read *read, enum which which)
{
	return which == ALL ||
	       (which == FAR ? read->far : read->kept && (which == KEPT || !read->far));
}

/* The mean of the middle half of n loads. Near and distant slices make two groups, between which a
 * median jumps. */
static struct estimate middle_of(double *seconds, size_t n)
{
	const double low = stats_quantile(seconds, n, 0.25),
	             high = stats_quantile(seconds, n, 0.75);
	size_t kept = 0;
	for (size_t i = 0; i < n; ++i)
		if (n < 4 || (seconds[i] >= low && seconds[i] <= high))
			seconds[kept++] = seconds[i];
	const double mean = stats_mean(seconds, kept),
	             half = kept > 1 ? stats_student(kept - 1) * stats_deviation(seconds, kept) /
	                                       sqrt((double)kept)
	                             : 0;
	return estimate_around(mean, half, n);
}

/* The median over the processes. */
static struct estimate typical(
        const struct first_read *read, size_t lines, int kind, enum which which)
{
	struct estimate each[PROCESSES_MAX];
	double *seconds = xmalloc((lines + 1) * sizeof *seconds);
	size_t processes = 0;
	for (int process = 0; process < PROCESSES_MAX; ++process) {
		size_t n = 0;
		for (size_t i = 0; i < lines; ++i)
			if (read[i].process == process && !isnan(read[i].seconds[kind]) &&
			        is_one(&read[i], which))
				seconds[n++] = read[i].seconds[kind];
		if (n > 0)
			each[processes++] = middle_of(seconds, n);
	}
	free(seconds);
	return processes > 0 ? stats_combine(each, processes) : estimate_none;
}

/* The 5 % quantile of the loads from memory. */
static double memory_from(const struct first_read *read, size_t lines)
{
	double *seconds = xmalloc((lines + 1) * sizeof *seconds);
	size_t n = 0;
	for (size_t i = 0; i < lines; ++i)
		if (!isnan(read[i].seconds[ABSENT]))
			seconds[n++] = read[i].seconds[ABSENT];
	const double least = n > 0 ? stats_quantile(seconds, n, 0.05) : NAN;
	free(seconds);
	return least;
}

/* A line that took as long as memory had left L2, or may have. Returns the number of lines kept. */
static size_t mark_kept(struct first_read *read, size_t lines)
{
	const double memory = memory_from(read, lines);
	size_t kept = 0;
	for (size_t i = 0; i < lines; ++i) {
		read[i].kept = read[i].seconds[OTHER] < memory && !isnan(read[i].seconds[SAME]);
		kept += read[i].kept;
	}
	return kept;
}

/* Marks the far lines among the kept ones; false when they do not stand apart. */
static bool mark_far(struct first_read *read, size_t lines)
{
	double *extra = xmalloc((lines + 1) * sizeof *extra);
	int *above = xmalloc((lines + 1) * sizeof *above);
	size_t *from = xmalloc((lines + 1) * sizeof *from), n = 0;
	for (size_t i = 0; i < lines; ++i)
		if (read[i].kept) {
			extra[n] = read[i].seconds[OTHER] - read[i].seconds[SAME];
			from[n++] = i;
		}
	const bool apart = n > 0 && bimodality_count(bimodality_find(extra, n, above)) == 2;
	for (size_t i = 0; apart && i < n; ++i)
		read[from[i]].far = above[i] == 1;
	free(from);
	free(above);
	free(extra);
	return apart;
}

void chase_fit_once(const struct output *out)
{
	struct first_read *read;
	const size_t lines = read_lines(out->curve, &read);
	const struct estimate unresolved = {NAN, NAN, NAN, lines};
	const struct estimate near = typical(read, lines, SAME, ALL);
	const bool most = 2 * mark_kept(read, lines) > lines, far = mark_far(read, lines);
	const struct {
		const char *name, *method;
		double bound;
		struct estimate value;
	} rows[] = {{"gpu.l2.near_hit.latency",
	                    "first loads of lines that an SM of the same partition read", quickest,
	                    near},
	        {"gpu.l2.other_hit.latency",
	                "first loads of lines that an SM of the other partition read", quickest,
	                most ? typical(read, lines, OTHER, KEPT) : unresolved},
	        {"gpu.l2.far_hit.latency",
	                "first loads of lines that an SM of the other partition read, the later of "
	                "two modes",
	                isfinite(near.low) ? near.low : quickest,
	                far ? typical(read, lines, OTHER, FAR) : unresolved},
	        {"gpu.dram.near.latency",
	                "first loads from memory of lines that are near after the other "
	                "partition's reads",
	                quickest, far ? typical(read, lines, ABSENT, NEAR) : unresolved},
	        {"gpu.dram.far.latency", "and of those that are far", quickest,
	                far ? typical(read, lines, ABSENT, FAR) : unresolved}};
	for (size_t i = 0; lines > 0 && i < ARRAY_LEN(rows); ++i)
		if (i != 1 || !far) /* else some lines are near and some far */
			chase_add(out, NULL,
			        chase_time(rows[i].name, rows[i].method, rows[i].bound), NULL,
			        rows[i].value);
	free(read);
}
