/* SPDX-License-Identifier: MIT */
/* Which cores measurements use: the order by made-up rates, and on the machine at hand that
 * every core is measured, ranked and left again. */
#include "lib/host/core_noise.h"
#include "lib/host/pinned_threads.h"
#include "tests/tap.h"

#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 16 };

static void is_order(const double *rate, int cores, const int *want, const char *what)
{
	int order[MOST];

	core_noise_order(rate, cores, order);
	if (!ok(memcmp(order, want, (size_t)cores * sizeof *order) == 0, "%s", what))
		for (int i = 0; i < cores; i++)
			diag("place %d: core %d, want %d", i, order[i], want[i]);
}

static void test_order(void)
{
	is_order((const double[]){16e9, 16e9, 15.9e9, 16.1e9}, 4, (const int[]){0, 1, 2, 3},
	        "cores that are alike stay in their order");
	is_order((const double[]){8e9, 16e9, 16e9, 7e9, 16e9}, 5, (const int[]){1, 2, 4, 0, 3},
	        "shared cores come last, the one with less after the other");
	is_order((const double[]){13.5e9, 14.7e9, 16e9, 15.9e9}, 4, (const int[]){2, 3, 1, 0},
	        "a clearly lower clock counts, too");
	is_order((const double[]){NAN, 16e9, NAN, 8e9}, 4, (const int[]){1, 3, 0, 2},
	        "cores that are not ours come behind all others");
	is_order((const double[]){NAN, NAN, NAN}, 3, (const int[]){0, 1, 2},
	        "without rates all stay in their order");
	is_order((const double[]){0}, 1, (const int[]){0}, "one core is the quietest");
}

static void test_less(void)
{
	ok(core_noise_less(2.1, 4) && core_noise_less(3.6, 4),
	        "half of a core, or nine tenths, is less");
	ok(!core_noise_less(3.9, 4) && !core_noise_less(4.2, 4), "the error of a reading is not");
	ok(!core_noise_less(NAN, 4) && !core_noise_less(4, 0) && !core_noise_less(4, NAN),
	        "without a rate nothing is less");
}

/* Performance cores at 20e9 adds a second, efficiency cores at 10e9, one of each shared. */
static void test_kinds(void)
{
	static const double rate[] = {20e9, 12e9, 10e9, 6e9, NAN};
	static const int kind[] = {1, 1, 0, 0, 0}, one[] = {0, 0, 0, 0, 0};
	static const bool shared[] = {false, true, false, true, false};

	for (int core = 0; core < (int)ARRAY_LEN(rate); core++)
		ok(core_noise_less(rate[core], core_noise_alone(rate, kind, 5, core)) ==
		                shared[core],
		        "core %d of kind %d is%s shared", core, kind[core],
		        shared[core] ? "" : " not");
	is_real(core_noise_alone(rate, one, 5, 3), 20e9, 0, "of one kind all are compared");
	is_real(core_noise_alone((const double[]){NAN}, one, 1, 0), 0, 0, "without a rate: none");
}

static void test_large(void)
{
	ok(pinned_largest(4) == 4 && pinned_largest(8) == 7 && pinned_largest(64) == 56 &&
	                pinned_largest(192) == 168,
	        "large machines leave an eighth of their cores to the system");
}

static void test_rate(void)
{
	const struct core_rate rate = clock_core_rate();

	if (isnan(rate.by_second)) {
		skip("rates of a core", "not known on this processor");
		return;
	}
	ok(rate.by_second > 1e8 && rate.by_second < 1e11, "adds a second: %.3g", rate.by_second);
	ok(rate.by_cycle > 0.5 && rate.by_cycle < 8.5, "adds a cycle: %.3g", rate.by_cycle);
}

static void test_made_up(void)
{
	struct fault fault;
	struct topology *topology = topology_load("pack:1 core:4 pu:1", &fault);
	struct core_noise noise;

	core_noise_open(&noise, topology, 4, -1, false);
	ok(noise.order[0] == 0 && noise.order[3] == 3,
	        "cores of a made-up machine cannot be measured: their own order");
	ok(core_noise_undisturbed(&noise), "and nothing disturbs them");
	core_noise_expect(&noise, 0);
	ok(core_noise_undisturbed(&noise), "nor when no other process knows more");
	core_noise_expect(&noise, 100);
	ok(!core_noise_undisturbed(&noise) || isnan(clock_core_rate().by_cycle),
	        "but a core that once did much more is disturbed");
	core_noise_close(&noise);
	topology_free(topology);
}

static bool bound_to_one(const struct topology *topology, int core)
{
	char want[32], got[128];
	const bool bound = topology_binding(topology, got);
	const char *at = strstr(got, "cores ");

	snprintf(want, sizeof want, "cores %d", core);
	return bound && at && strncmp(at, want, strlen(want)) == 0 &&
	       (at[strlen(want)] == 0 || at[strlen(want)] == ',');
}

static void test_here(void)
{
	struct pinned_threads pinned;
	struct fault fault;
	bool once = true, distinct = true;

	if (!ok(pinned_open(&pinned, false, &fault), "pinned threads here"))
		return;
	for (int core = 0; core < pinned.noise.cores; core++) {
		int places = 0;
		for (int i = 0; i < pinned.noise.cores; i++)
			places += pinned.noise.order[i] == core;
		once = once && places == 1;
	}
	ok(once, "every core has one place");
	pinned_bind(&pinned, 1);
	if (pinned.facts.cores > 1) {
		char got[128];
		if (topology_binding(pinned.topology, got))
			ok(bound_to_one(pinned.topology, pinned.noise.order[0]),
			        "one thread is on the quietest: %s", got);
		else
			skip("one thread is on the quietest core", got);
	}
	for (int i = 1; i < pinned.cores; i++)
		distinct = distinct && pinned.noise.order[i] != pinned.noise.order[0];
	ok(distinct, "the others are elsewhere");
	pinned_close(&pinned);
}

/* The environment's wish for fewer threads does not thin out the bound ones. */
static void test_all_start(void)
{
	struct pinned_threads pinned;
	struct fault fault;
	int started = 0;

	omp_set_dynamic(1);
	omp_set_max_active_levels(0);
	if (!ok(pinned_open(&pinned, true, &fault), "pinned threads here"))
		return;
	pinned_bind(&pinned, pinned.cores);
#pragma omp parallel num_threads(pinned.cores) reduction(+ : started)
	started++;
	ok(started == pinned.cores, "all start: %d of %d", started, pinned.cores);
	pinned_close(&pinned);
}

static bool sample_once(void *context, struct sample *sample)
{
	++*(int *)context;
	*sample = (struct sample){.seconds = 1e-6, .agreed = true};
	return true;
}

/* The thread leaves its core and comes back to it. */
static void test_leave(void)
{
	struct fault fault;
	struct topology *topology = topology_load(NULL, &fault);
	struct topology_facts facts;
	struct core_noise noise;
	struct measurement measurement;
	const struct sample_plan plan = {.max_seconds = 1, .min_samples = 5, .max_samples = 5};
	int taken = 0;

	if (!ok(topology != NULL, "the topology loads"))
		return;
	topology_facts(topology, &facts);
	core_noise_open(&noise, topology, facts.cores, -1, false);
	if (facts.cores < 2 || !bound_to_one(topology, noise.order[0])) {
		skip("leaving a quiet core", "this thread cannot be bound, or there is one core");
	} else {
		core_noise_leave(&noise);
		ok(!bound_to_one(topology, noise.order[0]), "the thread leaves it");
		core_noise_return(&noise);
		ok(bound_to_one(topology, noise.order[0]), "and returns");
	}
	ok(core_noise_sample_run(&noise, sample_once, &taken, &plan, 0, &measurement) &&
	                taken >= 5 && measurement.seconds.samples > 0,
	        "samples are taken there");
	core_noise_close(&noise);
	topology_free(topology);
}

/* A machine of which hwloc knows no cores: every thread has a place all the same. In a process of
 * its own, as a process reads its machine once. */
static void test_no_cores(void)
{
	int status = -1;
	const pid_t child = fork();

	if (child == 0) {
		struct pinned_threads pinned;
		struct fault fault;
		unsetenv("HWLOC_COMPONENTS"); /* it would rule */
		setenv("HWLOC_SYNTHETIC", "pu:4", 1);
		const bool open = pinned_open(&pinned, true, &fault);
		_exit(open && pinned.facts.cores == 0 && pinned.noise.cores >= pinned.cores ? 0
		                                                                            : 1);
	}
	ok(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	                WEXITSTATUS(status) == 0,
	        "places for all threads where no core is known");
}

int main(void)
{
	test_no_cores(); /* before this process reads its machine */
	test_leave();    /* before this thread is bound */
	test_here();
	test_all_start();
	test_order();
	test_less();
	test_kinds();
	test_large();
	test_rate();
	test_made_up();
	return finish();
}
