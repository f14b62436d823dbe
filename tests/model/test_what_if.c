/* SPDX-License-Identifier: MIT */
/* What-ifs on a recorded machine. A launch that costs more makes no operation quicker, and one that
 * costs less makes none slower: each gpu.launch row times 2 and 1/2, over panels, factorizations
 * with their default plans, products, QR updates and Gram-Schmidt. So it is with waits of queues
 * and L2's latency. A cheaper enqueue makes the panel of library calls quicker. Slower links make
 * transfers longer in proportion and send panels to the GPU; barriers and exchanges 20 times as
 * dear make panels by launches win; DRAM half as fast doubles Gram-Schmidt beyond L2. A what-if
 * tells whether a prediction has read what it moved.
 */
#include "what_if_answers.h"

#include "tests/tap.h"

#include "factor/algorithms/panel_getrf.h"
#include "factor/model/efficiency/efficiency.h"
#include "factor/model/predictions/advice.h"
#include "factor/model/predictions/model_factor.h"
#include "factor/model/predictions/model_gram_schmidt.h"
#include "factor/model/predictions/model_update.h"
#include "lib/base/msg.h"

enum { MOST_ROWS = 64 };

static struct profile *machine(void)
{
	return profile_open(RECORDED);
}

/* ---- launches ---- */

/* The names of a profile's rows that begin with `part`, each once. */
static size_t names_of(const struct profile *p, const char *part, const char **name)
{
	size_t count = 0;

	for (size_t i = 0; i < p->count; i++) {
		const char *here = p->row[i].name;
		if (strncmp(here, part, strlen(part)) == 0 &&
		        (count == 0 || strcmp(name[count - 1], here) != 0) && count < MOST_ROWS)
			name[count++] = here;
	}
	return count;
}

/* Factorizations have a panel beside an update. */
static bool is_factorization(const char *name)
{
	return strncmp(name, "getrf", 5) == 0 || strncmp(name, "geqrf", 5) == 0 ||
	       strncmp(name, "potrf", 5) == 0;
}

/* Whether no answer has moved against the factor, but for what interpolation of logarithms leaves:
 * rows that contain the same start move by less between each other. A panel that is queued a little
 * earlier may take multiprocessors that an update had. */
static bool all_follow(const struct answers *before, const struct answers *after, double factor)
{
	bool good = true;

	for (size_t i = 0; i < before->count; i++) {
		const double change = after->seconds[i] / before->seconds[i] - 1,
		             rounding = is_factorization(before->name[i]) ? 1e-3 : 5e-6;
		if (isnan(before->seconds[i]) ||
		        (factor > 1 ? change >= -rounding : change <= rounding))
			continue;
		diag("%s: %.3f us, then %.3f us", before->name[i], 1e6 * before->seconds[i],
		        1e6 * after->seconds[i]);
		good = false;
	}
	return good;
}

static void test_launches(const struct answers *measured)
{
	static const double factors[] = {2, 0.5};
	struct answers *now = xmalloc(sizeof *now);
	struct profile *names = machine();
	static const char *const parts[] = {
	        "gpu.launch.", "gpu.concurrent.stream_wait_idle", "gpu.l2.latency"};
	const char *name[MOST_ROWS];
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		count += names_of(names, parts[i], name + count);
	ok(count > 12, "%zu parameters of launches and waits", count);
	for (size_t i = 0; i < count; i++)
		for (size_t f = 0; f < ARRAY_LEN(factors); f++) {
			struct profile *scaled = machine();
			profile_scale_rows(scaled, name[i], factors[f]);
			ask_all(scaled, now);
			ok(all_follow(measured, now, factors[f]),
			        "%s times %g: none goes the "
			        "other way",
			        name[i], factors[f]);
			profile_free(scaled);
		}
	profile_free(names);
	free(now);
}

/* ---- enqueue, links, and what is read ---- */

static double panel_seconds(const struct profile *p, const char *variant)
{
	return model_seconds_without(p, MODEL_CUDA, variant, 8192, 64, SINGLE, 0);
}

/* The example of README.md. */
static void test_enqueue(void)
{
	static const char *const slower[] = {"optimized", "fused", "persistent", "host"};
	struct profile *p = machine(), *cheap = machine();
	struct fault fault = {.text = ""};
	const double enqueue = profile_get(p, "gpu.launch.enqueue", NULL, 0).estimate.value,
	             trip = profile_get(p, "gpu.launch.sync", NULL, 0).estimate.value;

	ok(profile_set(cheap, "gpu.launch.enqueue=1.0us", &fault), "a cheaper launch is set");
	is_real(profile_get(cheap, "gpu.launch.sync", NULL, 0).estimate.value,
	        trip - enqueue + 1e-6, 1e-12, "the round trip that contains it follows");
	ok(panel_seconds(cheap, "blas") < 0.9 * panel_seconds(p, "blas"),
	        "the panel of library calls gets over 10 %% quicker");
	for (size_t i = 0; i < ARRAY_LEN(slower); i++)
		ok(panel_seconds(cheap, slower[i]) <= panel_seconds(p, slower[i]),
		        "%s does not get slower", slower[i]);
	ok(profile_set(cheap, "gpu.launch.sync=20us", &fault) &&
	                profile_set(cheap, "gpu.launch.enqueue=3us", &fault),
	        "a round trip is set, then a launch");
	is_real(profile_get(cheap, "gpu.launch.sync", NULL, 0).estimate.value, 20e-6, 1e-12,
	        "what is set stays as set");
	profile_free(p);
	profile_free(cheap);
}

static const char *best_panel(const struct profile *p, int64_t m, int64_t n)
{
	const struct question question = {m, n, SINGLE, false};
	struct answer answer[ADVICE_ANSWERS];

	advice_ask(p, &question, true, answer);
	return answer[0].variant;
}

static void test_links(void)
{
	struct profile *p = machine(), *slow = machine(), *near = machine();
	struct fault fault = {.text = ""};
	const double bytes = 8192.0 * 64 * 4,
	             rate = profile_get(p, "link.d2h.pinned.beta", NULL, 0).estimate.value,
	             back = profile_get(p, "link.h2d.pinned.beta", NULL, 0).estimate.value;
	const double extra = 9 * bytes * (1 / rate + 1 / back);

	ok(profile_scale(slow, "link.*.beta=0.1", &fault), "links ten times as slow");
	is_real(panel_seconds(slow, "host") - panel_seconds(p, "host"), extra, 0.02,
	        "the host's panel pays nine times its bytes more");
	is_real(panel_seconds(slow, "fused"), panel_seconds(p, "fused"), 0,
	        "a panel without transfers stays");
	ok(profile_scale(near, "link.*.alpha=0.1", &fault), "transfers that begin at once");
	is_text(best_panel(near, 64, 32), "host", "the CPU factorizes a small panel");
	is_text(best_panel(slow, 64, 32), "persistent", "but the GPU behind slow links");
	profile_free(near);
	profile_free(p);
	profile_free(slow);
}

static void test_barriers(void)
{
	struct profile *p = machine();
	struct fault fault = {.text = ""};

	/* shorter ones fit into one cluster, whose exchanges take less than launches even then */
	is_text(best_panel(p, 16384, 64), "persistent", "a panel stays on chip");
	ok(what_if_scale(p, "gpu.barrier.*=20", &fault) &&
	                what_if_scale(p, "gpu.exchange.*=20", &fault),
	        "barriers and exchanges 20 times as dear");
	is_text(best_panel(p, 16384, 64), "fused", "launches win");
	profile_free(p);
}

/* Copies from freshly written memory also wait for the host's memory, which is as fast as before.
 */
static void test_copies(void)
{
	static const struct {
		const char *kind;
		double bytes, least, most;
	} copies[] = {{"h2d.pinned", 268435456, 9.7, 10.3}, {"d2h.pinned", 268435456, 9.7, 10.3},
	        {"h2d.written", 16777216, 8.5, 10}};
	struct profile *p = machine(), *slow = machine();
	struct fault fault = {.text = ""};

	ok(profile_scale(slow, "link.*.beta=0.1", &fault), "links ten times as slow");
	for (size_t i = 0; i < ARRAY_LEN(copies); i++) {
		char name[64];
		snprintf(name, sizeof name, "link.%s.time", copies[i].kind);
		const struct arg large = {"bytes", copies[i].bytes}, small = {"bytes", 1};
		const double times = profile_get(slow, name, &large, 1).estimate.value /
		                     profile_get(p, name, &large, 1).estimate.value;
		ok(times > copies[i].least && times < copies[i].most,
		        "a large copy %s takes %.2f times as long", copies[i].kind, times);
		is_real(profile_get(slow, name, &small, 1).estimate.value,
		        profile_get(p, name, &small, 1).estimate.value, 1e-3,
		        "a byte takes as long as before");
	}
	profile_free(p);
	profile_free(slow);
}

static double gram_seconds(const struct profile *p, const char *form)
{
	const struct gram_question asked = {
	        .form = form, .m = 4000000, .n = 64, .precision = SINGLE};
	struct prediction made;

	model_gram_schmidt_predict(p, MODEL_CUDA, &asked, 2, false, &made);
	return made.seconds;
}

/* Columns of 1 GB in all. */
static void test_memory(void)
{
	static const char *const form[] = {"kernels", "fused"};
	struct profile *p = machine(), *slow = machine();
	struct fault fault = {.text = ""};

	ok(profile_scale(slow, "gpu.dram.read=0.5", &fault) &&
	                profile_scale(slow, "gpu.dram.copy=0.5", &fault),
	        "DRAM half as fast");
	for (size_t f = 0; f < ARRAY_LEN(form); f++) {
		const double times = gram_seconds(slow, form[f]) / gram_seconds(p, form[f]);
		ok(times > 1.9 && times < 2.05, "Gram-Schmidt by %s takes %.2f times as long",
		        form[f], times);
	}
	profile_free(p);
	profile_free(slow);
}

static double product_seconds(const struct profile *p, bool blas_only, enum precision precision)
{
	const struct product product = {.gemv = true,
	        .blas_only = blas_only,
	        .precision = precision,
	        .m = 16384,
	        .n = 16384,
	        .calls = 10};
	const struct product_data shapes = product_shapes(&product);
	struct executor *e = executor_model_new(p, MODEL_CUDA, LEVEL_FULL);
	const bool good = product_run(e, &product, &shapes, product.calls);
	const double seconds = good ? executor_model_seconds(e) : NAN;
	executor_free(e);
	return seconds;
}

static double ger_seconds(const struct profile *p)
{
	return model_seconds_without(p, MODEL_CUDA, "ger", 16384, 16384, SINGLE, 0);
}

static bool doubles(double now, double before, double least)
{
	if (now / before < least || now / before > 2.05)
		diag("times %.3f", now / before);
	return now / before >= least && now / before <= 2.05;
}

/* The whole profile as programs prepare it. */
static void test_hardware(void)
{
	struct profile *p = machine(), *slow = machine(), *clock = machine();
	struct fault fault = {.text = ""};

	efficiency_prepare(p);
	ok(what_if_scale(slow, "gpu.dram.*=0.5", &fault) &&
	                what_if_scale(clock, "gpu.clock.sm=0.5", &fault),
	        "half of DRAM, and of the clock");
	efficiency_prepare(slow);
	efficiency_prepare(clock);
	for (int way = 0; way < 4; way++)
		ok(doubles(product_seconds(slow, way / 2, way % 2 ? DOUBLE : SINGLE),
		           product_seconds(p, way / 2, way % 2 ? DOUBLE : SINGLE), 1.9),
		        "gemv beyond L2, %s, %s, takes twice as long", way / 2 ? "cuBLAS" : "ours",
		        way % 2 ? "double" : "single");
	ok(doubles(ger_seconds(slow), ger_seconds(p), 1.9), "so does ger");
	ok(doubles(model_seconds_without(clock, MODEL_CUDA, "persistent", 2048, 64, SINGLE, 0),
	           model_seconds_without(p, MODEL_CUDA, "persistent", 2048, 64, SINGLE, 0), 1.7),
	        "a chain on chip takes twice as long at half the clock");
	profile_free(p);
	profile_free(slow);
	profile_free(clock);
}

static void test_read(void)
{
	struct profile *p = machine();
	struct fault fault = {.text = ""};

	ok(profile_scale(p, "gpu.tlb.*=2", &fault) && profile_scale(p, "gpu.panel.*=2", &fault),
	        "two what-ifs");
	panel_seconds(p, "blas");
	ok(!profile_change_is_read(p, 0) && !profile_change_is_read(p, 1),
	        "library calls read neither");
	panel_seconds(p, "fused");
	ok(!profile_change_is_read(p, 0) && profile_change_is_read(p, 1),
	        "the fused kernels read the second");
	ok(!profile_scale(p, "no.such.*=2", &fault) && strstr(fault.text, "no.such"),
	        "a pattern that matches nothing is a fault");
	ok(!profile_scale(p, "gpu.*=0", &fault) && !profile_scale(p, "gpu.*=-1", &fault) &&
	                !profile_scale(p, "gpu.*", &fault),
	        "so is a factor that is not above 0, or none");
	profile_free(p);
}

int main(void)
{
	struct answers *measured = xmalloc(sizeof *measured);
	struct profile *profile = machine();
	size_t refused = 0;

	ask_all(profile, measured);
	for (size_t i = 0; i < measured->count; i++)
		refused += isnan(measured->seconds[i]);
	ok(refused < 4, "%zu of %zu questions have answers", measured->count - refused,
	        measured->count);
	test_launches(measured);
	test_enqueue();
	test_links();
	test_barriers();
	test_copies();
	test_memory();
	test_hardware();
	test_read();
	profile_free(profile);
	free(measured);
	return finish();
}
