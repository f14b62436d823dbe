/* SPDX-License-Identifier: MIT */
/* Question: how long does a word take from one core to another, by the pair of cores?
 *
 * Method: two threads, each bound to a core, write to one cache line in turns; every turn waits for
 * the other's write; a round trip is two ways. Samples use different lines, as the way depends on a
 * line's home. All pairs of up to 16 cores, or a choice of more cores.
 *
 * What can fool it: virtual processors that move between cores or are paused; a power-saving core.
 * Waits are bounded: pairs whose partner does not run are left out.
 *
 * Unit: seconds of one way. */
#include "lib/host/clock.h"
#include "lib/base/msg.h"
#include "lib/probe/probe.h"
#include "lib/host/topology.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
	ALL_CORES = 16,
	NEIGHBOURS = 4, /* the first cores, always taken */
	ROUNDS = 100,
	BALLS = 64,
	SPINS = 1000,
	APART = 256
};
static const double patience = 0.02; /* seconds without the other's write */

/* Odd values are the starter's, even values the answers; they rise from ball to ball. */
struct ball {
	_Alignas(APART) _Atomic uint64_t turn;
};

struct game {
	struct ball ball[BALLS];
	_Alignas(APART) _Atomic bool over;
};

struct player {
	const struct topology *topology;
	struct game *game;
	int core;
	uint64_t turn; /* the starter's */
	char binding[128];
	_Atomic int ready; /* 1: bound, -1: could not be */
};

static bool bind_player(struct player *player)
{
	topology_bind(player->topology, -1, player->core, player->binding);
	return strncmp(player->binding, "not bound", strlen("not bound")) != 0;
}

/* The line of this turn and its answer; another line for every sample. */
static _Atomic uint64_t *line_of(struct game *game, uint64_t turn)
{
	return &game->ball[(turn - 1) / 2 / ROUNDS % BALLS].turn;
}

/* Waits for this turn or the end of the game; false after `patience`. */
static bool wait_turn(struct game *game, uint64_t turn)
{
	_Atomic uint64_t *line = line_of(game, turn);
	double end = 0;

	for (;;) {
		for (int i = 0; i < SPINS; i++)
			if (atomic_load_explicit(line, memory_order_acquire) == turn)
				return true;
		double now = clock_now();
		end = end > 0 ? end : now + patience;
		if (now > end || atomic_load(&game->over))
			return false;
	}
}

/* The other thread answers until the game is over. */
static void *answer(void *context)
{
	struct player *player = context;
	struct game *game = player->game;

	if (!bind_player(player)) {
		player->ready = -1;
		return NULL;
	}
	player->ready = 1;
	for (uint64_t turn = 1; !atomic_load(&game->over);)
		if (wait_turn(game, turn)) {
			atomic_store_explicit(
			        line_of(game, turn + 1), turn + 1, memory_order_release);
			turn += 2;
		}
	return NULL;
}

static bool take_rounds(void *context, struct sample *sample)
{
	struct player *player = context;
	struct game *game = player->game;
	double start = clock_now();

	for (int i = 0; i < ROUNDS; i++) {
		player->turn++;
		atomic_store_explicit(
		        line_of(game, player->turn), player->turn, memory_order_release);
		if (!wait_turn(game, ++player->turn))
			return false;
	}
	sample->span = clock_now() - start;
	sample->seconds = sample->span / (2 * ROUNDS);
	sample->agreed = true;
	return true;
}

static bool wait_ready(const struct player *player)
{
	double end = clock_now() + patience;

	/* the new thread begins on our core */
	while (player->ready == 0 && clock_now() < end)
		sched_yield();
	return player->ready == 1;
}

/* False when a thread cannot be bound or does not run. */
static bool measure_pair(
        struct probe_run *run, const struct topology *topology, int from, int to, double seconds)
{
	const struct arg args[] = {
	        {"from", from}, {"to", to}, {"shared", topology_shared(topology, from, to)}};
	const struct sample_plan plan = sample_plan_default(seconds);
	struct game *game = aligned_alloc(APART, sizeof *game);
	struct player starter = {.topology = topology, .game = game, .core = from};
	struct player other = {.topology = topology, .game = game, .core = to};
	struct measurement measurement;
	pthread_t thread;

	if (!game)
		msg_die(EXIT_MEASURE_FAILED, "not enough memory for %d cache lines", BALLS);
	memset(game, 0, sizeof *game);
	if (pthread_create(&thread, NULL, answer, &other) != 0)
		msg_die(EXIT_MEASURE_FAILED, "cannot start a second thread");
	bool played = bind_player(&starter) && wait_ready(&other) &&
	              sample_run(take_rounds, &starter, &plan, 0, &measurement);
	atomic_store(&game->over, true);
	pthread_join(thread, NULL);
	free(game);
	if (played)
		probe_record(run, "pair", args, ARRAY_LEN(args), &measurement);
	return played;
}

/* The cores to measure, of those that the process may run on: all, or the first ones (neighbours)
 * and some of the rest. */
static int choose_cores(const struct topology *topology, int all, int most, int *chosen)
{
	struct topology_place *place = topology_keep(topology);
	int *core = xmalloc((size_t)all * sizeof *core), cores = 0;

	for (int i = 0; i < all; i++)
		if (topology_includes(topology, place, -1, i))
			core[cores++] = i;
	const int count = cores < most ? cores : most, rest = count - NEIGHBOURS;
	for (int i = 0; i < count; i++)
		chosen[i] = core[cores <= most || i < NEIGHBOURS
		                         ? i
		                         : NEIGHBOURS +
		                                   (i - NEIGHBOURS + 1) * (cores - NEIGHBOURS) /
		                                           rest -
		                                   1];
	free(core);
	topology_restore(topology, place);
	return count;
}

static void measure(struct probe_run *run)
{
	int core[ALL_CORES], failed = 0;
	struct fault fault;
	const struct topology *topology = topology_host(&fault);
	struct topology_facts facts;

	if (!topology)
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
	topology_facts(topology, &facts);
	const int most = run->common.quick ? NEIGHBOURS + 2 : ALL_CORES,
	          count = choose_cores(topology, facts.cores, most, core),
	          pairs = count * (count - 1) / 2;
	if (count < 2)
		msg_die(EXIT_NOT_POSSIBLE, "this process has one core: nothing to exchange");
	for (int i = 0; i < count && failed < count; i++)
		for (int k = i + 1; k < count && failed < count; k++)
			failed += !measure_pair(
			        run, topology, core[i], core[k], 0.8 * run->seconds / pairs);
	if (run->curve->row_count == 0)
		msg_die(EXIT_NOT_POSSIBLE, "no two threads run at once on cores of their own here");
	if (failed)
		table_meta_set(run->curve, "dropped", "%d pairs that did not run at once", failed);
}

static const char *const args[] = {"from", "to", "shared"};
const struct probe host_exchange_probe = {
        .name = "host_exchange",
        .question = "How long does a word take from one core to another?",
        .args = args,
        .arg_count = ARRAY_LEN(args),
        .seconds = 0.25,
        .processes = 5,
        .measure = measure,
        .fit = host_exchange_fit,
};
