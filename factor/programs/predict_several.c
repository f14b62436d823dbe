/* SPDX-License-Identifier: MIT */
/* `predict getrf|geqrf|potrf`: one factorization, over GPUs that need not be at hand. */
#include "predict.h"

#include "factor/executors/split.h"
#include "factor/model/predictions/model_factor.h"
#include "factor/model/predictions/model_several.h"
#include "lib/base/msg.h"
#include "lib/base/wrap.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct answer {
	const struct profile_context *context;
	struct several_question asked;
	struct several_prediction several, one;
	bool fits;
	double flops;
	char *measured, *assumed; /* rows of links that were read */
	double counted;           /* GPUs with which the links were measured; 0: none */
};

/* ---- the question ---- */

enum { MOST_COLUMNS = 4000000, MOST_GPUS = 4096, MOST_BLOCKS = 100000 /* times GPUs */ };

void several_check(struct several_request *r, char *const *operands)
{
	static const char *const operations[] = {"getrf", "geqrf", "potrf"};
	static const char *const precisions[] = {"s", "d"};
	struct several_question *q = &r->asked;

	if (operands[1])
		msg_die(EXIT_BAD_USAGE, "one factorization at a time: predict getrf --n 65536 "
		                        "--gpus 8");
	q->operation = operations[profile_context_word(operands[0], operations, 3, "operation")];
	if (q->n == 0)
		msg_die(EXIT_BAD_USAGE, "give the size of the matrix: --n COLUMNS");
	if (q->m == 0)
		q->m = q->n;
	if (strcmp(q->operation, "potrf") == 0 && q->m != q->n)
		msg_die(EXIT_BAD_USAGE, "a matrix for Cholesky is square: leave --m out");
	q->precision =
	        profile_context_word(r->precision, precisions, 2, "precision") ? DOUBLE : SINGLE;
	if (!math_find(r->math, &q->math))
		msg_die(EXIT_BAD_USAGE, "math '%s': fp32, 3xtf32, 3xfp16 are known", r->math);
	if (q->precision == DOUBLE && q->math != MATH_FP32)
		msg_die(EXIT_BAD_USAGE, "double precision has no %s: leave --math out", r->math);
	q->gpus = (int)r->gpus;
	q->hosts = (int)r->hosts;
	if (q->gpus % q->hosts != 0)
		msg_die(EXIT_BAD_USAGE, "%d GPUs in %d hosts: give as many to each host", q->gpus,
		        q->hosts);
	if (q->m > MOST_COLUMNS || q->n > MOST_COLUMNS)
		msg_die(EXIT_BAD_USAGE,
		        "%" PRId64 " x %" PRId64 ": up to %d rows or columns are simulated", q->m,
		        q->n, MOST_COLUMNS);
	const int64_t nb = q->nb ? q->nb : 256;
	if ((min_int64(q->m, q->n) + nb - 1) / nb * q->gpus > MOST_BLOCKS)
		msg_die(EXIT_BAD_USAGE,
		        "%" PRId64 " blocks of %" PRId64 " columns on %d GPUs: up to %d blocks "
		        "times GPUs are simulated; give a larger --nb",
		        (min_int64(q->m, q->n) + nb - 1) / nb, nb, q->gpus, MOST_BLOCKS);
}

/* ---- what it rests on ---- */

static void add_word(char **text, const char *format, ...) PRINTF_LIKE(2, 3);
static void add_word(char **text, const char *format, ...)
{
	char word[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(word, sizeof word, format, arguments);
	va_end(arguments);
	char *longer = *text ? xasprintf("%s, %s", *text, word) : xstrdup(word);
	free(*text);
	*text = longer;
}

/* Of the rows of links that were read: one word for each name. */
static void list_links(struct answer *a)
{
	const struct profile *p = a->context->profile;

	for (size_t i = 0; i < p->count; i++) {
		const struct parameter *row = &p->row[i];
		char value[32];
		double low, high;
		if (!row->read || (strncmp(row->name, "link.nccl.", 10) != 0 &&
		                          strncmp(row->name, "link.peer.", 10) != 0 &&
		                          strncmp(row->name, "link.network.", 13) != 0))
			continue;
		cli_format_quantity(value, sizeof value, row->estimate.value, row->unit);
		if (model_several_assumed(row)) {
			add_word(&a->assumed, "%s = %s (%s)", row->name, value,
			        row->method + strlen("assumed: "));
			continue;
		}
		if (strcmp(row->method, "--set") == 0) {
			add_word(&a->assumed, "%s = %s (--set)", row->name, value);
			continue;
		}
		if (a->measured && strstr(a->measured, row->name))
			continue;
		if (profile_range(p, row->name, "gpus", &low, &high)) {
			a->counted = fmax(a->counted, high);
			add_word(&a->measured, "%s (%g GPUs of a host)", row->name, high);
		} else {
			add_word(&a->measured, "%s (copies)", row->name);
		}
	}
}

/* Whether the links of that many GPUs were not measured. */
static bool extrapolated(const struct answer *a)
{
	return a->asked.gpus > 1 &&
	       (a->assumed || a->asked.hosts > 1 || a->asked.gpus > a->counted);
}

/* ---- text ---- */

static enum several_share limiter(const struct several_prediction *p)
{
	enum several_share most = 0;

	for (int s = 0; s < SHARES; s++)
		if (p->share[s] > p->share[most])
			most = (enum several_share)s;
	return most;
}

static void print_speedup(const struct answer *a, FILE *out)
{
	char one[32], bytes[32], memory[32];

	if (a->asked.gpus == 1)
		return;
	cli_format_quantity(one, sizeof one, a->one.whole.seconds, "s");
	cli_format_quantity(bytes, sizeof bytes, a->one.bytes, "B");
	cli_format_quantity(memory, sizeof memory, a->asked.memory, "B");
	if (!isnan(a->one.whole.seconds))
		fprintf(out, "speedup    %.2f over one GPU, which takes %s\n",
		        a->one.whole.seconds / a->several.whole.seconds, one);
	else if (a->one.bytes > a->asked.memory && a->asked.memory > 0)
		fprintf(out, "speedup    none: one GPU has %s, this needs %s there\n", memory,
		        bytes);
	else
		fprintf(out, "speedup    unknown: %s\n", a->one.whole.fault.text);
}

static void print_memory(const struct answer *a, FILE *out)
{
	char bytes[32], memory[32];

	cli_format_quantity(bytes, sizeof bytes, a->several.bytes, "B");
	cli_format_quantity(memory, sizeof memory, a->asked.memory, "B");
	if (!(a->asked.memory > 0))
		fprintf(out, "memory     %s a GPU; how much it has is not recorded\n", bytes);
	else
		fprintf(out, "memory     %s of a GPU's %s%s%s\n", bytes, memory,
		        a->fits ? "" : ": DOES NOT FIT, the time is of GPUs with more memory",
		        a->several.no_copy ? ", without LU's transposed copy, which does not fit"
		                           : "");
}

static void print_limits(const struct answer *a, FILE *out)
{
	const struct several_prediction *p = &a->several;

	if (a->asked.gpus == 1)
		return;
	fprintf(out, "limited by %s;", several_share_name[limiter(p)]);
	for (int s = 0; s < SHARES; s++)
		fprintf(out, "%s %s %.0f %%", s ? "," : "", several_share_name[s],
		        100 * p->share[s]);
	fprintf(out, " of the time\n");
}

static void print_basis(const struct answer *a, FILE *out)
{
	char simpler[512];

	model_simpler_text(&a->several.whole.model, simpler, sizeof simpler);
	if (simpler[0])
		fprintf(out, "rough      %s\n", simpler);
	if (a->asked.gpus == 1)
		return;
	fprintf(out, "\n%s\n",
	        extrapolated(a) ? "extrapolated: these links were not measured as they are here"
	                        : "links measured with as many GPUs");
	fprintf(out, "measured   %s; all else of one GPU\n", a->measured ? a->measured : "no link");
	if (a->assumed)
		fprintf(out, "assumed    %s; --set changes them\n", a->assumed);
	fprintf(out, "The interval is that of the profile's parameters alone.\n");
}

static void print_answer(const struct answer *a)
{
	const struct several_question *q = &a->asked;
	const struct prediction *p = &a->several.whole;
	char seconds[32], low[32], high[32], rate[32], each[32];
	FILE *out = wrap_open();

	fprintf(out, "%c%s %" PRId64 " x %" PRId64 "%s, %d GPU%s in %d host%s", (char)q->precision,
	        q->operation, q->m, q->n, math_title[q->math], q->gpus, q->gpus > 1 ? "s" : "",
	        q->hosts, q->hosts > 1 ? "s" : "");
	if (a->several.nb)
		fprintf(out, ", blocks of %" PRId64 " columns%s", a->several.nb,
		        q->nb ? "" : " (the fastest)");
	else
		fputs(", by libfathom's default plan", out);
	fprintf(out, "\n%s\n\n", a->context->choice);
	fprintf(out, "time       %s (%s .. %s)\n",
	        cli_format_quantity(seconds, sizeof seconds, p->seconds, "s"),
	        cli_format_quantity(low, sizeof low, p->low, "s"),
	        cli_format_quantity(high, sizeof high, p->high, "s"));
	fprintf(out, "rate       %s, %s a GPU\n",
	        cli_format_quantity(rate, sizeof rate, a->flops / p->seconds, "flop/s"),
	        cli_format_quantity(each, sizeof each, a->flops / p->seconds / q->gpus, "flop/s"));
	print_speedup(a, out);
	print_limits(a, out);
	print_memory(a, out);
	print_basis(a, out);
	wrap_close(out, stdout);
}

/* ---- table ---- */

static struct table *answer_table(const struct answer *a)
{
	static const char *const columns[] = {"operation", "precision", "math", "m", "n", "nb",
	        "gpus", "hosts", "seconds", "low", "high", "gflops", "one_seconds", "speedup",
	        "updates", "panels", "broadcasts", "host", "limiter", "bytes", "memory_bytes",
	        "fits", "regime", "extrapolated", "measured", "assumed", "reason"};
	const struct several_question *q = &a->asked;
	const struct prediction *p = &a->several.whole;
	struct table *t = table_new(columns, ARRAY_LEN(columns));
	const char precision[] = {(char)q->precision, 0};
	const size_t r = table_add_row(t);
	char simpler[512];

	table_set_text(t, r, "operation", q->operation);
	table_set_text(t, r, "precision", precision);
	table_set_text(t, r, "math", q->precision == DOUBLE ? "fp64" : math_name[q->math]);
	table_set_int(t, r, "m", q->m);
	table_set_int(t, r, "n", q->n);
	if (a->several.nb)
		table_set_int(t, r, "nb", a->several.nb);
	table_set_int(t, r, "gpus", q->gpus);
	table_set_int(t, r, "hosts", q->hosts);
	table_set_real(t, r, "seconds", p->seconds);
	table_set_real(t, r, "low", p->low);
	table_set_real(t, r, "high", p->high);
	table_set_real(t, r, "gflops", a->flops / p->seconds / 1e9);
	if (q->gpus > 1 && !isnan(a->one.whole.seconds)) {
		table_set_real(t, r, "one_seconds", a->one.whole.seconds);
		table_set_real(t, r, "speedup", a->one.whole.seconds / p->seconds);
	}
	for (int s = 0; s < SHARES && q->gpus > 1; s++)
		table_set_real(t, r, several_share_name[s], a->several.share[s]);
	if (q->gpus > 1)
		table_set_text(t, r, "limiter", several_share_name[limiter(&a->several)]);
	table_set_real(t, r, "bytes", a->several.bytes);
	if (q->memory > 0) {
		table_set_real(t, r, "memory_bytes", q->memory);
		table_set_int(t, r, "fits", a->fits);
	}
	table_set_text(t, r, "regime", regime_of_both(p->model.regime, NULL));
	table_set_int(t, r, "extrapolated", extrapolated(a));
	table_set_text(t, r, "measured", a->measured ? a->measured : "");
	table_set_text(t, r, "assumed", a->assumed ? a->assumed : "");
	model_simpler_text(&p->model, simpler, sizeof simpler);
	table_set_text(t, r, "reason", simpler);
	return t;
}

/* ---- the answer ---- */

void predict_several(const struct several_request *r, const struct profile_context *c)
{
	struct answer a = {.context = c, .asked = r->asked};

	a.asked.memory = profile_context_memory(c);
	a.flops = model_factor_flops(a.asked.operation, (double)a.asked.m, (double)a.asked.n);
	if (!model_several_predict(c->profile, &a.asked, true, &a.several))
		msg_die(a.several.whole.fault.refused ? EXIT_NOT_POSSIBLE : EXIT_MEASURE_FAILED,
		        "%s", a.several.whole.fault.text);
	list_links(&a);
	struct several_question alone = a.asked;
	alone.gpus = alone.hosts = 1;
	a.one = a.several;
	if (a.asked.gpus > 1)
		model_several_predict(c->profile, &alone, false, &a.one);
	a.fits = !(a.several.bytes > a.asked.memory);
	if (c->common.json) {
		struct table *table = answer_table(&a);
		profile_context_stamp(table, c);
		cli_write_json(table, "several");
		table_free(table);
	} else {
		print_answer(&a);
	}
	free(a.measured);
	free(a.assumed);
}
