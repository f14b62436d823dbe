/* SPDX-License-Identifier: MIT */
/* Functions of the profile as dense tables: between, below and beyond the rows, on both scales,
 * with rows off the table, and with more rows than a table has room for. */
#include "lib/profile/profile_grid.h"

#include "tests/tap.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

static void add(struct profile *p, double m, double n, double value)
{
	static const struct parameter_spec spec = {"f", "s", "synthetic", "calibrated", 0, 0};
	const struct arg at[] = {{"m", m}, {"n", n}};

	profile_add(p, &spec, at, 2, (struct estimate){value, value, value, 9}, false);
}

static struct profile_grid *build(const struct profile *p, enum profile_scale scale)
{
	static const char *const arg[] = {"m", "n"};
	static struct profile_grid grid;

	profile_grid_build(&grid, p, scale, false, "f", arg, 2);
	return &grid;
}

static double read_at(const struct profile_grid *g, double m, double n, bool *extrapolated)
{
	*extrapolated = false;
	return profile_grid_read(g, (const double[]){m, n}, extrapolated);
}

static void test_table(void)
{
	struct profile *p = profile_new();
	bool beyond;

	for (double m = 16; m <= 256; m *= 4)
		for (double n = 2; n <= 8; n *= 2)
			add(p, m, n, m * n);
	const struct profile_grid *g = build(p, PROFILE_LOGARITHMIC);
	is_real(read_at(g, 64, 4, &beyond), 256, 1e-12, "a row is itself");
	is_real(read_at(g, 50, 3, &beyond), 150, 1e-12, "a power law is exact between rows");
	is_real(read_at(g, 1, 3, &beyond), 48, 1e-12, "below the rows it stays");
	ok(!beyond, "and that is no extrapolation");
	is_real(read_at(g, 512, 4, &beyond), 2048, 1e-12, "beyond the rows the slope goes on");
	ok(beyond, "and that is said");
	g = build(p, PROFILE_LINEAR);
	is_real(read_at(g, 40, 5, &beyond), 200, 1e-12, "a linear scale is exact for lines");
	add(p, 32, 3, 2 * 96);
	g = build(p, PROFILE_LOGARITHMIC);
	is_real(read_at(g, 32, 3, &beyond), 192, 1e-12, "a row off the table is itself");
	is_real(read_at(g, 64, 3, &beyond), 192, 1e-12, "and changes nothing at the next rows");
	profile_free(p);
}

/* Inverse efficiencies that halve with each step; the largest kernel has no row. */
static void test_hole(void)
{
	static const char *const arg[] = {"m", "n"};
	static struct profile_grid grid;
	struct profile *p = profile_new();
	bool beyond;

	for (int i = 0; i < 5; i++) {
		const double m = i / 3 ? 4 : 1, n = i % 3 == 0 ? 1 : i % 3 == 1 ? 4 : 16;
		add(p, m, n, m * n * 8 / sqrt(m * n));
	}
	for (size_t i = 0; i < p->count; i++) {
		p->row[i].hardware = p->row[i].arg[0] * p->row[i].arg[1];
		p->row[i].start = 0;
	}
	profile_grid_build(&grid, p, PROFILE_LOGARITHMIC, true, "f", arg, 2);
	is_real(read_at(&grid, 1, 8, &beyond), 8 / sqrt(8), 1e-12, "efficiencies between rows");
	is_real(read_at(&grid, 4, 16, &beyond), 2, 1e-12,
	        "a place without a row is no more efficient than the best row beside it");
	is_real(read_at(&grid, 16, 64, &beyond), 2, 1e-12, "and so it stays beyond the rows");
	profile_free(p);
}

/* Whether the program ends with an error message. */
static bool is_refused(const struct profile *p)
{
	int status = 0;
	const pid_t child = fork();

	if (child == 0) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(EXIT_DONE);
		build(p, PROFILE_LOGARITHMIC);
		_exit(EXIT_DONE);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_MEASURE_FAILED;
}

static void test_limits(void)
{
	struct profile *p = profile_new();

	for (int m = 1; m <= GRID_AXIS; m++)
		add(p, m, 1, 1);
	ok(!is_refused(p), "%d values of an argument have room", GRID_AXIS);
	add(p, GRID_AXIS + 1, 1, 1);
	ok(is_refused(p), "one more is refused, not left out");
	profile_free(p);
}

int main(void)
{
	test_table();
	test_hole();
	test_limits();
	return finish();
}
