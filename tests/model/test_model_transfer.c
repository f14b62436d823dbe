/* SPDX-License-Identifier: MIT */
/* The rectangles in which a triangle is transferred: about as wide as LAWN 202's sum of copies and
 * elements says is best, a small one at once. */
#include "tests/tap.h"
#include "model_profile.h"

#include "factor/model/predictions/model_transfer.h"

#include <inttypes.h>
#include <math.h>

/* Of alpha n / w + n (n + w) / 2 words at beta the least is at w = sqrt(2 alpha beta / word),
 * whatever n is; alpha and beta as the synthetic profile has them. */
static void check_large(const struct profile *profile, int64_t n, enum precision precision)
{
	const double alpha = 12e-6, beta = 50e9, word = (double)precision_bytes(precision);
	const double best = sqrt(2 * alpha * beta / word);
	const int64_t width = model_triangle_width(profile, n, precision);

	ok((double)width > best / 3 && (double)width < best * 3,
	        "n = %" PRId64 ", %c: %" PRId64 " columns, %.0f by the formula", n, (char)precision,
	        width, best);
}

int main(void)
{
	struct profile *none = profile_new(), *profile = synthetic(0.01);

	add_blocks(profile, 0.01);
	ok(model_triangle_width(none, 1000, SINGLE) == 0, "without copies in the profile none");
	check_large(profile, 4096, SINGLE);
	check_large(profile, 16384, SINGLE);
	check_large(profile, 16384, DOUBLE);
	ok(model_triangle_width(profile, 100, SINGLE) == 128, "a small triangle at once");
	profile_free(profile);
	profile_free(none);
	return finish();
}
