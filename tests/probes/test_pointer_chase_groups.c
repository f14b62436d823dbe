/* SPDX-License-Identifier: MIT */
/* What first loads tell, out of synthetic ones: partitions of L2, near and far hits, SMs that share
 * a cache of constants. With noise, a clock that rises from process to process, groups of different
 * sizes, lines that had left L2 meanwhile, and where there is nothing to tell. */
#include "chase_curves.h"

/* ---- the partition of each SM, and who shares constants ---- */

enum { SMS = 132, CONSTANT_SHARERS = 14 };

/* Every third pair of SMs is in the other partition, or every other one. */
static int partition_of(int sm, int every)
{
	return every > 0 && sm / 2 % every == 1;
}

static struct profile *fit_before(struct machine *machine, int every, double later)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	table_meta_set(curve, "gpu_sms", "%d", SMS);
	for (int sm = 1; sm < SMS; ++sm) {
		const struct arg args[] = {{"sm", 0}, {"before", sm}};
		put(machine, curve, "once_before", args, 2,
		        143e-9 + (partition_of(sm, every) ? later : 0));
	}
	return profile_of(pointer_chase_fit, curve);
}

static void check_partitions(
        struct machine machine, int every, double later, double groups, const char *what)
{
	struct profile *profile = fit_before(&machine, every, later);
	const double found = row_of(profile, "gpu.l2.partitions")->estimate.value;
	ok(isnan(groups) ? isnan(found) : found == groups, "%s: %g partitions", what, found);
	profile_free(profile);
}

/* What one SM reads after each other one, behind chains of two levels. */
static void check_constants(struct machine machine, int sharers, double behind, double absent,
        double expected, const char *what)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	for (int bytes = 256; bytes <= 65536; bytes += bytes / 8) {
		const struct arg args[] = {{"bytes", bytes}, {"stride", 64}};
		const double missing = bytes <= 2048 ? 0 : 1 - 2048.0 / bytes;
		put(&machine, curve, "chain_constant", args, 2, 14e-9 + missing * (behind - 14e-9));
	}
	for (int before = -1; before < SMS; ++before) {
		const struct arg args[] = {{"sm", 0}, {"before", before}};
		put(&machine, curve, "constant_first", args, 2,
		        before < 0         ? absent
		        : before == 0      ? 14e-9
		        : before < sharers ? behind
		        : before % 2       ? absent
		                           : 0.65 * absent);
	}
	struct profile *profile = profile_of(pointer_chase_fit, curve);
	const struct parameter *found = row_of(profile, "gpu.constant.l15.shared_by");
	ok(isnan(expected) ? !(found->estimate.value > 0) : found->estimate.value == expected,
	        "%s: %g SMs (%s)", what, found->estimate.value, found->status);
	profile_free(profile);
}

/* ---- near and far hits ---- */

enum { LINES = 200, READERS = 2 };

static const double near_hit = 140e-9, far_hit = 235e-9, memory = 290e-9, beyond = 90e-9;

/* What the machine does with lines that the other side read before. */
struct fixture {
	bool divided;  /* every other line is far */
	int left_once; /* each so many-th line has left L2 before it is read (0: none) */
	bool no_absent;
};

/* A reader's loads: slices lie at different distances, from +-10 ns. */
static struct profile *fit_first_reads(struct machine *machine, struct fixture fixture)
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
	return profile_of(pointer_chase_fit, curve);
}

static void check_hits(struct machine machine, struct fixture fixture, bool found, const char *what)
{
	struct profile *profile = fit_first_reads(&machine, fixture);
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
	const struct machine noise = {.noise = 0.002, .doubt = 1, .hz = 1.98e9, .random = 23};
	struct machine noisy = noise, loud = noise, rising = noise;
	noisy.noise = 0.02;
	loud.noise = 0.4;
	rising.ramp = 0.05;
	check_partitions(noise, 2, 44e-9, 2, "two halves");
	check_partitions(noise, 3, 44e-9, 2, "a third");
	check_partitions(noisy, 2, 44e-9, 2, "with noise");
	check_partitions(rising, 2, 44e-9, 2, "with a clock that rises");
	check_partitions(noise, 0, 0, 1, "one partition");
	check_partitions(noisy, 0, 0, 1, "one partition, with noise");
	check_partitions(noise, 2, 4e-9, 1, "groups no farther apart than slices are");
	check_partitions(loud, 2, 44e-9, NAN, "noise larger than the difference");
	check_constants(
	        noise, CONSTANT_SHARERS, 50e-9, 243e-9, CONSTANT_SHARERS, "constants of 14");
	check_constants(noisy, CONSTANT_SHARERS, 50e-9, 243e-9, CONSTANT_SHARERS, "with noise");
	check_constants(
	        rising, CONSTANT_SHARERS, 50e-9, 243e-9, CONSTANT_SHARERS, "a rising clock");
	check_constants(noise, 1, 50e-9, 243e-9, 1, "each SM for itself");
	check_constants(noise, 1, 150e-9, 243e-9, NAN, "a cache hardly quicker than L2");

	const struct machine hits = {.noise = 0.005, .doubt = 1, .hz = 1.98e9, .random = 17};
	noisy = loud = rising = hits;
	noisy.noise = 0.03;
	loud.noise = 0.3;
	rising.ramp = 0.03;
	rising.noise = 0.002;
	const struct fixture divided = {.divided = true}, undivided = {.divided = false};
	const struct fixture leaving = {.divided = true, .left_once = 9};
	const struct fixture all_left = {.left_once = 1},
	                     unknown = {.divided = true, .no_absent = true};
	check_hits(hits, divided, true, "two partitions");
	check_hits(noisy, divided, true, "with noise");
	check_hits(rising, divided, true, "with a clock that rises");
	check_hits(hits, leaving, true, "with lines that had left L2");
	check_hits(hits, undivided, false, "one partition");
	check_hits(noisy, undivided, false, "one partition, with noise");
	check_hits(loud, divided, false, "noise larger than the difference");
	check_hits(hits, all_left, false, "all lines back in memory");
	check_hits(hits, unknown, false, "no loads from memory to compare with");
	test_not_measured();
	return finish();
}
