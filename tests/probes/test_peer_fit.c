/* SPDX-License-Identifier: MIT */
/* The peer probe's fit must give back the alpha and beta that synthetic curves were made of, for
 * every pair and number of GPUs. */
#include "tests/tap.h"
#include "lib/probe/curve.h"
#include "lib/profile/profile.h"
#include "probes/peer/peer.h"

static const char *const columns[] = {"bytes", "from", "to", "gpus"};

enum { SIZES = 14 }; /* powers of four, 4 B to 256 MiB */

/* Three processes that agree within a percent or so. */
static void put(struct table *curve, const char *series, const struct arg *args, size_t count,
        double seconds)
{
	for (int process = 0; process < 3; process++) {
		const double v = seconds * (1 + 0.003 * (process - 1));
		const struct measurement m = {.seconds = {v, 0.99 * v, 1.01 * v, 9}, .hz = NAN};
		curve_add(curve, series, args, count, process, &m, false);
	}
}

static void put_pair(struct table *curve, const char *series, int from, int to, double alpha,
        double beta, int sizes)
{
	for (int i = 0; i < sizes; i++) {
		const double bytes = 4 * ldexp(1, 2 * i);
		const struct arg args[] = {{"bytes", bytes}, {"from", from}, {"to", to}};
		put(curve, series, args, ARRAY_LEN(args), alpha + bytes / beta);
	}
}

static void put_group(struct table *curve, const char *series, int gpus, double alpha, double beta)
{
	for (int i = 0; i < SIZES; i++) {
		const double bytes = 4 * ldexp(1, 2 * i);
		const struct arg args[] = {{"bytes", bytes}, {"gpus", gpus}};
		put(curve, series, args, ARRAY_LEN(args), alpha + bytes / beta);
	}
}

/* The row with these arguments; to < 0: the row has one argument. */
static void is_parameter(const struct profile *profile, const char *name, int from, int to,
        double value, const char *status)
{
	for (size_t i = 0; i < profile->count; i++) {
		const struct parameter *row = &profile->row[i];
		if (strcmp(row->name, name) == 0 && row->arg[0] == from &&
		        (to < 0 ? row->arg_count == 1 : row->arg_count == 2 && row->arg[1] == to)) {
			is_real(row->estimate.value, value, 1e-6, name);
			is_text(row->status, status, name);
			return;
		}
	}
	is_text("absent", status, name);
}

static struct profile *fitted(struct table *curve)
{
	struct profile *profile = profile_new();
	peer_fit(curve, profile);
	table_free(curve);
	return profile;
}

/* Three GPUs, one pair slower than the others. */
static void test_known(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	for (int from = 0; from < 3; from++)
		for (int to = 0; to < 3; to++) {
			const double slow = from == 1 && to == 2 ? 2 : 1;
			if (from == to)
				continue;
			put_pair(curve, "copy", from, to, slow * 8e-6, 400e9 / slow, SIZES);
			put_pair(curve, "copy_staged", from, to, 20e-6, 25e9, SIZES);
			put_pair(curve, "load", from, to, 9e-6, 300e9, SIZES);
			put_pair(curve, "store", from, to, 9e-6, 350e9, SIZES);
			if (from < to)
				put_pair(curve, "both", from, to, 9e-6, 700e9, SIZES);
			const struct arg args[] = {{"bytes", 1 << 21}, {"from", from}, {"to", to}};
			put(curve, "latency", args, ARRAY_LEN(args), slow * 0.7e-6);
		}
	put_group(curve, "broadcast", 2, 15e-6, 300e9);
	put_group(curve, "broadcast", 3, 18e-6, 280e9);
	put_group(curve, "allreduce", 2, 16e-6, 290e9);
	put_group(curve, "allreduce", 3, 20e-6, 270e9);
	struct profile *profile = fitted(curve);
	is_parameter(profile, "link.peer.alpha", 0, 1, 8e-6, "ok");
	is_parameter(profile, "link.peer.beta", 0, 1, 400e9, "ok");
	is_parameter(profile, "link.peer.alpha", 1, 2, 16e-6, "ok");
	is_parameter(profile, "link.peer.beta", 1, 2, 200e9, "ok");
	is_parameter(profile, "link.peer.beta", 2, 1, 400e9, "ok");
	is_parameter(profile, "link.peer.staged.alpha", 2, 0, 20e-6, "ok");
	is_parameter(profile, "link.peer.staged.beta", 2, 0, 25e9, "ok");
	is_parameter(profile, "link.peer.load.beta", 0, 2, 300e9, "ok");
	is_parameter(profile, "link.peer.load.alpha", 0, 2, NAN, "absent");
	is_parameter(profile, "link.peer.store.beta", 0, 2, 350e9, "ok");
	is_parameter(profile, "link.peer.both.beta", 0, 2, 700e9, "ok");
	is_parameter(profile, "link.peer.both.beta", 2, 0, NAN, "absent");
	is_parameter(profile, "link.peer.latency", 0, 1, 0.7e-6, "ok");
	is_parameter(profile, "link.peer.latency", 1, 2, 1.4e-6, "ok");
	is_parameter(profile, "link.nccl.broadcast.alpha", 3, -1, 18e-6, "ok");
	is_parameter(profile, "link.nccl.broadcast.beta", 3, -1, 280e9, "ok");
	is_parameter(profile, "link.nccl.allreduce.alpha", 2, -1, 16e-6, "ok");
	is_parameter(profile, "link.nccl.allreduce.beta", 2, -1, 290e9, "ok");
	is_parameter(profile, "link.nccl.allreduce.beta", 3, -1, 270e9 * 4 / 3, "ok");
	const struct arg size[] = {{"bytes", 4 << 20}, {"gpus", 3}};
	const struct lookup time = profile_get(profile, "link.nccl.allreduce.time", size, 2);
	is_real(time.estimate.value, 20e-6 + (4 << 20) / 270e9, 1e-6, "a time by size");
	for (size_t i = 0; i < profile->count; i++) {
		const struct estimate e = profile->row[i].estimate;
		if (!(e.low <= e.value && e.value <= e.high))
			ok(false, "the interval of %s holds its value", profile->row[i].name);
	}
	profile_free(profile);
}

static void test_empty(void)
{
	struct profile *profile = fitted(curve_new(columns, ARRAY_LEN(columns)));
	ok(profile->count == 0, "an empty curve gives no parameters");
	profile_free(profile);
}

/* No peer access, no NCCL: only what was staged. */
static void test_staged_only(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	put_pair(curve, "copy_staged", 0, 1, 20e-6, 25e9, SIZES);
	struct profile *profile = fitted(curve);
	is_parameter(profile, "link.peer.staged.beta", 0, 1, 25e9, "ok");
	ok(profile->count == 2, "what the machine lacks is absent");
	profile_free(profile);
}

static void test_implausible(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	put_pair(curve, "copy", 0, 1, 8e-6, 1e14, SIZES);
	put_pair(curve, "both", 0, 1, 8e-6, 4e11, 2); /* two points make no line */
	const struct arg args[] = {{"bytes", 1 << 21}, {"from", 0}, {"to", 1}};
	put(curve, "latency", args, ARRAY_LEN(args), 2e-9);
	struct profile *profile = fitted(curve);
	is_parameter(profile, "link.peer.alpha", 0, 1, 8e-6, "ok");
	is_parameter(profile, "link.peer.beta", 0, 1, 1e14, "failed");
	is_parameter(profile, "link.peer.both.beta", 0, 1, NAN, "failed");
	is_parameter(profile, "link.peer.latency", 0, 1, 2e-9, "failed");
	profile_free(profile);
}

int main(void)
{
	test_known();
	test_empty();
	test_staged_only();
	test_implausible();
	return finish();
}
