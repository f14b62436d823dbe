/* SPDX-License-Identifier: MIT */
/* The peer probe's fit: latency and bandwidth of every pair and number of GPUs come back from known
 * curves. */
#include "tests/fit_test.h"

static const char *const columns[] = {"bytes", "from", "to", "gpus"};

enum { SIZES = 14 }; /* powers of four, 4 B to 256 MiB */

/* Times of `sizes` sizes; `which` is the further arguments: "from=0,to=1". */
static void put_line(struct table *curve, const char *series, const char *which, double alpha,
        double beta, int sizes)
{
	for (int i = 0; i < sizes; i++) {
		const double bytes = 4 * ldexp(1, 2 * i);
		add_point(curve, alpha + bytes / beta, "%s[bytes=%.0f,%s]", series, bytes, which);
	}
}

/* Three GPUs, one pair slower than the others. */
static struct table *three_gpus(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	for (int from = 0; from < 3; from++)
		for (int to = 0; to < 3; to++) {
			const double slow = from == 1 && to == 2 ? 2 : 1;
			char pair[32];
			if (from == to)
				continue;
			snprintf(pair, sizeof pair, "from=%d,to=%d", from, to);
			put_line(curve, "copy", pair, slow * 8e-6, 400e9 / slow, SIZES);
			put_line(curve, "copy_staged", pair, 20e-6, 25e9, SIZES);
			put_line(curve, "load", pair, 9e-6, 300e9, SIZES);
			put_line(curve, "store", pair, 9e-6, 350e9, SIZES);
			if (from < to)
				put_line(curve, "both", pair, 9e-6, 700e9, SIZES);
			add_point(curve, slow * 0.7e-6, "latency[bytes=2097152,%s]", pair);
		}
	put_line(curve, "broadcast", "gpus=2", 15e-6, 300e9, SIZES);
	put_line(curve, "broadcast", "gpus=3", 18e-6, 280e9, SIZES);
	put_line(curve, "allreduce", "gpus=2", 16e-6, 290e9, SIZES);
	put_line(curve, "allreduce", "gpus=3", 20e-6, 270e9, SIZES);
	return curve;
}

static void test_known(void)
{
	static const struct expected_row rows[] = {{"link.peer.alpha[from=0,to=1]", 8e-6, NULL},
	        {"link.peer.beta[from=0,to=1]", 400e9, NULL},
	        {"link.peer.alpha[from=1,to=2]", 16e-6, NULL},
	        {"link.peer.beta[from=1,to=2]", 200e9, NULL},
	        {"link.peer.beta[from=2,to=1]", 400e9, NULL},
	        {"link.peer.staged.alpha[from=2,to=0]", 20e-6, NULL},
	        {"link.peer.staged.beta[from=2,to=0]", 25e9, NULL},
	        {"link.peer.load.beta[from=0,to=2]", 300e9, NULL},
	        {"link.peer.load.alpha", 0, "absent"},
	        {"link.peer.store.beta[from=0,to=2]", 350e9, NULL},
	        {"link.peer.both.beta[from=0,to=2]", 700e9, NULL},
	        {"link.peer.both.beta[from=2,to=0]", 0, "absent"},
	        {"link.peer.latency[from=0,to=1]", 0.7e-6, NULL},
	        {"link.peer.latency[from=1,to=2]", 1.4e-6, NULL},
	        {"link.nccl.broadcast.alpha[gpus=3]", 18e-6, NULL},
	        {"link.nccl.broadcast.beta[gpus=3]", 280e9, NULL},
	        {"link.nccl.allreduce.alpha[gpus=2]", 16e-6, NULL},
	        {"link.nccl.allreduce.beta[gpus=2]", 290e9, NULL},
	        {"link.nccl.allreduce.beta[gpus=3]", 270e9 * 4 / 3, NULL},
	        {"link.nccl.allreduce.time", 0, "absent"}};
	FITS_ROWS(peer_fit, three_gpus(), rows);
}

/* No peer access, no NCCL: only the copy through the host. */
static void test_staged_only(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	put_line(curve, "copy_staged", "from=0,to=1", 20e-6, 25e9, SIZES);
	struct profile *profile = profile_of(peer_fit, curve);
	is_within(profile, "link.peer.staged.beta[from=0,to=1]", 25e9, 1e-6);
	ok(profile->count == 2, "links that the machine lacks are absent");
	profile_free(profile);
}

/* NCCL's rows of the probe `collective` stay, without a second one of an old curve. */
static void test_measured_since(void)
{
	static const struct parameter_spec spec = {
	        "link.nccl.broadcast.alpha", "s", "", NULL, 0, 0};
	const struct arg gpus = {"gpus", 2};
	struct profile *profile = profile_new();
	struct table *curve = three_gpus();
	size_t rows = 0;

	profile_add(profile, &spec, &gpus, 1, (struct estimate){1e-6, 1e-6, 1e-6, 9}, false);
	peer_fit(curve, profile);
	for (size_t i = 0; i < profile->count; i++)
		rows += strncmp(profile->row[i].name, "link.nccl.", 10) == 0;
	ok(rows == 1 && profile_has(profile, "link.peer.beta"),
	        "an old curve adds nothing to what `collective` has measured since");
	table_free(curve);
	profile_free(profile);
}

static void test_implausible(void)
{
	static const struct expected_row rows[] = {{"link.peer.alpha", 8e-6, NULL},
	        {"link.peer.beta", 1e14, "failed"}, {"link.peer.both.beta", 0, "failed"},
	        {"link.peer.latency", 2e-9, "failed"}};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	put_line(curve, "copy", "from=0,to=1", 8e-6, 1e14, SIZES);
	put_line(curve, "both", "from=0,to=1", 8e-6, 4e11, 2); /* two points make no line */
	add_point(curve, 2e-9, "latency[bytes=2097152,from=0,to=1]");
	FITS_ROWS(peer_fit, curve, rows);
}

int main(void)
{
	is_empty_fit(peer_fit, columns, ARRAY_LEN(columns));
	test_known();
	test_staged_only();
	test_measured_since();
	test_implausible();
	return finish();
}
