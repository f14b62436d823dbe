/* SPDX-License-Identifier: MIT */
#include "draw.h"

#include "lib/base/msg.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- random numbers ---- */

static uint64_t mixed(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static double uniform(uint64_t *state)
{
	*state = mixed(*state);
	return (double)(*state >> 11) * 0x1p-53;
}

static int64_t log_uniform(uint64_t *state, int64_t low, int64_t high)
{
	return llround((double)low * pow((double)high / (double)low, uniform(state)));
}

static uint64_t text_hash(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = mixed(hash ^ (unsigned char)*text);
	return hash;
}

int64_t draw_new_seed(void)
{
	enum { DIGITS = 1000000000 };
	struct timespec now;
	uint64_t bits = 0;
	FILE *random = fopen("/dev/urandom", "rb");

	if (random && fread(&bits, sizeof bits, 1, random) != 1)
		bits = 0;
	if (random)
		fclose(random);
	clock_gettime(CLOCK_REALTIME, &now);
	bits ^= mixed((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
	return (int64_t)(mixed(bits) % (DIGITS - 1)) + 1;
}

size_t draw_orders(int64_t seed, int64_t low, int64_t high, int64_t *order, size_t count)
{
	uint64_t state = text_hash(mixed((uint64_t)seed), "orders");
	size_t drawn = 0;

	for (size_t i = 0; i < count && low <= high; i++) {
		const int64_t n =
		        min_int64(log_uniform(&state, low, high) | (int64_t)(i % 2), high);
		bool is_new = true;
		for (size_t k = 0; k < drawn; k++)
			is_new &= order[k] != n;
		if (is_new)
			order[drawn++] = n;
	}
	return drawn;
}

/* ---- limits ---- */

/* One run, at the highest rate of products on the GPU. Quick: plans are found sooner, too. */
static const double longest = 0.04, longest_quick = 0.001, usual_rate = 1e13, usual_memory = 8e9;
static const double memory_part = 0.08; /* a matrix has copies, some in double precision */
static const double host_flops = 2e9, host_bytes = 5e8;

enum form { SQUARE, EITHER, TALL, ANY }; /* either: half of them square, half tall */

static const struct range {
	const char *operation, *executor;
	enum form form;
	int64_t low_m, high_m, low_n, high_n, low_k, high_k; /* square: by n */
	int64_t tall;                                        /* least m / n */
	int64_t split_m, split_n; /* from here on in single precision also with split operands:
	                             all but a few shapes; 0: never */
	double flops;             /* a run, at most; 0: by the rate of products */
} ranges[] = {{"getrf", "cuda", EITHER, 300, 200000, 200, 40000, 0, 0, 2, 2048, 512, 0},
        {"geqrf", "cuda", EITHER, 300, 200000, 200, 40000, 0, 0, 2, 2048, 512, 0},
        {"potrf", "cuda", SQUARE, 0, 0, 200, 40000, 0, 0, 1, 2048, 2048, 0},
        {"panel_getrf", "cuda", TALL, 200, 100000, 16, 128, 0, 0, 2, 0, 0, 0},
        {"panel_geqrf", "cuda", TALL, 200, 100000, 16, 128, 0, 0, 3, 0, 0, 0},
        {"panel_potrf", "cuda", SQUARE, 0, 0, 16, 400, 0, 0, 1, 0, 0, 0},
        {"gemv", "cuda", ANY, 200, 60000, 200, 60000, 0, 0, 1, 0, 0, 0},
        {"gemm", "cuda", ANY, 200, 16000, 200, 16000, 24, 16000, 1, 0, 0, 0},
        {"gramschmidt", "cuda", EITHER, 300, 30000, 100, 5000, 0, 0, 2, 0, 0, 2e11},
        {"gram_dots", "cuda", ANY, 1000, 20000, 100, 12000, 0, 0, 1, 0, 0, 0},
        {"qr_whole_q", "cuda", TALL, 200, 6000, 64, 800, 0, 0, 2, 0, 0, 1e12},
        {"panel_getrf", "host", TALL, 200, 12000, 16, 128, 0, 0, 2, 0, 0, 0},
        {"gramschmidt", "host", EITHER, 200, 12000, 60, 2000, 0, 0, 2, 0, 0, 0}};

struct draw draw_of(int64_t seed, bool quick, const struct profile *profile, double memory)
{
	static const char *const rate[] = {"gpu.gemm.s.peak", "gpu.gemm.d.peak"};
	struct draw draw = {.seed = seed, .quick = quick};

	draw.bytes = memory_part * (memory > 0 ? memory : usual_memory);
	for (int p = 0; p < 2; p++) {
		const struct lookup peak = profile_get(profile, rate[p], NULL, 0);
		draw.flops[p] = (quick ? longest_quick : longest) *
		                (peak.found ? peak.estimate.value : usual_rate);
	}
	return draw;
}

static bool fits(const struct draw *draw, const struct range *r, enum precision precision,
        const struct drawn_shape *s)
{
	const bool host = strcmp(r->executor, "host") == 0;
	struct result row = result_new(r->operation, "", r->executor, precision, s->m, s->n);
	const double m = (double)s->m, n = (double)s->n, k = (double)s->k;
	const double most = r->flops > 0 ? r->flops
	                    : host       ? host_flops
	                                 : draw->flops[precision == DOUBLE];

	row.k = s->k;
	return (r->form != TALL || s->m >= r->tall * s->n) && results_flops(&row) <= most &&
	       fmax(m * n, k * (m + n)) * (double)precision_bytes(precision) <=
	               (host ? host_bytes : draw->bytes);
}

/* ---- shapes ---- */

static void draw_one(const struct range *r, size_t i, uint64_t *state, struct drawn_shape *s)
{
	const bool square = r->form == SQUARE || (r->form == EITHER && i % 2 == 0);
	const int64_t odd = (int64_t)(i / 2 % 2);

	s->n = log_uniform(state, r->low_n, r->high_n) | odd;
	if (square)
		s->m = s->n;
	else
		s->m = log_uniform(state, max_int64(r->low_m, r->tall * s->n * (r->form != ANY)),
		               max_int64(r->high_m, r->tall * s->n)) |
		       odd;
	s->k = r->low_k ? log_uniform(state, r->low_k, r->high_k) | odd : 0;
}

static bool is_new(const struct drawn_shape *list, size_t count, const struct drawn_shape *s)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].m == s->m && list[i].n == s->n && list[i].k == s->k)
			return false;
	return true;
}

size_t draw_shapes(const struct draw *draw, const char *operation, const char *executor,
        enum precision precision, struct drawn_shape shape[DRAW_SHAPES])
{
	enum { QUICK = 3, SMALL = DRAW_SHAPES - DRAW_LEAST, TRIES = 100000 };
	const char key[] = {(char)precision, 0};
	uint64_t state = text_hash(mixed((uint64_t)draw->seed), operation);
	const struct range *r = ranges;

	while (r < ranges + ARRAY_LEN(ranges) &&
	        (strcmp(r->operation, operation) != 0 || strcmp(r->executor, executor) != 0))
		r++;
	if (r == ranges + ARRAY_LEN(ranges))
		return 0;
	state = text_hash(text_hash(state, executor), key);
	const bool split = r->split_n > 0 && precision == SINGLE && !draw->quick;
	const size_t count = draw->quick ? QUICK : split ? DRAW_SHAPES : DRAW_LEAST;
	size_t drawn = 0;
	for (int tries = 0; drawn < count && tries < TRIES; tries++) {
		struct drawn_shape *s = &shape[drawn];
		draw_one(r, drawn, &state, s);
		const bool large = s->m >= r->split_m && s->n >= r->split_n;
		drawn += fits(draw, r, precision, s) && is_new(shape, drawn, s) &&
		         (!split || large == (drawn >= SMALL) || tries > TRIES / 2);
	}
	return drawn;
}

/* Of one shape: the same wherever it is asked. */
static uint64_t shape_hash(int64_t seed, int64_t m, int64_t n, int64_t which)
{
	return mixed(
	        mixed(mixed(mixed((uint64_t)seed) + (uint64_t)m) + (uint64_t)n) + (uint64_t)which);
}

int64_t draw_index(const struct draw *draw, int64_t m, int64_t n, int64_t which, int64_t most)
{
	return (int64_t)(shape_hash(draw->seed, m, n, which) % (uint64_t)most);
}

int64_t draw_width(const struct draw *draw, int64_t m, int64_t n)
{
	enum { NARROWEST = 32, WIDEST = 512 };
	uint64_t state = shape_hash(draw->seed, m, n, -1);

	return log_uniform(&state, NARROWEST, min_int64(WIDEST, max_int64(n / 2, NARROWEST))) | 1;
}

/* ---- rows ---- */

int64_t draw_lda(const struct draw *draw, int64_t m, int64_t n)
{
	enum { LINE = 32, FAR = 16, KINDS = 4 };
	const int64_t more = draw_index(draw, m, n, -3, LINE - 1) + 1;

	switch (draw_index(draw, m, n, -2, KINDS)) {
	case 0:
		return m;
	case 1:
		return (m + LINE - 1) / LINE * LINE + LINE;
	case 2:
		return m + more;
	default:
		return m + m / FAR + more;
	}
}

static void add_number(struct result *row, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRId64, value);
	results_option_add(row->options, key, text);
}

static const char gram_kernel[] = "gram_";

static int64_t number_of(const struct result *row, const char *key, int64_t without)
{
	char text[24];

	return results_option(row->options, key, text, sizeof text) ? atoll(text) : without;
}

int64_t result_seed(const struct result *row)
{
	return number_of(row, "seed", NOT_DRAWN);
}

void draw_mark_row(const struct draw *draw, struct result *row)
{
	if (result_seed(row) != NOT_DRAWN)
		return;
	if (strncmp(row->operation, gram_kernel, strlen(gram_kernel)) != 0)
		add_number(row, "lda", draw_lda(draw, row->m, row->n));
	add_number(row, "seed", draw->seed);
}

void draw_mark(const struct draw *draw, struct results *results, size_t first)
{
	for (size_t i = first; i < results->count; i++)
		draw_mark_row(draw, &results->row[i]);
}

int64_t result_lda(const struct result *row)
{
	return number_of(row, "lda", 0);
}
