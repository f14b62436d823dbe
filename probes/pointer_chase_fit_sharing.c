/* SPDX-License-Identifier: MIT */
/* What SMs share: the partitions of L2 by the latency of its lines, and how many SMs use one cache
 * or TLB. */
#include "pointer_chase_fit_parts.h"

#include "../lib/msg.h"
#include "../lib/partition.h"
#include "../lib/sharing.h"

#include <stdlib.h>
#include <string.h>

/* ---- partitions ---- */

/* Lines are drawn anew by every process: each process has columns of its own. */
void chase_fit_partitions(const struct output *out)
{
	const struct table *curve = out->curve;
	size_t sms = 0, lines = 0, processes = 0;
	for (size_t row = 0; row < curve->row_count; ++row)
		if (strcmp(table_text(curve, row, "series"), "slice") == 0) {
			sms = (size_t)fmax((double)sms, table_real(curve, row, "sm") + 1);
			lines = (size_t)fmax((double)lines, table_real(curve, row, "line") + 1);
			processes = (size_t)fmax(
			        (double)processes, table_real(curve, row, "process") + 1);
		}
	const size_t items = lines * processes;
	if (sms == 0 || items == 0)
		return;
	double *seconds = xmalloc(sms * items * sizeof *seconds);
	int *group = xcalloc(sms, sizeof *group);
	for (size_t i = 0; i < sms * items; ++i)
		seconds[i] = NAN;
	for (size_t row = 0; row < curve->row_count; ++row)
		if (strcmp(table_text(curve, row, "series"), "slice") == 0) {
			const size_t sm = (size_t)table_real(curve, row, "sm");
			const size_t line = (size_t)table_real(curve, row, "line");
			const size_t process = (size_t)table_real(curve, row, "process");
			seconds[sm * items + process * lines + line] =
			        table_real(curve, row, "seconds");
		}
	const struct partition found = partition_find(seconds, sms, items, group);
	const struct parameter_spec spec = {.name = "gpu.l2.partitions",
	        .unit = "count",
	        .method = "SMs in groups by the latency of the same L2 lines",
	        .low = 1,
	        .high = 2};
	const double groups = found.groups;
	chase_add(out, &spec, NULL, 0,
	        found.groups > 0 ? (struct estimate){groups, groups, groups, sms * items}
	                         : (struct estimate){NAN, 1, 2, sms * items});
	if (found.groups == 2) {
		chase_add_time(out, "gpu.l2.near.latency", "lines of the SM's own partition",
		        quickest, found.near);
		chase_add_time(out, "gpu.l2.far.latency", "lines of the other partition",
		        found.near.low, found.far);
		for (size_t sm = 0; sm < sms; ++sm) {
			const struct parameter_spec map = {.name = "gpu.l2.partition",
			        .unit = "count",
			        .method = "group of the SM by the latency of L2 lines",
			        .low = -0.5,
			        .high = 1.5};
			const struct arg args[] = {{"sm", (double)sm}};
			const double side = group[sm];
			profile_add(out->profile, &map, args, 1,
			        (struct estimate){side, side, side, items}, out->busy);
		}
	}
	free(group);
	free(seconds);
}

/* ---- sharing ---- */

static struct estimate sharers(const struct output *out, const char *all_series, const char *series,
        const char *column, double stride)
{
	const struct table *curve = out->curve;
	const double sms = chase_attribute(curve, "gpu_sms");
	struct walk all = chase_read_walk(curve, all_series, "bytes", 0);
	struct walk alone = chase_read_walk(curve, series, column, stride);
	for (size_t i = 0; i < alone.n && stride > 0; ++i)
		alone.x[i] *= stride;
	const struct sharing_curve one = {alone.x, alone.seconds, alone.n};
	const struct sharing_curve each = {all.x, all.seconds, all.n};
	struct estimate found = sharing_fit(one, each, sms > 0 ? sms : 1024);
	/* a count: the one whole number in the interval */
	const double whole = ceil(found.low);
	if (found.samples > 0 && whole <= found.high && whole + 1 > found.high)
		found = (struct estimate){whole, whole, whole, found.samples};
	chase_walk_free(&all);
	chase_walk_free(&alone);
	return found;
}

void chase_fit_sharing(const struct output *out, const struct caches *caches, size_t tlbs)
{
	struct parameter_spec spec = {.unit = "count",
	        .method = "all SMs chasing private sets, against one alone",
	        .low = 0.5,
	        .high = 1e5};
	if (chase_has_series(out->curve, "all_ca")) {
		spec.name = "gpu.l1.shared_by";
		chase_add(out, &spec, NULL, 0,
		        caches->no_l1 ? unknown : sharers(out, "all_ca", "walk_ca", "bytes", 0));
	}
	if (chase_has_series(out->curve, "all_cg")) {
		spec.name = "gpu.l2.shared_by";
		chase_add(out, &spec, NULL, 0, sharers(out, "all_cg", "walk_cg", "bytes", 0));
	}
	double stride[STRIDES];
	const size_t strides = chase_strides(out->curve, "pages", stride);
	if (!chase_has_series(out->curve, "all_pages") || strides == 0 || tlbs == 0)
		return;
	/* one curve for all levels: it tells of one only */
	const struct estimate found =
	        tlbs == 1 ? sharers(out, "all_pages", "pages", "nodes", stride[0]) : unknown;
	spec.name = "gpu.tlb.shared_by";
	for (size_t k = 0; k < tlbs; ++k) {
		const struct arg args[] = {{"level", (double)(k + 1)}};
		chase_add(out, &spec, args, 1, found);
	}
}
