/* SPDX-License-Identifier: MIT */
/* Tuned sizes: the measured GPU has the measured table; other GPUs, and parts of one, have sizes by
 * the rule, and plans within what kernels and the device can do. */
#include "tests/tap.h"

#include "factor/algorithms/geqrf.h"
#include "factor/algorithms/plan_default.h"
#include "factor/algorithms/potrf.h"
#include "lib/base/msg.h"
#include "lib/base/architecture.h"
#include "lib/device/description.h"

#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

static const char *const operations[] = {"getrf", "geqrf", "potrf"};
static const int64_t orders[] = {1, 64, 500, 1024, 2048, 3000, 5000, 8192, 12345, 20000, 40000};

static void check_measured(void)
{
	const struct tuning *a = &tuning_hopper, b = tuning_for(a->device);
	struct tuning_device other = a->device;

	ok(memcmp(&a->gemm, &b.gemm, sizeof b.gemm) == 0 &&
	                memcmp(&a->rank, &b.rank, sizeof b.rank) == 0 &&
	                memcmp(&a->gemv, &b.gemv, sizeof b.gemv) == 0,
	        "the measured GPU has the measured sizes of kernels");
	ok(memcmp(&a->plan, &b.plan, sizeof b.plan) == 0 &&
	                memcmp(&a->layout, &b.layout, sizeof b.layout) == 0 &&
	                memcmp(&a->split, &b.split, offsetof(struct split_limits, half)) == 0,
	        "and of algorithms");
	other.l2_bytes *= 2;
	const struct tuning c = tuning_for(other);
	ok(memcmp(&a->gemv, &c.gemv, sizeof c.gemv) == 0,
	        "whatever its L2: it was measured with two sizes");
}

static void check_rule(void)
{
	const struct tuning *whole = &tuning_hopper;
	const struct tuning quarter = tuning_for(tuning_device_like(90, 33, 0));
	const struct tuning wider = tuning_for(tuning_device_like(100, 132, 100 << 20));

	ok(quarter.plan.beside == whole->plan.beside / 2 &&
	                quarter.layout.row_major == whole->layout.row_major / 2 &&
	                quarter.plan.in_double.getrf.from[0] ==
	                        whole->plan.in_double.getrf.from[0] / 2,
	        "a quarter of the multiprocessors: half of the lengths");
	ok(fabs(quarter.split.flops - whole->split.flops / 4) < 1 &&
	                quarter.gemm.edge_least == whole->gemm.edge_least / 4 &&
	                quarter.gemm.ahead_elements == whole->gemm.ahead_elements / 4,
	        "a quarter of the operations and of C's elements");
	ok(quarter.plan.qr_leaf_bytes == whole->plan.qr_leaf_bytes / 4 &&
	                quarter.gemv.large_bytes == whole->gemv.large_bytes,
	        "a quarter of the registers, with all of an unknown L2");
	ok(quarter.gemm.ahead_depth == whole->gemm.ahead_depth &&
	                quarter.split.use == whole->split.use &&
	                quarter.plan.in_single.getrf.narrowest ==
	                        whole->plan.in_single.getrf.narrowest,
	        "depths, ratios and widths stay");
	ok(wider.gemv.large_bytes == 2 * whole->gemv.large_bytes, "bytes of L2 go with its size");
	ok(wider.split.flops > whole->split.flops &&
	                wider.gemm.edge_least == whole->gemm.edge_least / 2 &&
	                wider.plan.beside == whole->plan.beside,
	        "each size goes with the rate of its own units");
}

static void check_architectures(void)
{
	ok(architecture_of(90)->fp32 == 128 && architecture_of(80)->fp32 == 64,
	        "an architecture that is known");
	ok(architecture_of(99) == architecture_of(90) &&
	                architecture_of(130) == architecture_of(120),
	        "else the last one before it");
	ok(architecture_of(60) == architecture_of(75), "or the first");
}

static bool any_panel(struct executor *e, struct matrix a)
{
	(void)e;
	(void)a;
	return true;
}

static int64_t leaf_most(enum operation operation)
{
	return operation == GETRF   ? DEFAULT_LU_LEAF
	       : operation == GEQRF ? GEQRF_LEAF_MAX
	                            : POTRF_WHOLE_LEAF;
}

/* The plan of a square for the executor's device; false when it is not one that kernels can run. */
static bool plan(struct executor *e, enum operation operation, int64_t n, enum precision precision,
        struct default_plan *out)
{
	plan_default(e, operation, n, n, precision, false, out);
	const struct plan *p = &out->plan;
	const bool clusters = e->tuning.device.max_cluster >= 16 || e->tuning.device.code >= 90;
	return plan_check(e, p) && p->leaf >= 16 && p->leaf <= leaf_most(operation) &&
	       plan_widest(p, n) <= 16 * 128 && (clusters || operation != GETRF || p->leaf <= 64);
}

/* Plans of all orders. A larger part of the device never has wider first blocks. */
static void check_device(struct executor *e, const char *name, struct tuning_device device)
{
	int64_t impossible = 0, wider = 0;
	struct default_plan chosen;
	const int most = device.sm_count;

	for (enum operation operation = GETRF; operation <= POTRF; operation++)
		for (size_t i = 0; i < 2 * ARRAY_LEN(orders); i++) {
			int64_t before = INT64_MAX, n = orders[i / 2];
			for (int sms = most < 4 ? most : most / 4; sms <= most; sms += most / 4) {
				device.sm_count = sms;
				e->tuning = tuning_for(device);
				impossible +=
				        !plan(e, operation, n, i % 2 ? DOUBLE : SINGLE, &chosen);
				wider += chosen.widths[0] > before;
				before = chosen.widths[0];
			}
			if (impossible + wider == 1)
				diag("%s of %" PRId64, operations[operation], n);
		}
	ok(impossible == 0, "%s: plans are possible", name);
	ok(wider == 0, "%s: with more multiprocessors blocks are not wider", name);
}

static void check_devices(struct executor *e)
{
	struct description d;
	glob_t found;

	if (glob("tests/devices/*", 0, NULL, &found) != 0)
		msg_die(1, "no tests/devices: run from the repository's root");
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *name = strrchr(found.gl_pathv[i], '/') + 1;
		if (!description_read(found.gl_pathv[i], &d))
			msg_die(1, "%s is no description", found.gl_pathv[i]);
		check_device(e, name,
		        (struct tuning_device){
		                (int)d.code, (int)d.code, (int)d.sms, (int)d.max_cluster, d.l2});
	}
	ok(found.gl_pathc >= 10, "%zu devices", found.gl_pathc);
	globfree(&found);
}

/* Leaves that suit panels of one cluster are chosen only where there are such clusters. */
static void check_clusters(struct executor *e)
{
	struct default_plan chosen;
	struct tuning_device small = tuning_hopper.device;

	e->tuning = tuning_for(small);
	ok(plan(e, GETRF, 16384, DOUBLE, &chosen) && chosen.plan.leaf == 32,
	        "leaves for panels of one cluster");
	small.max_cluster = 8;
	e->tuning = tuning_for(small);
	ok(plan(e, GETRF, 16384, DOUBLE, &chosen) && chosen.plan.leaf == 64,
	        "and not where clusters are smaller than the kernels'");
	ok(plan(e, GETRF, 4096, SINGLE, &chosen) && chosen.plan.leaf == DEFAULT_LU_LEAF,
	        "there panels of many multiprocessors have wide leaves");
	small.code = 80;
	e->tuning = tuning_for(small);
	ok(plan(e, GETRF, 4096, SINGLE, &chosen) && chosen.plan.leaf == 64,
	        "but not with code that lacks their kernel");
}

static void check_note(void)
{
	char note[TUNING_NOTE] = "";
	const struct tuning_device ampere = tuning_device_like(86, 28, 0),
	                           part = tuning_device_like(90, 16, 0);

	ok(!tuning_note(&tuning_hopper.device, note) && !note[0],
	        "nothing to say of the measured GPU");
	ok(tuning_note(&ampere, note) &&
	                strcmp(note, "tuned for compute capability 9.0 with 132 multiprocessors; "
	                             "this GPU has 8.6 with 28: sizes follow by rule") == 0,
	        "of another GPU: %s", note);
	ok(tuning_note(&part, note), "and of a part of one: %s", note);
}

int main(void)
{
	struct fault fault;
	struct executor *e = executor_host_new(&fault);
	const struct executor_ops *whole = e->ops;
	struct executor_ops some = *whole;

	some.resident_fits = any_panel;
	e->ops = &some;
	check_measured();
	check_rule();
	check_architectures();
	check_devices(e);
	check_clusters(e);
	check_note();
	e->ops = whole;
	executor_free(e);
	return finish();
}
