/* SPDX-License-Identifier: MIT */
/* `trace --gpus`: a timeline for each GPU of a simulated factorization over several. */
#include "trace_result.h"

#include "factor/model/predictions/model_several.h"
#include "factor/validation/trace_file.h"
#include "lib/base/msg.h"
#include "lib/base/wrap.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct lanes {
	struct timeline **timeline;
	char **title;
	int gpus;
};

static struct lanes lanes_new(int gpus)
{
	struct lanes l = {xcalloc((size_t)gpus, sizeof *l.timeline),
	        xcalloc((size_t)gpus, sizeof *l.title), gpus};

	for (int i = 0; i < gpus; i++)
		l.title[i] = xasprintf("GPU %d", i);
	return l;
}

static void lanes_free(struct lanes *l)
{
	for (int i = 0; i < l->gpus; i++) {
		timeline_free(l->timeline[i]);
		free(l->title[i]);
	}
	free(l->timeline);
	free(l->title);
}

static struct table *lanes_table(const struct lanes *l, const struct several_question *asked)
{
	struct table *table = trace_table_new();

	table_meta_set(table, "title", "%c%s %" PRId64 " x %" PRId64 "%s", (char)asked->precision,
	        asked->operation, asked->m, asked->n, math_title[asked->math]);
	table_meta_set(table, "nb", "%" PRId64, asked->nb);
	table_meta_set(table, "gpus", "%d", asked->gpus);
	for (int i = 0; i < l->gpus; i++)
		trace_table_add(table, l->title[i], l->timeline[i]);
	return table;
}

static void print(const struct lanes *l, const struct several_question *asked,
        const struct profile_context *c, size_t lines, FILE *out)
{
	double seconds = 0;

	fprintf(out, "%s\n", c->choice);
	for (int i = 0; i < l->gpus; i++) {
		fprintf(out, "\n");
		timeline_print(l->timeline[i], i ? 0 : lines, out);
		seconds = fmax(seconds, l->timeline[i]->seconds);
	}
	fprintf(out, "\n%d GPUs, blocks of %" PRId64 " columns: %.1f us, %.2f Tflop/s\n",
	        asked->gpus, asked->nb, seconds * 1e6,
	        model_factor_flops(asked->operation, (double)asked->m, (double)asked->n) / seconds /
	                1e12);
}

void trace_several(const struct several_question *asked, const struct trace_output *to,
        const struct profile_context *c)
{
	struct lanes l = lanes_new(asked->gpus);
	struct fault fault;

	if (!model_several_trace(
	            c->profile, asked, (const char *const *)l.title, l.timeline, &fault))
		msg_die(EXIT_MEASURE_FAILED, "%s", fault.text);
	trace_check_window(to, (const struct timeline *const *)l.timeline, (size_t)l.gpus);
	struct table *table = c->common.json || to->tsv ? lanes_table(&l, asked) : NULL;
	if (c->common.json) {
		profile_context_stamp(table, c);
		cli_write_json(table, "timeline");
	} else {
		FILE *out = wrap_open();
		print(&l, asked, c, to->lines, out);
		wrap_close(out, stdout);
	}
	if (to->tsv)
		table_save(table, "%s", to->tsv);
	trace_draw(to, (const struct timeline *const *)l.timeline, (size_t)l.gpus);
	table_free(table);
	lanes_free(&l);
}
