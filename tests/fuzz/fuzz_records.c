/* SPDX-License-Identifier: MIT */
/* Records of other kinds: timelines of a factorization, and tables of QR updating. */
#include "fuzz.h"

#include "factor/validation/papers/kerr_rows.h"
#include "factor/validation/trace_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fault fault = {.text = ""};
	const char *path = fuzz_file(data, size);
	struct table *table = table_read(path, &fault);
	struct kerr_rows *rows = kerr_rows_read(path, &fault);

	fuzz_require((table && rows) || fault.text[0]);
	struct timeline *timeline =
	        table ? trace_table_timeline(table, "measured", "fuzzed", &fault) : NULL;
	if (timeline) {
		struct step step[16];
		const struct timeline *drawn = timeline;
		double busy[PHASE_COUNT];
		timeline_expose(timeline);
		timeline_steps(timeline, step, ARRAY_LEN(step));
		timeline_busy(timeline, busy);
		timeline_print(timeline, 20, stdout);
		timeline_draw(&drawn, 1, 0, 0, stdout);
		timeline_free(timeline);
	}
	kerr_rows_free(rows);
	table_free(table);
	return 0;
}
