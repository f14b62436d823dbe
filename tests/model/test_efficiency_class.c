/* SPDX-License-Identifier: MIT */
/* Default efficiencies of unknown kernels: the median of our kernels that the same thing limits, on
 * profiles whose efficiencies are made up. */
#include "tests/tap.h"

#include "factor/model/efficiency/efficiency.h"
#include "factor/model/efficiency/efficiency_class.h"
#include "lib/profile/profile_row.h"

#include <stdlib.h>
#include <string.h>

static const char gemv[] = "gpu.own_gemv.s.n";

/* Rows to keep of a recorded profile: the hardware's, and of gemv those out of DRAM or in L2. */
static bool is_other(const struct parameter *row, const void *unused)
{
	(void)unused;
	return efficiency_has(row) && strcmp(row->name, gemv) != 0;
}

static bool is_cold(const struct parameter *row, const void *unused)
{
	(void)unused;
	return efficiency_has(row) && profile_row_argument(row, "cold") > 0;
}

/* The recorded machine with the timings of one kernel, at this efficiency from the smallest matrix
 * to the largest. */
static struct profile *made_up(double first, double last)
{
	struct profile *p = profile_open(RECORDED);
	struct efficiency_reader *reader = efficiency_reader_new(p);
	size_t rows = 0, row = 0;

	profile_remove_if(p, is_other, NULL);
	EACH_ROW (i, p, gemv)
		rows++;
	EACH_ROW (i, p, gemv) {
		struct estimate *time = &p->row[i].estimate;
		const double at = first + (last - first) * (double)row++ / (double)(rows - 1);
		time->value = 1; /* a start is never more than the time */
		const struct efficiency e = efficiency_of(reader, &p->row[i]);
		time->value = time->low = time->high = e.start + e.hardware / at;
	}
	efficiency_reader_free(reader);
	return p;
}

static struct efficiency_classes classes_of(struct profile *p)
{
	efficiency_prepare(p);
	return efficiency_classes_of(p);
}

static void test_defaults(void)
{
	struct profile *p = made_up(0.5, 0.5), *other = made_up(0.25, 0.25);
	struct efficiency_classes c = classes_of(p);

	is_real(c.of[CLASS_DRAM].efficiency, 0.5, 1e-3, "the median of our kernels is the default");
	ok(c.of[CLASS_DRAM].points >= CLASS_POINTS && !c.of[CLASS_DRAM].of_all,
	        "of its class alone");
	ok(c.of[CLASS_WAITS].of_all && c.of[CLASS_WAITS].points > c.of[CLASS_DRAM].points,
	        "a class without points takes those of all");
	efficiency_take(p, other);
	c = classes_of(p);
	is_real(c.of[CLASS_DRAM].efficiency, 0.25, 1e-3,
	        "efficiencies of another machine bring its defaults");
	efficiency_by_hardware(p, other);
	c = classes_of(p);
	ok(c.of[CLASS_DRAM].efficiency == 1 && c.of[CLASS_DRAM].points == 0,
	        "1 where efficiencies are 1 by choice");
	profile_free(p);
	p = made_up(0.2, 0.8);
	c = classes_of(p);
	const struct class_default *all = &c.of[CLASS_WAITS];
	ok(all->low > 0.19 && all->low < 0.3 && all->efficiency > 0.4 && all->efficiency < 0.6 &&
	                all->high > 0.7 && all->high < 0.81,
	        "the middle and both ends of efficiencies from 0.2 to 0.8: %.2f, %.2f to %.2f",
	        all->efficiency, all->low, all->high);
	profile_free(p);
	profile_free(other);
}

static void test_what_counts(void)
{
	struct profile *p = made_up(0.5, 0.5);

	profile_remove_if(p, is_cold, NULL);
	struct efficiency_classes c = classes_of(p);
	ok(c.of[CLASS_DRAM].of_all && c.of[CLASS_DRAM].points >= CLASS_POINTS,
	        "fewer points than a class needs: those of all");
	EACH_ROW (i, p, gemv) {
		free(p->row[i].regime);
		p->row[i].regime = strdup("library");
	}
	c = classes_of(p);
	ok(c.of[CLASS_DRAM].points == 0 && c.of[CLASS_DRAM].efficiency == 1,
	        "calls of a library are no kernels of ours");
	profile_free(p);
}

static enum efficiency_class class_in(
        const struct profile *p, struct kernel_work work, struct law_answer *answer)
{
	const struct efficiency_classes classes = efficiency_classes_of(p);
	struct cost_reader *reader = malloc(sizeof *reader);

	cost_reader_start(reader, p);
	const enum efficiency_class c =
	        efficiency_class_set(reader, &classes, &work, 1, law_own_form(&work));
	if (!law_estimate(reader, &work, answer))
		diag("%s", answer->fault.text);
	free(reader);
	return c;
}

static void test_kernels(void)
{
	struct profile *p = made_up(0.5, 0.5), *none = profile_open(RECORDED);
	struct kernel_work w = {.launches = 1, .blocks = 1056, .threads = 256};
	struct law_answer a, alone;

	efficiency_prepare(p);
	efficiency_by_hardware(none, p);
	efficiency_prepare(none);
	w.dram.read = 1e9;
	ok(class_in(p, w, &a) == CLASS_DRAM, "1 GB: limited by DRAM");
	class_in(none, w, &alone);
	is_real(a.body, 2 * alone.body, 1e-3, "time = start + hardware / efficiency");
	is_real(a.seconds - a.body, alone.seconds - alone.body, 1e-9, "the start as it is");
	ok(a.high - a.low < alone.high - alone.low,
	        "kernels that are all alike leave a narrower interval than a claim of 10 %%");
	w.launches = 1000;
	w.dram.read = 2e7;
	ok(class_in(p, w, &a) == CLASS_DRAM_BRIEF, "1000 launches of 20 MB: each is brief");
	w = (struct kernel_work){.launches = 1, .blocks = 132, .threads = 256};
	w.operations[PIPE_FP32] = 1e11;
	ok(class_in(p, w, &a) == CLASS_SM, "arithmetic");
	w.link[LINK_GRID_BARRIER] = 1e4;
	ok(class_in(p, w, &a) == CLASS_WAITS, "barriers, however long");
	w.link[LINK_GRID_BARRIER] = 0;
	w.link[LINK_FMA] = 1e7;
	ok(class_in(p, w, &a) == CLASS_CHAIN, "a chain");
	profile_free(p);
	profile_free(none);
}

int main(void)
{
	test_defaults();
	test_what_counts();
	test_kernels();
	return finish();
}
