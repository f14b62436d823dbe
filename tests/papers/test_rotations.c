/* SPDX-License-Identifier: MIT */
/* Wavefronts of Givens rotations on the host executor and on the GPU: they make the zeros they have
 * to, they rotate other columns alike, nothing is written beside the matrices; zeros, large and
 * tiny numbers, NaN. */
#include "tests/algorithms/factor_test.h"

#include <inttypes.h>

struct shape {
	int64_t m, pairs, row, padding;
};

static const struct shape shapes[] = {{1, 1, 0, 0}, {2, 1, 1, 1}, {3, 2, 1, 0}, {31, 7, 4, 2},
        {513, 33, 100, 3}, {1025, 64, 961, 31}, {5000, 3, 2500, 1}};

enum content { ORDINARY, ZERO_RIGHT, ZERO_BOTH, LARGE, TINY, WITH_NAN, CONTENTS };
static const char *const content_name[CONTENTS] = {
        "ordinary", "zero right", "zero both", "large", "tiny", "NaN"};

struct outcome {
	double *x, *y, *g; /* after: the columns with the zeros, other columns, the rotations */
	bool ran, intact;
};

static double element(const struct shape *s, enum content content, enum precision p, int64_t at)
{
	int64_t i = at % s->m, pair = at / s->m / 2;
	bool right = at / s->m % 2, chosen = i == s->row + pair;
	double value = test_random(11, at), largest = p == SINGLE ? FLT_MAX : DBL_MAX;

	if (content == ZERO_BOTH || (content == ZERO_RIGHT && right))
		return chosen ? 0 : value;
	if (content == LARGE)
		return value * largest / 4;
	if (content == TINY)
		return value * (p == SINGLE ? FLT_MIN : DBL_MIN) * 4;
	return content == WITH_NAN && chosen && pair == s->pairs / 2 && right ? NAN : value;
}

static void *contents(const struct shape *s, enum content content, enum precision p, int64_t ld)
{
	void *x = xcalloc((size_t)(ld * 2 * s->pairs), (size_t)precision_bytes(p));

	for (int64_t at = 0; at < s->m * 2 * s->pairs; at++)
		put(x, at % s->m + at / s->m * ld, p, element(s, content, p, at));
	return x;
}

static double *take(struct executor *e, struct matrix a, bool *ran)
{
	void *host = xcalloc((size_t)(a.m * a.n), (size_t)precision_bytes(a.precision));

	*ran = *ran && e->ops->download(e, a, host, a.m);
	double *out = to_doubles(host, a.m, a.m, a.n, a.precision);
	free(host);
	return out;
}

static struct outcome run(
        struct executor *e, const struct shape *s, enum content content, enum precision p)
{
	int64_t ld = s->m + s->padding, bytes = precision_bytes(p);
	struct test_memory memory[3];
	void *x0 = contents(s, content, p, ld), *y0 = contents(s, ORDINARY, p, ld);
	struct outcome out = {.ran = true};

	out.ran = test_open(e, &memory[0], ld * 2 * s->pairs * bytes, 0xff) &&
	          test_open(e, &memory[1], ld * 2 * s->pairs * bytes, 0xff) &&
	          test_open(e, &memory[2], 3 * s->pairs * bytes, 0xff);
	struct matrix x = {memory[0].data, 0, s->m, 2 * s->pairs, ld, p}, y = x;
	struct matrix g = {memory[2].data, 0, 2, s->pairs, 3, p};
	y.data = memory[1].data;
	out.ran = out.ran && e->ops->upload(e, x0, ld, x) && e->ops->upload(e, y0, ld, y) &&
	          ex_make_rotations(e, s->row, x, g) && ex_rotate(e, g, y) && e->ops->sync(e);
	out.x = take(e, x, &out.ran);
	out.y = take(e, y, &out.ran);
	out.g = take(e, g, &out.ran);
	out.intact = true;
	for (size_t i = 0; i < ARRAY_LEN(memory); i++)
		out.intact = test_close(e, &memory[i]) && out.intact;
	free(x0);
	free(y0);
	return out;
}

static void outcome_free(struct outcome *out)
{
	free(out->x);
	free(out->y);
	free(out->g);
}

/* The largest error of x and y against the pairs before, rotated in double precision by g; in eps
 * of the largest element. */
static double error_of(
        const struct shape *s, const struct outcome *out, enum content content, enum precision p)
{
	double worst = 0, scale = 0;

	for (int64_t at = 0; at < s->m * s->pairs; at++) {
		int64_t pair = at / s->m, i = at % s->m + 2 * pair * s->m, k = i + s->m;
		const double *g = out->g + 2 * pair;
		enum content kinds[2] = {content, ORDINARY};
		const double *after[2] = {out->x, out->y};
		for (int which = 0; which < 2; which++) {
			double size = which || content < LARGE ? 1
			              : content == LARGE ? (p == SINGLE ? FLT_MAX : DBL_MAX) / 4
			                                 : (p == SINGLE ? FLT_MIN : DBL_MIN) * 4;
			double a = element(s, kinds[which], p, i) / size;
			double b = element(s, kinds[which], p, k) / size;
			scale = fmax(scale, fmax(fabs(a), fabs(b)));
			worst = worse(worst, fabs(after[which][i] / size - (g[0] * a + g[1] * b)));
			worst = worse(worst, fabs(after[which][k] / size - (g[0] * b - g[1] * a)));
		}
		worst = worse(worst, fabs(g[0] * g[0] + g[1] * g[1] - 1));
	}
	return worst / unit_roundoff(p) / (scale > 0 ? scale : 1);
}

static bool zeros_made(const struct shape *s, const struct outcome *out)
{
	for (int64_t pair = 0; pair < s->pairs; pair++)
		if (out->x[s->row + pair + (2 * pair + 1) * s->m] != 0)
			return false;
	return true;
}

static void check(struct executor *e, const struct shape *s, enum content content, enum precision p)
{
	struct outcome out = run(e, s, content, p);
	double most = content == TINY ? 40 : 12; /* subnormal numbers have fewer digits */
	double error = error_of(s, &out, content, p);
	int64_t pair = s->pairs / 2;
	bool nan = isnan(out.g[2 * pair]) && isnan(out.y[2 * pair * s->m]) &&
	           isnan(out.x[s->row + pair + 2 * pair * s->m]);

	ok(out.ran && out.intact && zeros_made(s, &out) &&
	                (content == WITH_NAN ? nan : error <= most),
	        "%c, %s: %" PRId64 " pairs of %" PRId64 " rows from row %" PRId64 ": %.2g eps", p,
	        content_name[content], s->pairs, s->m, s->row, error);
	outcome_free(&out);
}

static void test(struct executor *e)
{
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		for (int content = 0; content < CONTENTS; content++) {
			check(e, &shapes[i], (enum content)content, SINGLE);
			check(e, &shapes[i], (enum content)content, DOUBLE);
		}
	struct outcome first = run(e, &shapes[4], ORDINARY, SINGLE);
	struct outcome again = run(e, &shapes[4], ORDINARY, SINGLE);
	size_t bytes = (size_t)(shapes[4].m * 2 * shapes[4].pairs) * sizeof *first.x;
	ok(memcmp(first.x, again.x, bytes) == 0 && memcmp(first.y, again.y, bytes) == 0,
	        "the same bits when run again");
	outcome_free(&first);
	outcome_free(&again);
}

int main(void)
{
	return test_on_executors(test);
}
