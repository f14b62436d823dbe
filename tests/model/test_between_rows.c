/* SPDX-License-Identifier: MIT */
/* Between the rows of a surface: rows of recorded machines that are left out, and read from the
 * others by the efficiency of their work. */
#include "model_profile.h"
#include "tests/tap.h"

#include "factor/model/cost/cost_blocks.h"
#include "factor/model/efficiency/efficiency.h"
#include "lib/base/msg.h"
#include "lib/profile/profile_row.h"
#include "lib/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 512 };

static double argument(const struct parameter *row, const char *name)
{
	for (size_t k = 0; k < row->arg_count; k++)
		if (strcmp(row->arg_name[k], name) == 0)
			return row->arg[k];
	return NAN;
}

static bool is_listed(double side, const double *sides, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (side == sides[i])
			return true;
	return false;
}

/* The median error of the rows with one of these values of m. */
static void left_out(
        const char *machine, const char *name, const double *sides, size_t count, double most)
{
	static const char *const axes[] = {"m", "n", "k"};
	struct profile *p = profile_open(machine), rest = {0};
	struct cost_reader *r = xcalloc(1, sizeof *r);
	double error[MOST];
	size_t rows = 0;

	for (size_t i = 0; i < p->count; i++)
		if (strcmp(p->row[i].name, name) != 0 ||
		        !is_listed(argument(&p->row[i], "m"), sides, count))
			profile_put(&rest, &p->row[i]);
	efficiency_prepare(&rest);
	cost_reader_start(r, &rest);
	r->hardware = efficiency_hardware_new(&rest);
	EACH_ROW (i, p, name) {
		const struct parameter *row = &p->row[i];
		const double at[] = {argument(row, "m"), argument(row, "n"), argument(row, "k")};
		if (!is_listed(at[0], sides, count) || rows == MOST)
			continue;
		error[rows++] = fabs(cost_surface(r, name, axes, at, 3) / row->estimate.value - 1);
	}
	const double median = rows > 0 ? stats_median(error, rows) : NAN;
	ok(median <= most, "%s of %s: %zu rows left out, median error %.1f %%, at most %g %%", name,
	        strrchr(machine, '/') + 1, rows, 100 * median, 100 * most);
	efficiency_hardware_free(r->hardware);
	free(r);
	profile_view_free(&rest);
	profile_free(p);
}

/* A matrix of 3/5 of L2, read again and again: along the columns it comes out of L2. */
static void near_l2(const char *machine)
{
	struct profile *p = profile_open(machine);
	struct cost_reader *r = xcalloc(1, sizeof *r);

	efficiency_prepare(p);
	cost_reader_start(r, p);
	r->hardware = efficiency_hardware_new(p);
	const double side = 32 * floor(sqrt(0.6 * cost_scalar(r, "gpu.l2.stated") / 4) / 32);
	struct matrix a = {NULL, 0, (int64_t)side, (int64_t)side, (int64_t)side, SINGLE};
	const struct cost along = cost_gemv(r, TRANSPOSED, a);
	const double reads = cost_surface1(r, "gpu.read.time", "bytes", cost_bytes(a));
	ok(fabs(cost_total(&along) / reads - 1) < 0.15,
	        "y = A^T x of 3/5 of L2 on %s takes as long as reading it, %.2f of %.2f us",
	        strrchr(machine, '/') + 1, 1e6 * cost_total(&along), 1e6 * reads);
	a.ld++;
	const struct cost off = cost_gemv(r, TRANSPOSED, a);
	ok(cost_total(&off) > 1.1 * cost_total(&along), "and longer off boundaries of 16 bytes");
	efficiency_hardware_free(r->hardware);
	free(r);
	profile_free(p);
}

/* Our gemv is launched early, which takes the host another time. */
static void early(void)
{
	struct profile *p = profile_open(RECORDED);
	struct cost_reader *r = xcalloc(1, sizeof *r);
	struct matrix a = {NULL, 0, 512, 512, 512, SINGLE};
	struct fault fault = {.text = ""};

	if (!profile_get(p, "gpu.launch.enqueue_pdl", NULL, 0).found)
		add_written(p, "gpu.launch.enqueue_pdl", 2e-6, 0);
	efficiency_prepare(p);
	cost_reader_start(r, p);
	r->hardware = efficiency_hardware_new(p);
	is_real(cost_gemv(r, PLAIN, a).enqueue, cost_scalar(r, "gpu.launch.enqueue_pdl"), 0,
	        "our gemv is queued as a programmatic launch");
	r->blas_only = true;
	ok(cost_gemv(r, PLAIN, a).enqueue != cost_scalar(r, "gpu.launch.enqueue_pdl"),
	        "the library's is not");
	efficiency_hardware_free(r->hardware);
	const double plain = profile_get(p, "gpu.launch.enqueue", NULL, 0).estimate.value,
	             programmatic =
	                     profile_get(p, "gpu.launch.enqueue_pdl", NULL, 0).estimate.value;
	ok(profile_set(p, "gpu.launch.enqueue=1.0us", &fault), "what if launches were cheaper");
	is_real(profile_get(p, "gpu.launch.enqueue_pdl", NULL, 0).estimate.value,
	        programmatic * 1e-6 / plain, 1e-12, "programmatic ones change in proportion");
	ok(profile_set(p, "gpu.launch.enqueue=0us", &fault) &&
	                profile_get(p, "gpu.launch.enqueue_pdl", NULL, 0).estimate.value == 0,
	        "launches without a cost: none has one");
	ok(profile_set(p, "gpu.launch.enqueue=3us", &fault), "and one again");
	is_real(profile_get(p, "gpu.launch.enqueue_pdl", NULL, 0).estimate.value, 3e-6, 1e-12,
	        "all have it");
	free(r);
	profile_free(p);
}

int main(void)
{
	static const double between[] = {1448, 2896, 5792, 11584}, middle[] = {4095},
	                    tall[] = {128};

	left_out(RECORDED, "gpu.gemm.s", between, ARRAY_LEN(between), 0.06);
	left_out(OTHER_RECORDED, "gpu.gemm.s", between, ARRAY_LEN(between), 0.06);
	left_out(RECORDED, "gpu.gemm_odd.d", middle, ARRAY_LEN(middle), 0.13);
	left_out(RECORDED, "gpu.gemm_tn.s", tall, ARRAY_LEN(tall), 0.08);
	early();
	near_l2(RECORDED);
	near_l2(OTHER_RECORDED);
	return finish();
}
