/* SPDX-License-Identifier: MIT */
/* Whether interference slowed runs down, by undisturbed ones. */
#include "tests/tap.h"

#include "factor/validation/timing.h"

int main(void)
{
	static const double alike[] = {1.00, 1.01, 1.02}, twice[] = {2.00, 2.01, 2.02, 2.03},
	                    wide[] = {1.00, 1.50, 2.00}, one[] = {1.005}, quick[] = {1.45};

	ok(timing_slowed(NULL, 0, alike, 3, 0.01), "without another run they may be slow");
	ok(timing_slowed(one, 1, twice, 4, 0.01), "one that takes half as long tells");
	ok(!timing_slowed(one, 1, alike, 3, 0.01), "not one that takes as long");
	ok(!timing_slowed(alike, 3, one, 1, 0.01), "nor one quicker by no more than the target");
	ok(timing_slowed(alike, 3, one, 1, 0.004), "but one quicker by more");
	ok(!timing_slowed(quick, 1, wide, 3, 0.01), "where the disturbed ones scatter more, not");
	return finish();
}
