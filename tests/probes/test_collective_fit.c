/* SPDX-License-Identifier: MIT */
/* The collective probe's fit: times, latency and bandwidth by number of GPUs come back from known
 * curves, and what each further GPU adds; and the odd GPU or link of a profile. */
#include "tests/fit_test.h"

#include "lib/profile/profile_odd.h"

static const char *const columns[] = {"bytes", "gpus", "gpu"};

enum { SIZES = 14 }; /* powers of four, 4 B to 256 MiB */

static void put_line(struct table *curve, const char *series, int gpus, double alpha, double beta)
{
	for (int i = 0; i < SIZES; i++) {
		const double bytes = 4 * ldexp(1, 2 * i);
		add_point(
		        curve, alpha + bytes / beta, "%s[bytes=%.0f,gpus=%d]", series, bytes, gpus);
	}
}

/* Four GPUs on two links to the host; the third GPU's memory is slow. */
static struct table *four_gpus(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	put_line(curve, "broadcast", 2, 15e-6, 300e9);
	put_line(curve, "broadcast", 4, 21e-6, 280e9);
	put_line(curve, "allreduce", 2, 16e-6, 290e9);
	put_line(curve, "allreduce", 4, 20e-6, 270e9);
	put_line(curve, "allgather", 4, 18e-6, 400e9);
	put_line(curve, "turns", 2, 12e-6, 250e9);
	add_point(curve, 9e-6, "puts[bytes=65536,gpus=2]");
	add_point(curve, 67108864 / 50e9, "h2d_all[bytes=67108864,gpus=1]");
	add_point(curve, 134217728 / 100e9, "h2d_all[bytes=134217728,gpus=2]");
	add_point(curve, 268435456 / 100e9, "h2d_all[bytes=268435456,gpus=4]");
	add_point(curve, 268435456 / 90e9, "d2h_all[bytes=268435456,gpus=4]");
	for (int gpu = 0; gpu < 4; gpu++) {
		add_point(curve, 67108864 / 50e9, "h2d_each[bytes=67108864,gpu=%d]", gpu);
		add_point(curve, 67108864 / 48e9, "d2h_each[bytes=67108864,gpu=%d]", gpu);
		add_point(curve, 0.5e-9, "cycle_each[gpu=%d]", gpu);
		add_point(curve, 536870912 / (gpu == 2 ? 2.1e12 : 2.4e12),
		        "memory_each[bytes=536870912,gpu=%d]", gpu);
	}
	return curve;
}

static void test_known(void)
{
	static const struct expected_row rows[] = {
	        {"link.nccl.broadcast.alpha[gpus=4]", 21e-6, NULL},
	        {"link.nccl.broadcast.beta[gpus=4]", 280e9, NULL},
	        {"link.nccl.broadcast.time[bytes=4,gpus=2]", 15e-6, NULL},
	        {"link.nccl.broadcast.queued[bytes=4,gpus=2]", 12e-6 + 4 / 250e9, NULL},
	        {"link.nccl.broadcast.queued[bytes=268435456,gpus=2]", 12e-6 + 268435456 / 250e9,
	                NULL},
	        {"link.nccl.enqueue[gpus=2]", 9e-6, NULL},
	        {"link.nccl.allreduce.alpha[gpus=2]", 16e-6, NULL},
	        {"link.nccl.allreduce.beta[gpus=2]", 290e9, NULL},
	        {"link.nccl.allreduce.beta[gpus=4]", 270e9 * 1.5, NULL},
	        {"link.nccl.allgather.alpha[gpus=4]", 18e-6, NULL},
	        {"link.nccl.allgather.beta[gpus=4]", 300e9, NULL}, {"link.nccl.hop", 3e-6, NULL},
	        {"link.h2d.all[gpus=1]", 50e9, NULL}, {"link.h2d.all[gpus=2]", 100e9, NULL},
	        {"link.h2d.all[gpus=4]", 100e9, NULL}, {"link.d2h.all[gpus=4]", 90e9, NULL},
	        {"link.h2d.each[gpu=3]", 50e9, NULL}, {"link.d2h.each[gpu=0]", 48e9, NULL},
	        {"gpu.each.copy[gpu=2]", 2.1e12, NULL}, {"gpu.each.cycle[gpu=1]", 0.5e-9, NULL}};

	FITS_ROWS(collective_fit, four_gpus(), rows);
}

/* Without NCCL: transfers alone. With one number of GPUs: nothing about further ones. */
static void test_less(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	add_point(curve, 67108864 / 50e9, "h2d_all[bytes=67108864,gpus=1]");
	struct profile *profile = profile_of(collective_fit, curve);
	ok(profile->count == 1, "without NCCL its rows are absent");
	profile_free(profile);
	curve = curve_new(columns, ARRAY_LEN(columns));
	put_line(curve, "broadcast", 2, 15e-6, 300e9);
	profile = profile_of(collective_fit, curve);
	ok(!profile_has(profile, "link.nccl.hop"), "two GPUs say nothing of further ones");
	profile_free(profile);
	curve = curve_new(columns, ARRAY_LEN(columns));
	put_line(curve, "broadcast", 2, 15e-6, 300e9);
	put_line(curve, "broadcast", 4, 14e-6, 300e9);
	profile = profile_of(collective_fit, curve);
	ok(!profile_has(profile, "link.nccl.hop") ||
	                isnan(row_of(profile, "link.nccl.hop")->estimate.value),
	        "a hop that is not resolved has no value");
	profile_free(profile);
}

/* ---- the odd one ---- */

static void test_odd(void)
{
	struct profile *profile = profile_of(collective_fit, four_gpus());

	ok(profile_say_odd(profile) == 1, "one slow memory is odd");
	for (size_t i = 0; i < profile->count; i++)
		if (strcmp(profile->row[i].name, "gpu.each.copy") == 0)
			profile->row[i].estimate =
			        (struct estimate){2.4e12 + 1e6 * (double)i, 2.3e12, 2.5e12, 9};
	ok(profile_say_odd(profile) == 0, "none is, where all are alike");
	struct parameter *row = NULL;
	for (size_t i = 0; i < profile->count; i++)
		if (strcmp(profile->row[i].name, "gpu.each.copy") == 0)
			row = &profile->row[i];
	row->estimate = (struct estimate){2e12, 1.5e12, 2.5e12, 9};
	ok(profile_say_odd(profile) == 0, "nor one whose interval reaches the others");
	row->estimate = (struct estimate){3e12, 2.9e12, 3.1e12, 9};
	ok(profile_say_odd(profile) == 0, "nor a faster one");
	profile_free(profile);
}

static void test_odd_latency(void)
{
	static const struct parameter_spec spec = {"link.peer.latency", "s", "", NULL, 0, 0};
	struct profile *profile = profile_new();

	for (int to = 1; to < 4; to++) {
		const struct arg pair[] = {{"from", 0}, {"to", to}};
		const double seconds = to == 3 ? 2e-6 : 0.8e-6;
		profile_add(profile, &spec, pair, 2,
		        (struct estimate){seconds, 0.99 * seconds, 1.01 * seconds, 9}, false);
	}
	ok(profile_say_odd(profile) == 1, "a longer latency of one pair is odd");
	profile_free(profile);
}

int main(void)
{
	is_empty_fit(collective_fit, columns, ARRAY_LEN(columns));
	test_known();
	test_less();
	test_odd();
	test_odd_latency();
	return finish();
}
