/* SPDX-License-Identifier: MIT */
/* Held-out shapes drawn by a seed, and the log of seeds. */
#include "tests/tap.h"

#include "factor/validation/draw.h"
#include "factor/validation/seeds.h"
#include "lib/base/msg.h"

static const struct {
	const char *operation, *executor;
} families[] = {{"getrf", "cuda"}, {"geqrf", "cuda"}, {"potrf", "cuda"}, {"panel_getrf", "cuda"},
        {"panel_geqrf", "cuda"}, {"panel_potrf", "cuda"}, {"gemv", "cuda"}, {"gemm", "cuda"},
        {"gramschmidt", "cuda"}, {"gram_dots", "cuda"}, {"panel_getrf", "host"},
        {"gramschmidt", "host"}};

static struct draw draw_by(const struct profile *profile, int64_t seed)
{
	return draw_of(seed, false, profile, 1.4e11);
}

/* How many shapes of two draws of a family differ. */
static size_t differing(const struct draw *a, const struct draw *b, size_t family)
{
	struct drawn_shape x[DRAW_SHAPES], y[DRAW_SHAPES];
	const char *operation = families[family].operation, *executor = families[family].executor;
	const size_t n = draw_shapes(a, operation, executor, SINGLE, x);
	size_t count = n - draw_shapes(b, operation, executor, SINGLE, y);

	for (size_t i = 0; i < n; i++)
		count += x[i].m != y[i].m || x[i].n != y[i].n || x[i].k != y[i].k;
	return count;
}

static void test_seeds(const struct profile *profile)
{
	const struct draw seven = draw_by(profile, 7), again = draw_by(profile, 7),
	                  eight = draw_by(profile, 8);
	size_t repeated = 0, other = 0;

	for (size_t f = 0; f < ARRAY_LEN(families); f++) {
		repeated += differing(&seven, &again, f);
		other += differing(&seven, &eight, f) > DRAW_LEAST / 2;
	}
	ok(repeated == 0, "one seed gives the same shapes");
	ok(other == ARRAY_LEN(families), "another seed gives others, in every family");
	ok(draw_new_seed() != draw_new_seed(), "a new seed is new");
}

/* What occurs among all shapes of one seed. */
struct seen {
	size_t fewest, odd, square, tall, split, powers, alike;
	size_t tight, above; /* lda == m, lda > m and no multiple of 32 */
};

static void look(
        const struct draw *draw, size_t family, enum precision precision, struct seen *seen)
{
	struct drawn_shape s[DRAW_SHAPES];
	const size_t n = draw_shapes(
	        draw, families[family].operation, families[family].executor, precision, s);

	seen->fewest = n < seen->fewest ? n : seen->fewest;
	for (size_t i = 0; i < n; i++) {
		const int64_t lda = draw_lda(draw, s[i].m, s[i].n);
		seen->odd += s[i].m % 2 && s[i].n % 2;
		seen->square += s[i].m == s[i].n;
		seen->tall += s[i].m >= 2 * s[i].n;
		seen->split += s[i].m >= 2048 && s[i].n >= 512;
		seen->powers += (s[i].n & (s[i].n - 1)) == 0;
		seen->tight += lda == s[i].m;
		seen->above += lda > s[i].m && lda % 32;
		for (size_t j = 0; j < i; j++)
			seen->alike += s[i].m == s[j].m && s[i].n == s[j].n && s[i].k == s[j].k;
	}
}

static void test_kinds(const struct profile *profile)
{
	const struct draw draw = draw_by(profile, 7), quick = draw_of(7, true, profile, 1.4e11);
	struct seen all = {.fewest = DRAW_SHAPES}, few = all, lu = all;

	for (size_t f = 0; f < ARRAY_LEN(families); f++)
		for (int d = 0; d < 2; d++) {
			look(&draw, f, d ? DOUBLE : SINGLE, &all);
			look(&quick, f, d ? DOUBLE : SINGLE, &few);
		}
	look(&draw, 0, SINGLE, &lu);
	ok(all.fewest >= DRAW_LEAST, "at least 12 shapes in each family");
	ok(few.fewest >= 1 && few.fewest < DRAW_LEAST, "quick: fewer");
	ok(all.odd > 20 && all.square > 20 && all.tall > 20, "odd, square and tall ones occur");
	ok(all.tight > 20 && all.above > 20, "lda = m and odd ones above m occur");
	ok(all.alike == 0, "no shape of a family twice");
	ok(all.powers < 20, "few powers of two");
	ok(lu.split >= DRAW_LEAST, "12 of LU in single precision are large enough for split "
	                           "operands");
	struct drawn_shape s[DRAW_SHAPES];
	ok(draw_shapes(&draw, "abacus", "cuda", SINGLE, s) == 0, "none of another operation");
}

/* Sizes stay within memory and the time of a run. */
static void test_limits(const struct profile *profile)
{
	const struct draw small = draw_of(7, false, profile, 1e9);
	struct drawn_shape s[DRAW_SHAPES];
	const size_t n = draw_shapes(&small, "getrf", "cuda", DOUBLE, s);
	size_t large = 0;

	for (size_t i = 0; i < n; i++)
		large += (double)s[i].m * (double)s[i].n * 8 > 1e9 / 10;
	ok(n >= DRAW_LEAST && large == 0, "matrices are a small part of the memory");
}

static void test_mark(const struct profile *profile)
{
	const struct draw draw = draw_by(profile, 123456789);
	struct results *list = results_new();
	struct result row = result_new("getrf", "gpu", "cuda", SINGLE, 5001, 5001);

	ok(result_seed(&row) == NOT_DRAWN && result_lda(&row) == 0, "a fixed row has neither");
	results_add(list, &row);
	results_option_add(row.options, "level", "1");
	results_add(list, &row);
	draw_mark(&draw, list, 1);
	ok(result_seed(&list->row[0]) == NOT_DRAWN, "rows before the first stay fixed");
	ok(result_seed(&list->row[1]) == 123456789 &&
	                result_lda(&list->row[1]) == draw_lda(&draw, 5001, 5001),
	        "a marked one has seed and lda: %s", list->row[1].options);
	ok(results_level(&list->row[1]) == 1 &&
	                strcmp(strrchr(list->row[1].options, ','), ",level=1") == 0,
	        "and its level stays last");
	const int64_t lda = result_lda(&list->row[1]);
	draw_mark(&(struct draw){.seed = 7}, list, 1);
	ok(result_seed(&list->row[1]) == 123456789 && result_lda(&list->row[1]) == lda,
	        "a row that is marked stays as it is");
	results_free(list);
}

static void test_log(void)
{
	struct table *seeds = seeds_read("tests/validation");
	const struct seed_key first = {7, "profile", "model"}, other = {7, "profile", "changed"},
	                      second = {8, "profile", "model"};
	const size_t row = seeds_row(seeds, &first);

	ok(seeds->row_count == 1 && seeds_row(seeds, &first) == row, "a seed is logged once");
	ok(!seeds_seen(seeds, &other), "drawn, not judged: not seen");
	table_set_int(seeds, row, "cases", 100);
	ok(seeds_seen(seeds, &other), "judged with another model: seen");
	ok(!seeds_seen(seeds, &first) && !seeds_seen(seeds, &second), "not with the same model, "
	                                                              "and no other seed");
	ok(seeds_row(seeds, &other) != row && seeds_row(seeds, &second) > row,
	        "another model or seed has a row of its own");
	table_free(seeds);
}

int main(void)
{
	struct fault fault = {.text = ""};
	struct profile *profile = profile_read(RECORDED "/profile.tsv", &fault);

	if (!profile)
		msg_die(1, "%s", fault.text);
	test_seeds(profile);
	test_kinds(profile);
	test_limits(profile);
	test_mark(profile);
	profile_free(profile);
	test_log();
	return finish();
}
