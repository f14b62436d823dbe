/* SPDX-License-Identifier: MIT */
/* The panel_kernel probe's fit: every point becomes a row of its surface; columns with two passes
 * are a surface of their own. */
#include "factor/calibration/panel_kernel/panel_kernel.h"
#include "tests/fit_test.h"

int main(void)
{
	static const char *const columns[] = {"m", "blocks", "n", "rows", "threads", "bytes"};
	static const struct timed_point points[] = {{"step_s[m=512,n=32]", 3e-6},
	        {"pivot_d[m=512,n=32]", 2e-6}, {"column_s[blocks=8,n=64,rows=128]", 2e-6},
	        {"column_s[blocks=8,n=64,rows=384]", 2.5e-6},
	        {"shared_update[threads=256,bytes=131072]", 1e-6}};
	static const struct expected_row rows[] = {{"gpu.panel.step.s[m=512,n=32]", 3e-6, NULL},
	        {"gpu.panel.pivot.d[m=512,n=32]", 2e-6, NULL},
	        {"gpu.panel.column.s[blocks=8,n=64]", 2e-6, NULL},
	        {"gpu.panel.twice.s[n=64]", 2.5e-6, NULL},
	        {"gpu.shared.update[threads=256]", 131072e6, NULL},
	        {"gpu.panel.step.d", 0, "absent"}};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	add_points(curve, points, ARRAY_LEN(points));
	struct profile *profile = profile_of(panel_kernel_fit, curve);
	is_rows(profile, rows, ARRAY_LEN(rows));
	is_text(row_of(profile, "gpu.panel.twice.s")->regime, "calibrated",
	        "steps are of our kernels");
	profile_free(profile);
	return finish();
}
