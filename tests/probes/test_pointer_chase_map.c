/* SPDX-License-Identifier: MIT */
/* Partitions of L2 and SMs that share a cache of constants, out of synthetic first loads: with
 * noise, a clock that rises from process to process, groups of different sizes, and where there is
 * nothing to tell. */
#include "chase_curves.h"

#include <string.h>

enum { SMS = 132, CONSTANT_SHARERS = 14 };

/* Every third pair of SMs is in the other partition, or every other one. */
static int partition_of(int sm, int every)
{
	return every > 0 && sm / 2 % every == 1;
}

static struct profile *fitted(struct machine *machine, int every, double later)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	table_meta_set(curve, "gpu_sms", "%d", SMS);
	for (int sm = 1; sm < SMS; ++sm) {
		const struct arg args[] = {{"sm", 0}, {"before", sm}};
		put(machine, curve, "once_before", args, 2,
		        143e-9 + (partition_of(sm, every) ? later : 0));
	}
	struct profile *profile = profile_of(pointer_chase_fit, curve);
	return profile;
}

static void check(struct machine machine, int every, double later, double groups, const char *what)
{
	struct profile *profile = fitted(&machine, every, later);
	const double found = row_of(profile, "gpu.l2.partitions")->estimate.value;
	int mapped = 0, right = 0;
	for (size_t i = 0; i < profile->count; ++i) {
		const struct parameter *p = &profile->row[i];
		if (strcmp(p->name, "gpu.l2.partition") != 0)
			continue;
		mapped++;
		right += (int)p->estimate.value == partition_of((int)p->arg[0], every);
	}
	ok(isnan(groups) ? isnan(found) : found == groups, "%s: %g partitions", what, found);
	ok(groups == 2 ? mapped == SMS && right == SMS : mapped == 0,
	        "%d SMs on the map, %d of them right", mapped, right);
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

int main(void)
{
	const struct machine noise = {.noise = 0.002, .doubt = 1, .hz = 1.98e9, .random = 23};
	struct machine noisy = noise, loud = noise, rising = noise;
	noisy.noise = 0.02;
	loud.noise = 0.4;
	rising.ramp = 0.05;
	check(noise, 2, 44e-9, 2, "two halves");
	check(noise, 3, 44e-9, 2, "a third");
	check(noisy, 2, 44e-9, 2, "with noise");
	check(rising, 2, 44e-9, 2, "with a clock that rises");
	check(noise, 0, 0, 1, "one partition");
	check(noisy, 0, 0, 1, "one partition, with noise");
	check(noise, 2, 4e-9, 1, "groups no farther apart than slices are");
	check(loud, 2, 44e-9, NAN, "noise larger than the difference");
	check_constants(
	        noise, CONSTANT_SHARERS, 50e-9, 243e-9, CONSTANT_SHARERS, "constants of 14");
	check_constants(noisy, CONSTANT_SHARERS, 50e-9, 243e-9, CONSTANT_SHARERS, "with noise");
	check_constants(
	        rising, CONSTANT_SHARERS, 50e-9, 243e-9, CONSTANT_SHARERS, "a rising clock");
	check_constants(noise, 1, 50e-9, 243e-9, 1, "each SM for itself");
	check_constants(noise, 1, 150e-9, 243e-9, NAN, "a cache hardly quicker than L2");
	return finish();
}
