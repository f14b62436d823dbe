/* SPDX-License-Identifier: MIT */
/* The index of a profile: rows are found by their names, whatever is added and removed. Views: rows
 * that move there for a while. */
#include "tests/profile_rows.h"

/* A row of a function n..., or a scalar. */
static void add(struct profile *profile, const char *name, double value)
{
	const struct parameter_spec spec = {.name = name, .unit = "s", .method = "test"};
	const struct arg at = {"x", value};

	profile_add(profile, &spec, &at, name[0] == 'n', (struct estimate){value, value, value, 30},
	        false);
}

enum { NAMES = 300, ROWS = 5 };

static bool is_even(const struct parameter *row, const void *unused)
{
	(void)unused;
	return atoi(row->name + 1) % 2 == 0;
}

/* The rows of name n have the values 0 to ROWS - 1 in this order. */
static size_t rows_of(const struct profile *profile, int n)
{
	char name[16];
	size_t count = 0;

	snprintf(name, sizeof name, "n%d", n);
	EACH_ROW (i, profile, name)
		if (profile->row[i].estimate.value == (double)count &&
		        strcmp(profile->row[i].name, name) == 0)
			count++;
	return count;
}

static void test_index(void)
{
	struct profile *profile = profile_new();
	char name[16];
	size_t found = 0, even = 0, odd = 0;

	for (int row = 0; row < ROWS; row++) /* names alternate */
		for (int n = 0; n < NAMES; n++) {
			snprintf(name, sizeof name, "n%d", n);
			add(profile, name, row);
		}
	for (int n = 0; n < NAMES; n++)
		found += rows_of(profile, n);
	ok(found == NAMES * ROWS, "every name has its rows, in the order of their adding");
	ok(profile_first(profile, "n") == profile->count, "an unknown name has none");
	profile_remove_if(profile, is_even, NULL);
	for (int n = 0; n < NAMES; n++)
		*(n % 2 ? &odd : &even) += rows_of(profile, n);
	ok(even == 0 && odd == NAMES / 2 * ROWS,
	        "rows that are removed are not found, the rest is");
	add(profile, "n0", 0);
	ok(rows_of(profile, 0) == 1, "a name comes back");
	profile_free(profile);
}

/* A view's rows move, and go back; the profile's stay. */
static void test_view(void)
{
	static const char *const names[] = {"gpu.launch.enqueue", "gpu.copy.enqueue"};
	struct profile *profile = profile_new();

	add(profile, "gpu.launch.enqueue", 2e-6);
	add(profile, "gpu.launch.sync", 9e-6);
	add(profile, "gpu.copy.enqueue", 3e-6);
	struct profile view = profile_view(profile);
	profile_try(&view, names[0], 2, names, ARRAY_LEN(names));
	is_real(profile_get(&view, "gpu.launch.sync", NULL, 0).estimate.value, 11e-6, 1e-12,
	        "a round trip follows the launch that is twice as long");
	ok(profile_is_tried(&view, names[0]) && !profile_is_tried(&view, names[1]),
	        "rows tell whether they have moved");
	is_real(profile_get(profile, "gpu.launch.sync", NULL, 0).estimate.value, 9e-6, 1e-12,
	        "the profile stays");
	profile_try_end(&view, profile, names, ARRAY_LEN(names));
	ok(!profile_is_tried(&view, names[0]), "at the end of the trial the row is back");
	is_real(profile_get(&view, "gpu.launch.sync", NULL, 0).estimate.value, 9e-6, 1e-12,
	        "and the round trip");
	profile_view_free(&view);
	profile_free(profile);
}

int main(void)
{
	test_index();
	test_view();
	return finish();
}
