/* SPDX-License-Identifier: MIT */
#include "whole.h"

#include "factor/algorithms/geqrf.h"
#include "factor/algorithms/getrf.h"
#include "factor/algorithms/potrf.h"
#include "factor/algorithms/host_transfer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const operation_name[OPERATION_COUNT] = {"getrf", "geqrf", "potrf"};

bool operation_find(const char *name, enum operation *operation)
{
	for (int o = 0; o < OPERATION_COUNT; o++) {
		*operation = (enum operation)o;
		if (strcmp(name, operation_name[o]) == 0)
			return true;
	}
	return false;
}

static int64_t work_of(
        struct executor *e, const struct whole *whole, const struct plan *plan, struct matrix a)
{
	switch (whole->operation) {
	case GETRF:
		return getrf_work(e, plan, a);
	case GEQRF:
		return geqrf_work(e, plan, a);
	default:
		return potrf_work(e, plan, whole->uplo, a);
	}
}

/* Settings of the executor that a factorization changes. */
struct settings {
	enum math math;
	int64_t row_major;
};

static struct settings set_up(struct executor *e, const struct whole *whole)
{
	struct settings before = {e->math, e->row_major};

	e->math = whole->math;
	if (whole->column_major)
		e->row_major = 0;
	return before;
}

static void restore(struct executor *e, struct settings before)
{
	e->math = before.math;
	e->row_major = before.row_major;
}

int64_t whole_work(
        struct executor *e, const struct whole *whole, const struct plan *plan, struct matrix a)
{
	struct settings before = set_up(e, whole);
	int64_t bytes = work_of(e, whole, plan, a);

	restore(e, before);
	return bytes;
}

static bool factorize(struct executor *e, const struct whole *whole, const struct plan *plan,
        struct matrix a, void *work, struct pivots pivots, struct matrix tau)
{
	switch (whole->operation) {
	case GETRF:
		return getrf(e, plan, a, work, pivots);
	case GEQRF:
		return geqrf(e, plan, a, tau, work);
	default:
		return potrf(e, plan, whole->uplo, a, work, integer_at(pivots.data, pivots.n));
	}
}

static bool run(struct executor *e, const struct whole *whole, const struct plan *plan,
        struct matrix a, void *work, struct pivots pivots, struct matrix tau,
        const struct matrix *host)
{
	e->queue = QUEUE_MAIN;
	if (!whole->from_host)
		return factorize(e, whole, plan, a, work, pivots, tau);
	/* only the triangle of a symmetric matrix */
	enum uplo part = whole->operation == POTRF ? whole->uplo : WHOLE;
	bool ok = factor_from_host(e, plan, part, whole->piece, *host, a) &&
	          factorize(e, whole, plan, a, work, pivots, tau);
	return factor_to_host(e, plan, part, whole->piece, a, *host) && ok;
}

bool whole_run(struct executor *e, const struct whole *whole, const struct plan *plan,
        struct matrix a, void *work, struct pivots pivots, struct matrix tau,
        const struct matrix *host)
{
	struct settings before = set_up(e, whole);
	bool ok = run(e, whole, plan, a, work, pivots, tau, host);

	restore(e, before);
	return ok;
}

/* ---- plans as text ---- */

static bool add_widths(const struct plan *plan, char *text, size_t size)
{
	size_t used = strlen(text), start = used;

	for (int64_t i = 0, next; i < plan->count && used < size; i = next) {
		for (next = i; next < plan->count && plan->widths[next] == plan->widths[i];)
			next++;
		used += (size_t)snprintf(text + used, size - used, "%s%" PRId64,
		        i ? "," : " widths=", plan->widths[i]);
		if (next - i > 1 && used < size)
			used += (size_t)snprintf(text + used, size - used, "x%" PRId64, next - i);
	}
	if (used >= size)
		text[start] = 0;
	return used < size;
}

bool whole_panels_on_host(const char *variant)
{
	return strcmp(variant, "hybrid") == 0 || strcmp(variant, "lawn") == 0;
}

/* The parts that only LAWN 202's plans have. */
static void add_lawn(const struct plan *plan, char *text, size_t size)
{
	const size_t used = strlen(text);
	char coarse[32] = "";

	if (plan->coarse)
		snprintf(coarse, sizeof coarse, " coarse=%" PRId64, plan->coarse);
	snprintf(text + used, size - used, "%s%s%s%s%s", coarse,
	        plan->row_major ? " layout=rows" : "", plan->single_swaps ? " swaps=single" : "",
	        plan->copies_wait ? " copies=wait" : "", plan->in_place ? " panels=place" : "");
}

static void add_stop(const struct plan *plan, char *text, size_t size)
{
	const size_t used = strlen(text);

	if (plan->stop)
		snprintf(text + used, size - used, " stop=%" PRId64, plan->stop);
}

bool whole_plan_text(const struct whole *whole, const struct plan *plan, char text[WHOLE_PLAN_TEXT])
{
	bool named = !plan->hybrid && (whole->operation == GETRF ||
	                                      (whole->operation == GEQRF && plan_by_gram(plan))),
	     equal = true;

	snprintf(text, WHOLE_PLAN_TEXT, "leaf=%" PRId64 " inverse=%" PRId64 " lookahead=%d%s%s",
	        plan->leaf, plan->inverse, plan->lookahead, named ? " panel=" : "",
	        named ? plan->panel : "");
	add_lawn(plan, text, WHOLE_PLAN_TEXT);
	add_stop(plan, text, WHOLE_PLAN_TEXT);
	for (int64_t i = 1; i < plan->count; i++)
		equal = equal && plan->widths[i] == plan->widths[0];
	return equal || add_widths(plan, text, WHOLE_PLAN_TEXT);
}

static const char *find(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	return at ? at + strlen(key) : NULL;
}

/* A plan holds names that are constants of the program. */
static const char *panel_name(const char *text)
{
	static const char *const names[] = {
	        "blas", "optimized", "fused", "persistent", "host", PLAN_GRAM};
	size_t length = strcspn(text, " ");

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strlen(names[i]) == length && strncmp(text, names[i], length) == 0)
			return names[i];
	return NULL;
}

static int64_t number(const char *text, const char *key)
{
	const char *at = find(text, key);
	return at ? strtoll(at, NULL, 10) : 0;
}

static void parse_widths(const char *text, struct whole_plan *out)
{
	char *at = (char *)(uintptr_t)text;

	while (at && out->plan.count < WHOLE_WIDTHS) {
		int64_t width = strtoll(at, &at, 10), times = 1;
		if (*at == 'x')
			times = strtoll(at + 1, &at, 10);
		for (; times > 0 && out->plan.count < WHOLE_WIDTHS; times--)
			out->widths[out->plan.count++] = width;
		at = *at == ',' ? at + 1 : NULL;
	}
}

void whole_plan_parse(const char *text, bool hybrid, int64_t nb, struct whole_plan *out)
{
	const char *panel = find(text, "panel=");

	out->plan = (struct plan){.hybrid = hybrid,
	        .panel = panel ? panel_name(panel) : NULL,
	        .widths = out->widths,
	        .leaf = number(text, "leaf="),
	        .inverse = number(text, "inverse="),
	        .lookahead = (int)number(text, "lookahead="),
	        .coarse = number(text, "coarse="),
	        .row_major = find(text, "layout=rows"),
	        .single_swaps = find(text, "swaps=single"),
	        .copies_wait = find(text, "copies=wait"),
	        .in_place = find(text, "panels=place"),
	        .stop = number(text, "stop=")};
	parse_widths(find(text, "widths="), out);
	if (out->plan.count == 0)
		out->widths[out->plan.count++] = nb;
}
