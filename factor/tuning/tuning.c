/* SPDX-License-Identifier: MIT */
/* The rule for devices without a measured table. A panel is a chain of dependent latencies, which
 * does not get shorter with more multiprocessors; the time of an update beside it is its operations
 * over the rate of the whole machine. So with r, the rate over that of the measured machine,
 *
 *   - numbers of operations, and products of two lengths, are multiplied by r;
 *   - lengths of a matrix, whose update has a length squared of operations a column, by sqrt(r);
 *   - bytes that stand for registers and tiles that stand for resident blocks go with the number of
 *     multiprocessors, bytes that stand for L2 with its size.
 *
 * Rates are multiply-adds a cycle: of fp32, of fp64 (tensor cores where there are), and of TF32 for
 * split operands. Depths, widths and ratios stay. */
#include "tuning.h"

#include "lib/base/architecture.h"
#include "lib/device/gpu.h"

#include <math.h>
#include <stdio.h>

/* This device's over those of the measured one. */
struct ratios {
	double single, wide, split, sms, l2;
};

static double wide_rate(const struct architecture *a)
{
	return a->fp64_tensor > a->fp64 ? a->fp64_tensor : a->fp64;
}

static struct ratios ratios_of(const struct tuning_device *device)
{
	const struct tuning_device *measured = &tuning_hopper.device;
	const struct architecture *a = architecture_of(device->capability),
	                          *b = architecture_of(measured->capability);
	const double sms = (double)device->sm_count / measured->sm_count;
	/* without units for split operands their products run on those of fp32 */
	const double tf32 = a->tf32 ? a->tf32 : a->fp32;

	return (struct ratios){.single = sms * a->fp32 / b->fp32,
	        .wide = sms * wide_rate(a) / wide_rate(b),
	        .split = sms * tf32 / b->tf32,
	        .sms = sms,
	        .l2 = device->l2_bytes ? (double)device->l2_bytes / (double)measured->l2_bytes : 1};
}

static void scale(int64_t *const *value, size_t count, double by)
{
	for (size_t i = 0; i < count; i++)
		*value[i] = *value[i] ? max_int64(1, llround((double)*value[i] * by)) : 0;
}
#define SCALE(by, ...)                                                                             \
	scale((int64_t *const[]){__VA_ARGS__},                                                     \
	        sizeof((int64_t *const[]){__VA_ARGS__}) / sizeof(int64_t *), by)

static void scale_widths(struct width_rules *rules, double by)
{
	struct width_rule *const rule[] = {&rules->getrf, &rules->geqrf, &rules->potrf};

	for (size_t i = 0; i < ARRAY_LEN(rule); i++)
		for (int k = 0; k < TUNING_DOUBLINGS; k++)
			SCALE(by, &rule[i]->from[k]);
}

static void scale_gemm(struct gemm_tuning *g, const struct ratios *r)
{
	SCALE(r->single, &g->ahead_elements, &g->ahead_elements_large, &g->ahead_tall_rows,
	        &g->transposed_from);
	SCALE(r->wide, &g->ahead_double_rows, &g->ahead_triangle, &g->chosen_elements_plain,
	        &g->edge_least);
	SCALE(sqrt(r->wide), &g->ahead_order, &g->chosen_side, &g->halved_order);
}

static void scale_split(struct split_limits *s, double by)
{
	s->flops *= by;
	s->symmetric *= by;
	s->half_symmetric *= by;
	SCALE(sqrt(by), &s->together, &s->apart);
}

static bool is_measured(const struct tuning_device *device)
{
	return device->capability == tuning_hopper.device.capability &&
	       device->sm_count == tuning_hopper.device.sm_count;
}

struct tuning tuning_for(struct tuning_device device)
{
	const struct architecture *a = architecture_of(device.capability);
	const struct ratios r = ratios_of(&device);
	struct tuning t = tuning_hopper;

	t.device = device;
	if (is_measured(&device))
		return t;
	t.gemm.multiply_adds[0] = a->fp32;
	t.gemm.multiply_adds[1] = wide_rate(a);
	scale_gemm(&t.gemm, &r);
	scale_split(&t.split, r.split);
	SCALE(r.sms, &t.rank.tiles[0], &t.rank.tiles[1], &t.rank.tiles_deep, &t.plan.qr_leaf_bytes);
	SCALE(r.l2, &t.gemv.large_bytes, &t.gemv.large_uneven_bytes, &t.gemv.large_long_bytes);
	scale_widths(&t.plan.in_single, sqrt(r.single));
	scale_widths(&t.plan.in_double, sqrt(r.wide));
	scale_widths(&t.plan.by_splits, sqrt(r.split));
	scale_widths(&t.plan.on_host, sqrt(r.single));
	SCALE(sqrt(r.single), &t.plan.beside, &t.layout.row_major, &t.layout.column_major,
	        &t.layout.aligned_from, &t.layout.deferred_from);
	SCALE(sqrt(r.split), &t.plan.few_panels, &t.plan.waiting);
	SCALE(sqrt(r.wide), &t.plan.short_corners);
	return t;
}

struct tuning_device tuning_device_of(const struct gpu *gpu)
{
	return (struct tuning_device){.capability = 10 * gpu->major + gpu->minor,
	        .code = gpu->code,
	        .sm_count = gpu->sm_count,
	        .max_cluster = gpu->max_cluster,
	        .l2_bytes = gpu->l2_bytes};
}

struct tuning_device tuning_device_like(int capability, int sm_count, int64_t l2_bytes)
{
	return (struct tuning_device){.capability = capability,
	        .code = capability,
	        .sm_count = sm_count,
	        .max_cluster = architecture_of(capability)->max_cluster,
	        .l2_bytes = l2_bytes};
}

bool tuning_note(const struct tuning_device *device, char note[TUNING_NOTE])
{
	const struct tuning_device *measured = &tuning_hopper.device;

	if (is_measured(device))
		return false;
	snprintf(note, TUNING_NOTE,
	        "tuned for compute capability %d.%d with %d multiprocessors; this GPU has %d.%d "
	        "with %d: sizes follow by rule",
	        measured->capability / 10, measured->capability % 10, measured->sm_count,
	        device->capability / 10, device->capability % 10, device->sm_count);
	return true;
}
