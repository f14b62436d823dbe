/* SPDX-License-Identifier: MIT */
/* Predictions over several GPUs: ranks meet at broadcasts, links cost what the profile says, and
 * one GPU is one GPU. On the recorded machine with two. */
#include "tests/tap.h"

#include "factor/algorithms/plan_default.h"
#include "factor/model/predictions/model_factor.h"
#include "factor/model/predictions/model_several.h"
#include "factor/model/simulation/model_ranks.h"
#include "lib/device/machine.h"
#include "lib/profile/profile_row.h"
#include "lib/stats/estimate.h"

#include <math.h>
#include <string.h>

static const char *const operations[] = {"getrf", "geqrf", "potrf"};

static struct several_question ask(const char *operation, int64_t n, int gpus)
{
	return (struct several_question){.operation = operation,
	        .m = n,
	        .n = n,
	        .nb = 256,
	        .precision = SINGLE,
	        .gpus = gpus,
	        .hosts = 1};
}

static struct several_prediction predicted_with(
        const struct profile *p, struct several_question asked, bool interval)
{
	struct several_prediction out;

	if (!model_several_predict(p, &asked, interval, &out))
		diag("%s: %s", asked.operation, out.whole.fault.text);
	return out;
}

static struct several_prediction predicted(const struct profile *p, struct several_question asked)
{
	return predicted_with(p, asked, false);
}

static struct profile *changed(const struct profile *p, const char *const *set)
{
	struct profile *copy = profile_copy(p);
	struct fault fault;

	for (; *set; set++)
		if (!profile_set(copy, *set, &fault))
			diag("%s", fault.text);
	return copy;
}

/* ---- ranks ---- */

static struct matrix shape(int64_t m, int64_t n)
{
	return (struct matrix){.m = m, .n = n, .ld = m, .precision = SINGLE};
}

static void update(struct executor *e, int64_t k)
{
	ex_gemm(e, PLAIN, PLAIN, -1, shape(4096, k), shape(k, 4096), 1, shape(4096, 4096));
}

/* The end of the last entry of a lane that did so. */
static double end_of(struct executor *e, enum lane lane, const char *operation)
{
	struct timeline *t = executor_model_timeline(e, "");
	double end = 0;

	for (size_t i = 0; i < t->count; i++)
		if (t->entry[i].lane == lane && strcmp(t->entry[i].operation, operation) == 0)
			end = fmax(end, t->entry[i].end);
	timeline_free(t);
	return end;
}

static void test_ranks(const struct profile *p)
{
	const enum lane main = LANE_QUEUE + (enum lane)QUEUE_MAIN,
	                panel = LANE_QUEUE + (enum lane)QUEUE_PANEL;
	const struct comm_piece piece = {NULL, 1 << 20, 1};
	struct executor *first = executor_model_new(p, MODEL_CUDA, 2);
	struct model_ranks *ranks = model_ranks_new(first, 2, 1);
	struct executor *second = model_ranks_executor(ranks, 1);

	update(first, 64);
	first->queue = QUEUE_PANEL;
	comm_broadcast(model_ranks_comm(ranks, 0), first, 0, &piece, 1, "piece", 0);
	update(first, 64);
	second->queue = QUEUE_PANEL;
	update(second, 8192); /* the root comes late */
	comm_broadcast(model_ranks_comm(ranks, 1), second, 0, &piece, 1, "piece", 0);
	ok(model_ranks_meet(ranks), "both meet");
	const double sent = end_of(second, panel, "gemm"),
	             there = end_of(first, panel, "broadcast");
	ok(there > sent && there < sent + 100e-6 && there == end_of(second, panel, "broadcast"),
	        "a broadcast ends on both ranks at once, after its root has it: %.1f us, %.1f us",
	        there * 1e6, sent * 1e6);
	ok(end_of(first, panel, "gemm") > there, "what is behind it waits");
	ok(end_of(first, main, "gemm") < sent / 10, "another queue does not");

	model_ranks_restart(ranks);
	comm_broadcast(model_ranks_comm(ranks, 0), first, 0, &piece, 1, "piece", 0);
	ok(!model_ranks_meet(ranks) && strstr(first->fault.text, "broadcasts"), "refused: %s",
	        first->fault.text);
	model_ranks_free(ranks);
	executor_free(first);
}

/* ---- factorizations ---- */

static void test_one(const struct profile *p, const char *operation)
{
	const int64_t n = 4096;
	struct factor_question one = {
	        .operation = operation, .m = n, .n = n, .precision = SINGLE, .uplo = LOWER};
	struct executor *e = model_factor_executor(p, MODEL_CUDA, &one, 2);
	struct default_plan chosen;
	struct prediction alone;

	plan_default(e,
	        strcmp(operation, "getrf") == 0   ? GETRF
	        : strcmp(operation, "geqrf") == 0 ? GEQRF
	                                          : POTRF,
	        n, n, SINGLE, false, &chosen);
	executor_free(e);
	one.plan = &chosen.plan;
	model_factor_predict(p, MODEL_CUDA, &one, 2, &alone);
	const struct several_prediction out = predicted_with(p, ask(operation, n, 1), true);
	ok(out.whole.seconds == alone.seconds && out.whole.low == alone.low,
	        "%s on one GPU is that of one GPU", operation);
}

static void test_links(const struct profile *p, const char *operation)
{
	static const char *const free_link[] = {
	        "link.nccl.broadcast.alpha=1e-9", "link.nccl.broadcast.beta=1e18", NULL};
	static const char *const dear_link[] = {"link.nccl.broadcast.beta=1e9", NULL};
	struct profile *nothing = changed(p, free_link), *dear = changed(p, dear_link);
	const struct several_question asked = ask(operation, 8192, 2);
	const struct several_prediction one = predicted(p, ask(operation, 8192, 1)),
	                                here = predicted_with(p, asked, true),
	                                again = predicted_with(p, asked, true),
	                                least = predicted(nothing, asked),
	                                most = predicted(dear, asked);

	ok(here.whole.seconds == again.whole.seconds && here.whole.low == again.whole.low &&
	                here.whole.high == again.whole.high,
	        "%s: the same answer twice", operation);
	ok(here.whole.low < here.whole.seconds && here.whole.seconds < here.whole.high,
	        "an interval around it");
	ok(least.whole.seconds < here.whole.seconds, "without the link's cost it is faster");
	ok(least.whole.seconds * 2 > one.whole.seconds,
	        "but two GPUs are at most twice as fast as one: %.2f",
	        one.whole.seconds / least.whole.seconds);
	ok(most.whole.seconds > 2 * here.whole.seconds &&
	                most.share[SHARE_BROADCASTS] > most.share[SHARE_UPDATES],
	        "a dear link makes it slow, and its broadcasts are what it waits for");
	is_real(here.share[SHARE_UPDATES] + here.share[SHARE_PANELS] +
	                here.share[SHARE_BROADCASTS] + here.share[SHARE_HOST],
	        1, 1e-9, "the parts are the whole");
	ok(here.bytes > 8192.0 * 4096 * 4 && here.bytes < one.bytes,
	        "a GPU needs more than its half, and less than one alone");
	profile_free(nothing);
	profile_free(dear);
}

static void add_row(struct profile *p, const char *name, double bytes, double seconds)
{
	const struct parameter_spec spec = {.name = name, .unit = "s", .method = "made up"};
	const struct arg args[] = {{"gpus", 2}, {"bytes", bytes}};

	profile_add(p, &spec, args, bytes > 0 ? 2 : 1,
	        (struct estimate){seconds, seconds, seconds, 9}, false);
}

/* In the queues, and put there by the host: as measured there, where it was. */
static void test_queued(const struct profile *p)
{
	struct profile *queued = profile_copy(p), *put = profile_copy(p);
	const struct several_question asked = ask("getrf", 4096, 2);
	const double before = predicted(p, asked).whole.seconds, blocks = 4096 / (double)asked.nb;

	for (double bytes = 4; bytes < 1e9; bytes *= 4)
		add_row(queued, "link.nccl.broadcast.queued", bytes, 200e-6 + bytes / 300e9);
	const double longer = predicted(queued, asked).whole.seconds - before;
	ok(longer > 100e-6 * blocks && longer < 300e-6 * blocks,
	        "%.0f broadcasts of 0.2 ms more in the queues: %.0f us longer", blocks,
	        longer * 1e6);
	add_row(put, "link.nccl.enqueue", 0, 1e-3);
	ok(predicted(put, asked).whole.seconds > 0.5e-3 * blocks,
	        "broadcasts that the host puts in a millisecond each");
	profile_free(queued);
	profile_free(put);
}

/* The host reads pivots or info, and a word of errors, when all is done. */
static void test_end(const struct profile *p, const char *operation)
{
	static const char *const dear[] = {"link.d2h.pageable.alpha=1e-3", NULL};
	struct profile *slow = changed(p, dear);
	const struct several_question asked = ask(operation, 2048, 2);
	const double longer =
	        predicted(slow, asked).whole.seconds - predicted(p, asked).whole.seconds;
	const double copies = strcmp(operation, "geqrf") == 0 ? 0 : 2;

	ok(fabs(longer - copies * 1e-3) < 50e-6, "%s ends with %g copies to the host", operation,
	        copies);
	profile_free(slow);
}

static void test_more(const struct profile *p)
{
	struct several_question asked = ask("getrf", 32768, 2);
	const struct several_prediction two = predicted(p, asked);

	asked.gpus = 8;
	const struct several_prediction eight = predicted(p, asked);
	ok(eight.whole.seconds < two.whole.seconds && eight.whole.seconds > two.whole.seconds / 4,
	        "eight GPUs are faster than two at 32768 columns, not more than 4 times: %.2f",
	        two.whole.seconds / eight.whole.seconds);
	asked.hosts = 8;
	const struct several_prediction apart = predicted(p, asked);
	ok(apart.whole.seconds > eight.whole.seconds, "in eight hosts they are slower");
	asked.memory = (eight.bytes + (double)asked.n * (double)asked.n / 8 * 4) / 2;
	const struct several_prediction tight = predicted(p, asked);
	ok(tight.no_copy && tight.bytes < eight.bytes && !eight.no_copy,
	        "LU does without its copy where memory is short");
	asked = ask("potrf", 8192, 4);
	asked.nb = 0;
	const int64_t nb = predicted(p, asked).nb;
	ok(nb >= 128 && nb <= 1024, "a width of its own choice: %d", (int)nb);
}

static bool is_link(const struct parameter *row, const void *context)
{
	(void)context;
	return strncmp(row->name, "link.nccl.", 10) == 0 ||
	       strncmp(row->name, "link.peer.", 10) == 0;
}

static bool is_hop(const struct parameter *row, const void *context)
{
	(void)context;
	return strcmp(row->name, "link.nccl.hop") == 0;
}

static size_t assumptions_read(const struct profile *p)
{
	size_t count = 0;

	for (size_t i = 0; i < p->count; i++)
		count += p->row[i].read && model_several_assumed(&p->row[i]);
	return count;
}

static void test_assumptions(void)
{
	struct profile *p = profile_open(machine_data_named("nvidia-h200-x2")),
	               *bare = profile_copy(p);
	struct several_prediction out;
	const struct several_question two = ask("potrf", 2048, 2), four = ask("potrf", 2048, 4);
	const struct parameter_spec hop = {
	        .name = "link.nccl.hop", .unit = "s", .method = "made up"};

	model_several_assume(p);
	predicted(p, two);
	ok(assumptions_read(p) == 0, "two GPUs rest on what was measured with two");
	predicted(p, four);
	ok(assumptions_read(p) == 1, "four rest on an assumption, too");
	profile_remove_if(p, is_hop, NULL);
	profile_add_bounded(p, &hop, NULL, 0, 0, 1e-6, 9);
	ok(!model_several_predict(p, &four, false, &out), "not on a row that was not resolved");
	model_several_assume(p);
	ok(predicted(p, four).whole.seconds > 0, "which the assumption replaces");
	profile_remove_if(bare, is_link, NULL);
	ok(!model_several_predict(bare, &two, false, &out) && strstr(out.whole.fault.text, "link."),
	        "no link, no answer: %s", out.whole.fault.text);
	model_several_assume(bare);
	ok(predicted(bare, two).whole.seconds > 0 && assumptions_read(bare) == 2,
	        "with assumptions there is one");
	profile_free(p);
	profile_free(bare);
}

/* Twice the time of a call under lasting load, which here begins after a millisecond. */
static void test_lasting(const struct profile *p, const char *operation)
{
	const struct parameter_spec spec = {"gpu.lasting.s", "ratio", "made up", "library", 0, 0};
	const struct several_question two = ask(operation, 8192, 2);
	struct profile *lasting = profile_copy(p);

	for (int i = 1; i <= 2; i++)
		profile_add(lasting, &spec, &(struct arg){"seconds", 1e-3 * i}, 1,
		        estimate_exact(i, 9), false);
	const struct several_prediction clock = predicted(p, two), out = predicted(lasting, two);
	const double more = out.whole.seconds / clock.whole.seconds - 1;
	double shares = 0;
	for (int s = 0; s < SHARES; s++)
		shares += out.share[s];
	ok(more > 0.7 * clock.share[SHARE_UPDATES] && more < 1,
	        "%s on two GPUs: %.2f longer, of which updates were %.2f", operation, more,
	        clock.share[SHARE_UPDATES]);
	is_real(shares, 1, 1e-9, "its shares sum to 1");
	ok(out.share[SHARE_UPDATES] > clock.share[SHARE_UPDATES],
	        "updates have the time that is added: %.2f", out.share[SHARE_UPDATES]);
	profile_free(lasting);
}

int main(void)
{
	struct profile *p = profile_open(machine_data_named("nvidia-h200-x2"));

	model_several_assume(p);
	test_ranks(p);
	for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
		test_one(p, operations[i]);
		test_links(p, operations[i]);
		test_lasting(p, operations[i]);
		test_end(p, operations[i]);
	}
	test_queued(p);
	test_more(p);
	test_assumptions();
	profile_free(p);
	return finish();
}
