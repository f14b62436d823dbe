/* SPDX-License-Identifier: MIT */
#include "whole.h"

#include "geqrf.h"
#include "getrf.h"
#include "potrf.h"

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

int64_t whole_work(
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

bool whole_run(struct executor *e, const struct whole *whole, const struct plan *plan,
        struct matrix a, void *work, struct pivots pivots, struct matrix tau,
        const struct matrix *host)
{
	e->queue = QUEUE_MAIN;
	if (!whole->from_host)
		return factorize(e, whole, plan, a, work, pivots, tau);
	bool ok = ex_to_device(e, *host, a) && factorize(e, whole, plan, a, work, pivots, tau);
	e->queue = QUEUE_MAIN;
	return ok && ex_to_host(e, a, *host);
}

void whole_plan_text(const struct whole *whole, const struct plan *plan, char *text, size_t size)
{
	bool named = whole->operation == GETRF && !plan->hybrid;

	snprintf(text, size, "leaf=%" PRId64 " inverse=%" PRId64 " lookahead=%d%s%s", plan->leaf,
	        plan->inverse, plan->lookahead, named ? " panel=" : "", named ? plan->panel : "");
}

static const char *find(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	return at ? at + strlen(key) : NULL;
}

/* The names that a plan can hold are constants of the program. */
static const char *panel_name(const char *text)
{
	static const char *const names[] = {"blas", "optimized", "fused", "persistent", "host"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(text, names[i]) == 0)
			return names[i];
	return NULL;
}

void whole_plan_parse(const char *text, struct plan *plan)
{
	const char *leaf = find(text, "leaf="), *inverse = find(text, "inverse="),
	           *lookahead = find(text, "lookahead="), *panel = find(text, "panel=");
	char name[16] = "";

	if (leaf)
		plan->leaf = atoll(leaf);
	if (inverse)
		plan->inverse = atoll(inverse);
	if (lookahead)
		plan->lookahead = atoi(lookahead);
	if (panel && sscanf(panel, "%15s", name) == 1)
		plan->panel = panel_name(name);
}
