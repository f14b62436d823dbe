/* SPDX-License-Identifier: MIT */
/* Near and far hits out of synthetic first loads: two modes, one, noise that hides them, a clock
 * that rises from process to process, lines that had left L2 meanwhile, and what was not measured.
 */
#include "chase_curves.h"

enum { LINES = 200, READERS = 2 };

static const double near_hit = 140e-9, far_hit = 235e-9, memory = 290e-9, beyond = 90e-9;

/* What the machine does with lines that the other side read before. */
struct fixture {
	bool divided;  /* every other line is far */
	int left_once; /* each so many-th line has left L2 before it is read (0: none) */
	bool no_absent;
};

/* A reader's loads: slices lie at different distances, from +-10 ns. */
static struct profile *fitted(struct machine *machine, struct fixture fixture)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	for (int reader = 0; reader < READERS; ++reader)
		for (int line = 0; line < LINES; ++line) {
			const struct arg args[] = {{"sm", 131 - reader}, {"line", line}};
			const double slice = 1e-9 * (line * 8 % 21 - 10);
			const bool far = fixture.divided && (line + reader) % 2 == 0;
			const bool left = fixture.left_once && line % fixture.left_once == 0;
			put(machine, curve, "once_other", args, 2,
			        slice + (left         ? memory
			                        : far ? far_hit
			                              : near_hit));
			put(machine, curve, "once_same", args, 2, slice + near_hit);
			if (!fixture.no_absent)
				put(machine, curve, "once_absent", args, 2,
				        slice + memory + (far ? beyond : 0));
		}
	struct profile *profile = profile_of(pointer_chase_fit, curve);
	return profile;
}

static void check(struct machine machine, struct fixture fixture, bool found, const char *what)
{
	struct profile *profile = fitted(&machine, fixture);
	const double quicker = 1 + machine.ramp;
	bool wrong = false;
	const bool near = resolved(profile, "gpu.l2.near_hit.latency", near_hit / quicker, &wrong);
	const bool far = resolved(profile, "gpu.l2.far_hit.latency", far_hit / quicker, &wrong);
	diag("near %g, far %g (%s)", row_of(profile, "gpu.l2.near_hit.latency")->estimate.value,
	        row_of(profile, "gpu.l2.far_hit.latency")->estimate.value,
	        row_of(profile, "gpu.l2.far_hit.latency")->status);
	ok(near && far == found && !wrong, "%s: near hits, %s", what,
	        found ? "and far ones" : "far ones not resolved");
	const struct parameter *mixed = row_of(profile, "gpu.l2.other_hit.latency");
	const double other = mixed->estimate.value;
	const bool lost = fixture.no_absent || fixture.left_once == 1;
	const bool right =
	        fixture.divided ? other > near_hit / quicker : fabs(other / near_hit - 1) < 0.1;
	/* among much noise hits are as slow as memory */
	if (found)
		is_text(mixed->status, "absent", "what the other side read is near or far");
	else
		ok(lost ? isnan(other) : right || (machine.noise > 0.1 && isnan(other)),
		        "what the other side read: %.3g ns", other * 1e9);
	const double memory_near = row_of(profile, "gpu.dram.near.latency")->estimate.value,
	             memory_far = row_of(profile, "gpu.dram.far.latency")->estimate.value;
	ok(found ? fabs(memory_far - memory_near - beyond) < 0.1 * beyond
	         : !(memory_near > 0) && !(memory_far > 0),
	        "memory of the own partition %.3g ns, of the other one %.3g", memory_near * 1e9,
	        memory_far * 1e9);
	profile_free(profile);
}

static void test_not_measured(void)
{
	struct machine machine = {.noise = 0.001, .hz = 1.98e9, .random = 3};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	const struct arg args[] = {{"sm", 0}, {"line", 0}};
	put(&machine, curve, "slice", args, 2, near_hit);
	struct profile *profile = profile_of(pointer_chase_fit, curve);
	is_text(row_of(profile, "gpu.l2.far_hit.latency")->status, "absent",
	        "a recording without first loads says nothing of them");
	profile_free(profile);
}

int main(void)
{
	const struct machine noise = {.noise = 0.005, .doubt = 1, .hz = 1.98e9, .random = 17};
	struct machine noisy = noise, loud = noise, rising = noise;
	noisy.noise = 0.03;
	loud.noise = 0.3;
	rising.ramp = 0.03;
	rising.noise = 0.002;
	const struct fixture divided = {.divided = true}, undivided = {.divided = false};
	const struct fixture leaving = {.divided = true, .left_once = 9};
	const struct fixture all_left = {.left_once = 1},
	                     unknown = {.divided = true, .no_absent = true};
	check(noise, divided, true, "two partitions");
	check(noisy, divided, true, "with noise");
	check(rising, divided, true, "with a clock that rises");
	check(noise, leaving, true, "with lines that had left L2");
	check(noise, undivided, false, "one partition");
	check(noisy, undivided, false, "one partition, with noise");
	check(loud, divided, false, "noise larger than the difference");
	check(noise, all_left, false, "all lines back in memory");
	check(noise, unknown, false, "no loads from memory to compare with");
	test_not_measured();
	return finish();
}
