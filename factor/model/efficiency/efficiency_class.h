/* SPDX-License-Identifier: MIT */
/* Default efficiencies of kernels that were never timed, by what limits them. Our timed kernels of
 * the profile are sorted into the same classes; a class's default is their median. Kernels that are
 * not ours enter none. docs/model.md, "Classes". */
#pragma once

#include "factor/model/law/law.h"

/* By the law's longest term. Brief: a launch is so short that the time in which the multiprocessors
 * fill and drain counts. */
enum efficiency_class {
	CLASS_DRAM,
	CLASS_L2, /* and atomics, which L2 executes */
	CLASS_SM, /* arithmetic, shared memory, blocks handed out */
	CLASS_DRAM_BRIEF,
	CLASS_L2_BRIEF,
	CLASS_SM_BRIEF,
	CLASS_CHAIN, /* loads, dependent instructions, reductions */
	CLASS_WAITS, /* barriers and exchanges */
	CLASSES
};
extern const char *const efficiency_class_name[CLASSES];

/* Fewer points than this are no class: those of all classes count. */
enum { CLASS_POINTS = 8 };

/* Medians with 95 % of the points. */
struct efficiency_classes {
	struct class_default {
		double efficiency, low, high;
		size_t points; /* 0: no kernel was timed, or efficiencies are 1 by choice */
		bool of_all;   /* the points are those of all classes */
	} of[CLASSES];
};

/* Of a prepared profile (efficiency_prepare). */
struct efficiency_classes efficiency_classes_of(const struct profile *profile);

/* Gives works of unknown kernels in that form the defaults of their classes. Returns the class of
 * the longest work. */
enum efficiency_class efficiency_class_set(struct cost_reader *, const struct efficiency_classes *,
        struct kernel_work *work, size_t count, enum law_form form);
