/* SPDX-License-Identifier: MIT */
#pragma once

/* Levels of a prediction. */
enum level {
	LEVEL_BOUND,
	LEVEL_SUMS,     /* alpha-beta sums (LAWN 202 eq. 2) */
	LEVEL_FULL,     /* the full model: hardware over measured efficiencies */
	LEVEL_HARDWARE, /* the full model with all efficiencies 1, from a profile of that kind */
	LEVELS
};
