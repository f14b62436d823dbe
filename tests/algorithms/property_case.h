/* SPDX-License-Identifier: MIT */
/* One random case of test_properties: a list of numbers that is drawn, printed, read and made
 * smaller by the same table of fields. */
#pragma once

#include "factor_test.h"
#include "spd_matrices.h"

#include "factor/algorithms/geqrf.h"
#include "factor/algorithms/plan_default.h"

#include <inttypes.h>

/* L of multiples of 1/8 below 1 and U of whole numbers with powers of two on the diagonal, rows
 * in random order: LU takes no rounding step and meets no tie. */
enum { KIND_EXACT = TEST_SUBNORMAL + 1, KINDS_GENERAL };

/* FIELD(name, least): least is what a field that is not printed has. */
#define PROPERTY_FIELDS(FIELD)                                                                     \
	FIELD(operation, GETRF)                                                                    \
	FIELD(single, 0)                                                                           \
	FIELD(m, 0)                                                                                \
	FIELD(n, 0)                                                                                \
	FIELD(above, 0)  /* rows of the array above the matrix */                                  \
	FIELD(below, 0)  /* and below it */                                                        \
	FIELD(before, 0) /* columns of the array left of it */                                     \
	FIELD(kind, 0)                                                                             \
	FIELD(numbers, 1) /* seed of random elements */                                            \
	FIELD(upper, 0)                                                                            \
	FIELD(transposed, 0)                                                                       \
	FIELD(right, 0)                                                                            \
	FIELD(solve, 0) /* of QR: ormqr, orgqr, gels */                                            \
	FIELD(rhs, 1)                                                                              \
	FIELD(chosen, 0) /* the default plan instead of the next fields */                         \
	FIELD(hybrid, 0)                                                                           \
	FIELD(panel, 0) /* in panel_getrf_variants */                                              \
	FIELD(width, 1)                                                                            \
	FIELD(later, 1) /* width of the blocks behind the first */                                 \
	FIELD(leaf, 1)                                                                             \
	FIELD(inverse, 0)                                                                          \
	FIELD(lookahead, 0)                                                                        \
	FIELD(row_major, 0)    /* LU on the transpose, 2: but for the last columns */              \
	FIELD(deferred, 0)     /* row swaps */                                                     \
	FIELD(aligned_copy, 0) /* matrices that are not aligned are copied */                      \
	FIELD(exponent, 0)     /* of the scale */                                                  \
	FIELD(negative, 0)     /* the scale */

struct property_case {
#define FIELD(name, least) int64_t name;
	PROPERTY_FIELDS(FIELD)
#undef FIELD
};

static const struct property_field {
	const char *name;
	size_t at;
	int64_t least;
} property_fields[] = {
#define FIELD(name, least) {#name, offsetof(struct property_case, name), least},
        PROPERTY_FIELDS(FIELD)
#undef FIELD
};

static inline int64_t *property_value(struct property_case *c, const struct property_field *field)
{
	return (int64_t *)((char *)c + field->at);
}

/* ---- text: "m=3 n=2": only what is not least */

enum { PROPERTY_TEXT = 500 };

static inline void property_text(struct property_case c, char text[PROPERTY_TEXT])
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(property_fields); i++) {
		const struct property_field *field = &property_fields[i];
		const int64_t value = *property_value(&c, field);
		if (value != field->least && used < PROPERTY_TEXT)
			used += (size_t)snprintf(text + used, PROPERTY_TEXT - used, "%s%s=%" PRId64,
			        used ? " " : "", field->name, value);
	}
}

/* False when the text has an unknown field. */
static inline bool property_read(const char *text, struct property_case *c)
{
	for (size_t i = 0; i < ARRAY_LEN(property_fields); i++)
		*property_value(c, &property_fields[i]) = property_fields[i].least;
	for (int length; *text; text += length + (text[length] == ' ')) {
		char name[40];
		int64_t value;
		size_t i = 0;
		if (sscanf(text, "%39[a-z_]=%" SCNd64 "%n", name, &value, &length) != 2)
			return false;
		while (i < ARRAY_LEN(property_fields) && strcmp(property_fields[i].name, name) != 0)
			i++;
		if (i == ARRAY_LEN(property_fields))
			return false;
		*property_value(c, &property_fields[i]) = value;
	}
	return true;
}

/* ---- drawing */

static inline int64_t property_below(uint64_t *state, int64_t below)
{
	return (int64_t)((test_random(++*state, 0) + 1) / 2 * (double)below);
}

static inline int64_t property_size(uint64_t *state)
{
	static const int64_t most[] = {4, 41, 41, 41, 41, 41, 101, 101, 101, 261};

	return property_below(state, most[property_below(state, ARRAY_LEN(most))]);
}

#define PROPERTY_ONE_OF(state, table) ((table)[property_below(state, ARRAY_LEN(table))])

static inline void property_draw_plan(uint64_t *state, struct property_case *c)
{
	static const int64_t widths[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 24, 32, 33, 48, 64, 128},
	                     leaves[] = {1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 31, 32, 64, 128};

	c->chosen = property_below(state, 8) == 0;
	c->hybrid = property_below(state, 3) == 0;
	c->panel = property_below(state, 5);
	c->width = PROPERTY_ONE_OF(state, widths);
	c->later = PROPERTY_ONE_OF(state, widths);
	c->leaf = PROPERTY_ONE_OF(state, leaves);
	c->inverse = property_below(state, 2) ? 1 + property_below(state, PLAN_INVERSE_MAX) : 0;
	c->lookahead = property_below(state, PLAN_LOOKAHEAD_MAX + 1);
	c->row_major = property_below(state, 3);
	c->deferred = property_below(state, 2);
	c->aligned_copy = property_below(state, 2);
}

static inline struct property_case property_draw(uint64_t seed, int64_t index)
{
	uint64_t state = seed * 0x9e3779b97f4a7c15 + (uint64_t)index * 1000;
	struct property_case c = {.operation = property_below(&state, OPERATION_COUNT)};

	c.single = property_below(&state, 2);
	c.m = property_size(&state);
	c.n = c.operation == POTRF || property_below(&state, 3) == 0 ? c.m : property_size(&state);
	c.above = property_below(&state, 5);
	c.below = property_below(&state, 9);
	c.before = property_below(&state, 3);
	c.kind = property_below(&state, c.operation == POTRF ? SPD_KINDS : KINDS_GENERAL);
	if (c.operation != POTRF && property_below(&state, 2))
		c.kind = c.operation == GETRF ? KIND_EXACT : TEST_CONDITION_2;
	c.numbers = 1 + property_below(&state, 1000000);
	c.upper = property_below(&state, 2);
	c.transposed = property_below(&state, 2);
	c.right = property_below(&state, 2);
	c.solve = property_below(&state, 3);
	c.rhs = 1 + property_below(&state, 9);
	property_draw_plan(&state, &c);
	c.exponent = property_below(&state, 17) - 8;
	c.negative = property_below(&state, 2);
	return c;
}

/* ---- the smallest case that fails */

/* Makes fields least, halves them and takes one from them, as long as the case has this fault. */
static inline void property_shrink(const char *(*fault)(const struct property_case *, void *),
        void *with, const char *same, struct property_case *c)
{
	bool smaller = true;

	while (smaller) {
		smaller = false;
		for (size_t i = 0; i < 3 * ARRAY_LEN(property_fields); i++) {
			const struct property_field *field = &property_fields[i / 3];
			struct property_case next = *c;
			int64_t *value = property_value(&next, field);
			const int64_t before = *value;
			*value = i % 3 == 0   ? field->least
			         : i % 3 == 1 ? field->least + (before - field->least) / 2
			                      : before - (before > field->least);
			if (next.operation == POTRF)
				next.m = next.n = min_int64(next.m, next.n);
			const char *found = *value == before ? NULL : fault(&next, with);
			if (found && strcmp(found, same) == 0) {
				*c = next;
				smaller = true;
			}
		}
	}
}
