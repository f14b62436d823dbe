/* SPDX-License-Identifier: MIT */
/* The copy probe's fit on curves with known answers. */
#include "lib/base/base.h"
#include "lib/probe/probe.h"
#include "tests/tap.h"

void copy_fit(const struct table *curve, struct profile *profile);

static const double alpha = 3e-6, beta = 4e12, l2_rate = 6e12;

static struct table *new_curve(void)
{
	static const char *const args[] = {
	        "bytes", "words", "stride", "offset", "width", "inflight"};
	return curve_new(args, ARRAY_LEN(args));
}

/* Three processes, one of them 1 % off. extra may be NULL. */
static void add(struct table *curve, const char *series, double bytes, const struct arg *extra,
        size_t extra_count, double seconds)
{
	struct arg args[4] = {{"bytes", bytes}};
	for (size_t i = 0; i < extra_count; i++)
		args[1 + i] = extra[i];
	for (int process = 0; process < 3; process++) {
		double t = seconds * (process == 2 ? 1.01 : 1);
		struct measurement m = {{t, 0.999 * t, 1.001 * t, 20}, 0, 1.9e9, 0, false};
		curve_add(curve, series, args, 1 + extra_count, process, &m, false);
	}
}

static void add_sizes(struct table *curve)
{
	for (double bytes = 4096; bytes <= 0x1p30; bytes *= 4) {
		double t = alpha + bytes / beta;
		add(curve, "copy_cold", bytes, NULL, 0, t);
		add(curve, "read_cold", bytes, NULL, 0, 1.1 * t);
		add(curve, "write_cold", bytes, NULL, 0, 1.2 * t);
		add(curve, "copy_warm", bytes, NULL, 0, 2e-6 + bytes / l2_rate);
	}
	add(curve, "copy_l2", 3e7, NULL, 0, 3e7 / l2_rate);
}

static struct parameter *row_of(
        const struct profile *profile, const char *name, const struct arg *args, size_t count)
{
	for (size_t i = 0; i < profile->count; i++) {
		struct parameter *row = &profile->row[i];
		bool same = !strcmp(row->name, name) && row->arg_count == count;
		for (size_t a = 0; same && a < count; a++)
			same = !strcmp(row->arg_name[a], args[a].name) &&
			       row->arg[a] == args[a].value;
		if (same)
			return row;
	}
	return NULL;
}

static void is_value(const struct profile *profile, const char *name, const struct arg *args,
        size_t count, double want, double relative)
{
	const struct parameter *row = row_of(profile, name, args, count);
	if (!ok(row != NULL, "%s is there", name))
		return;
	is_real(row->estimate.value, want, relative, name);
	ok(row->estimate.low <= want * (1 + relative) &&
	                row->estimate.high >= want * (1 - relative),
	        "%s: the interval holds it", name);
}

static void is_status(const struct profile *profile, const char *name, const char *status)
{
	const struct parameter *row = row_of(profile, name, NULL, 0);
	is_text(row ? row->status : NULL, status, name);
}

static void test_line_and_plateaus(void)
{
	struct table *curve = new_curve();
	struct profile *profile = profile_new();
	double large = 0x1p30;

	add_sizes(curve);
	copy_fit(curve, profile);
	is_value(profile, "gpu.copy.alpha", NULL, 0, alpha, 0.01);
	is_value(profile, "gpu.copy.beta", NULL, 0, beta, 0.01);
	is_value(profile, "gpu.copy.n_half", NULL, 0, alpha * beta, 0.02);
	is_value(profile, "gpu.dram.copy", NULL, 0, large / (alpha + large / beta), 1e-6);
	is_value(profile, "gpu.dram.read", NULL, 0, large / (alpha + large / beta) / 1.1, 1e-6);
	is_value(profile, "gpu.dram.write", NULL, 0, large / (alpha + large / beta) / 1.2, 1e-6);
	is_value(profile, "gpu.l2.copy", NULL, 0, l2_rate, 1e-6);
	/* half way to the process that is off */
	is_value(profile, "gpu.copy.time", (struct arg[]){{"bytes", 4096}}, 1,
	        1.005 * (2e-6 + 4096 / l2_rate), 1e-6);
	profile_free(profile);
	table_free(curve);
}

static void test_arguments(void)
{
	struct table *curve = new_curve();
	struct profile *profile = profile_new();
	double words = 1 << 18, bytes = 8 * words;

	for (double stride = 1; stride <= 512; stride *= 8)
		add(curve, "stride_cold", bytes,
		        (struct arg[]){{"words", words}, {"stride", stride}}, 2, 1e-6 * stride);
	add(curve, "misaligned_cold", 3e8, (struct arg[]){{"offset", 4}, {"width", 4}}, 2, 1e-4);
	add(curve, "inflight_cold", 3e8, (struct arg[]){{"inflight", 2048}}, 1, 1e-3);
	copy_fit(curve, profile);
	is_value(profile, "gpu.copy.stride", (struct arg[]){{"words", words}, {"stride", 8}}, 2,
	        bytes / 8e-6, 1e-6);
	is_value(profile, "gpu.copy.misaligned", (struct arg[]){{"offset", 4}}, 1, 3e12, 1e-6);
	is_value(profile, "gpu.copy.inflight", (struct arg[]){{"bytes", 2048}}, 1, 3e11, 1e-6);
	profile_free(profile);
	table_free(curve);
}

/* What was not measured is failed and never a guess. */
static void test_missing(void)
{
	static const char *const names[] = {"gpu.copy.time", "gpu.read.time", "gpu.write.time",
	        "gpu.copy.alpha", "gpu.copy.beta", "gpu.copy.n_half", "gpu.dram.copy",
	        "gpu.dram.read", "gpu.dram.write", "gpu.l2.copy", "gpu.l2.read", "gpu.l2.write",
	        "gpu.dram.copy_sustained", "gpu.copy.stride", "gpu.copy.misaligned",
	        "gpu.copy.aligned_head", "gpu.copy.width", "gpu.copy.inflight", "gpu.change.time"};
	struct table *curve = new_curve();
	struct profile *profile = profile_new();

	copy_fit(curve, profile);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		is_status(profile, names[i], "failed");
	ok(profile->count == ARRAY_LEN(names), "and nothing else is in the profile");
	profile_free(profile);
	table_free(curve);
}

/* More than the pins carry is not believed; at least as much is. */
static void test_pins(void)
{
	for (int high = 0; high < 2; high++) {
		struct table *curve = new_curve();
		struct profile *profile = profile_new();
		table_meta_set(curve, "pin_bytes_per_second", "%g", high ? 4.8e12 : 3.5e12);
		add_sizes(curve);
		copy_fit(curve, profile);
		is_status(profile, "gpu.dram.copy", high ? "ok" : "failed");
		is_status(profile, "gpu.l2.copy", "ok");
		profile_free(profile);
		table_free(curve);
	}
}

int main(void)
{
	test_line_and_plateaus();
	test_arguments();
	test_missing();
	test_pins();
	return finish();
}
