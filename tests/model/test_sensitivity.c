/* SPDX-License-Identifier: MIT */
/* The sensitivity of a panel's variant against another one, on a recorded machine: what it says of
 * a parameter is what a what-if of that parameter gives, and hardware is named before timings of
 * known work. */
#include "tests/tap.h"

#include "factor/model/efficiency/efficiency.h"
#include "factor/model/predictions/advice.h"
#include "lib/base/msg.h"

static struct profile *machine(void)
{
	struct profile *profile = profile_open(RECORDED);

	efficiency_prepare(profile);
	return profile;
}

/* Seconds of both after a what-if. */
static void seconds_if(const struct question *q, const struct answer *const *answer,
        const char *name, double factor, double seconds[2])
{
	struct profile *profile = profile_open(RECORDED);
	struct fault fault;
	char *assignment = xasprintf("%s=%.17g", name, factor);

	if (!what_if_scale(profile, assignment, &fault))
		msg_die(EXIT_MEASURE_FAILED, "%s", fault.text);
	efficiency_prepare(profile);
	for (int i = 0; i < 2; i++)
		seconds[i] = model_seconds_without(profile, answer[i]->target, answer[i]->variant,
		        q->m, q->n, q->precision, 0);
	free(assignment);
	profile_free(profile);
}

static const struct answer *answer_of(
        const struct answer *answer, size_t count, const char *variant)
{
	for (size_t i = 0; i < count; i++)
		if (answer[i].target == MODEL_CUDA && strcmp(answer[i].variant, variant) == 0)
			return &answer[i];
	msg_die(EXIT_MEASURE_FAILED, "no variant %s", variant);
}

static bool is_hardware(const struct profile *profile, const char *name)
{
	return strcmp(profile->row[profile_first(profile, name)].regime, "hardware") == 0;
}

static void test_pair(const struct profile *profile, struct question q, const char *first,
        const char *second, bool hardware)
{
	struct answer all[ADVICE_ANSWERS];
	const size_t count = advice_ask(profile, &q, true, all);
	const struct answer *answer[] = {
	        answer_of(all, count, first), answer_of(all, count, second)};
	const struct sensitivity s = advice_sensitivity(profile, &q, answer[0], answer[1]);
	const double lead = answer[1]->prediction.seconds / answer[0]->prediction.seconds;
	const double further = s.tipping > 1 ? 1.01 : 1 / 1.01;
	double then[2];

	ok(s.name && s.tipping_name, "%s against %s: parameters are named", first, second);
	if (!s.name || !s.tipping_name)
		return;
	seconds_if(&q, answer, s.name, 1.1, then);
	is_real(1 + s.lead, then[1] / then[0] / lead, 1e-3, s.name);
	is_real(1 + s.time, then[0] / answer[0]->prediction.seconds, 1e-3,
	        "lead and time change as a what-if says");
	seconds_if(&q, answer, s.tipping_name, s.tipping * further, then);
	ok(then[1] < then[0], "%s times %.3g: a little beyond it the other wins", s.tipping_name,
	        s.tipping);
	seconds_if(&q, answer, s.tipping_name, s.tipping / further, then);
	ok(then[1] >= then[0], "a little before not yet");
	if (hardware)
		ok(is_hardware(profile, s.name) && is_hardware(profile, s.tipping_name) &&
		                !s.timing && !s.tipping_timing,
		        "hardware is named: %s, %s", s.name, s.tipping_name);
	ok(s.timing == !is_hardware(profile, s.name) &&
	                s.tipping_timing == !is_hardware(profile, s.tipping_name),
	        "and timings are called that");
}

int main(void)
{
	struct profile *profile = machine();
	const struct question low = {8192, 64, SINGLE, false}, middle = {30000, 64, SINGLE, false},
	                      tall = {100000, 64, SINGLE, false};

	test_pair(profile, low, "optimized", "blas", false);
	test_pair(profile, low, "fused", "optimized", false);
	test_pair(profile, middle, "persistent", "fused", false);
	test_pair(profile, tall, "persistent", "fused", true);
	profile_free(profile);
	return finish();
}
