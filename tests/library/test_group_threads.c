/* SPDX-License-Identifier: MIT */
/* A group whose ranks are all in this process, each in a thread of its own, as several GPUs are: on
 * host executors, with a communicator of this test. */
#include "tests/tap.h"

#include "factor/library/fathom_mg_group.h"
#include "lib/base/msg.h"

#include <cblas.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 4, SIDE = 2, N = 100, NB = 16 };

/* ---- broadcasts between threads ---- */

/* Ranks that meet: all of them, and those of each process row and process column of a square. */
static struct part {
	pthread_barrier_t barrier;
	const struct comm_piece *pieces[RANKS]; /* of each rank */
} whole, rows[SIDE], columns[SIDE];

struct thread_comm {
	struct comm base;
	struct part *part;
	bool fails;
	bool busy[COMM_SLOTS]; /* until its broadcast has arrived */
};

static void thread_destroy(struct comm *comm)
{
	free(comm);
}

static volatile size_t more_bytes; /* of host memory that a broadcast takes */

/* All ranks meet before and after the copies. */
static bool thread_broadcast(struct comm *comm, struct executor *e, int slot,
        const struct comm_piece *pieces, int count, const char *what, int64_t index)
{
	struct thread_comm *own = (struct thread_comm *)comm;
	struct part *part = own->part;

	free(xmalloc(more_bytes));
	if (own->fails)
		return fault_set(&e->fault, "rank %d has failed", comm->rank);
	if (own->busy[slot])
		return fault_set(
		        &e->fault, "%s %d before an earlier one is here", what, (int)index);
	own->busy[slot] = true;
	part->pieces[comm->rank] = pieces;
	pthread_barrier_wait(&part->barrier);
	for (int i = 0; i < count; i++)
		if (pieces[i].bytes > 0 && comm->rank != pieces[i].root)
			memcpy(pieces[i].data, part->pieces[pieces[i].root][i].data,
			        (size_t)pieces[i].bytes);
	pthread_barrier_wait(&part->barrier);
	return true;
}

static bool thread_arrived(struct comm *comm, struct executor *e, int slot)
{
	(void)e;
	((struct thread_comm *)comm)->busy[slot] = false;
	return true;
}

static bool thread_wait(struct comm *comm, struct executor *e)
{
	(void)comm;
	return e->ops->sync(e);
}

static bool thread_sync(struct comm *comm, struct executor *e)
{
	memset(((struct thread_comm *)comm)->busy, 0, sizeof((struct thread_comm *)comm)->busy);
	return thread_wait(comm, e);
}

static struct comm *thread_split(
        struct comm *comm, int first, int step, int ranks, struct fault *fault)
{
	if (((struct thread_comm *)comm)->fails) {
		fault_set(fault, "rank %d has no column", comm->rank);
		return NULL;
	}
	struct thread_comm *part = xcalloc(1, sizeof *part);
	*part = (struct thread_comm){
	        .base = *comm, .part = step == 1 ? &rows[first / SIDE] : &columns[first]};
	part->base.rank = (comm->rank - first) / step;
	part->base.ranks = ranks;
	return &part->base;
}

static int steps_of[RANKS]; /* of the thread that made the rank's last step */

static bool enter(struct mg_member *m)
{
	static _Thread_local int steps;

	steps_of[m->comm->rank] = ++steps;
	return m->device != N || fault_set(&m->e->fault, "rank %d has no GPU", m->comm->rank);
}

static struct fathom_mg *group_new(void)
{
	static const struct comm_ops ops = {thread_destroy, thread_broadcast, thread_arrived,
	        thread_sync, thread_wait, thread_split};
	struct mg_member *members = xcalloc(RANKS, sizeof *members);
	struct fault fault;

	for (int i = 0; i < RANKS; i++) {
		struct thread_comm *comm = xcalloc(1, sizeof *comm);
		comm->base = (struct comm){&ops, "threads", i, RANKS, COMM_SECONDS, 0, 1, RANKS};
		comm->part = &whole;
		members[i].comm = &comm->base;
		members[i].e = executor_host_new(&fault);
	}
	return mg_group(members, RANKS, enter);
}

/* ---- a system ---- */

static float a[N * N], b[N], *part_a[RANKS], *part_b[RANKS];
static const struct fathom_mg_matrix matrix = {.m = N, .n = N, .nb = NB, .csrc = 1, .lld = N + 2},
                                     right = {.m = N, .n = 1, .nb = 1, .csrc = 2, .lld = N};

/* Random A, and B = A X with ones in X; both scattered. */
static bool send_system(struct fathom_mg *group, const struct fathom_mg_matrix *of_a,
        const struct fathom_mg_matrix *of_b)
{
	uint32_t drawn = 1;

	memset(b, 0, sizeof b);
	for (int64_t i = 0; i < N * N; i++) {
		drawn = drawn * 1103515245 + 12345;
		a[i] = (float)(drawn >> 16) / 32768 - 1;
		b[i % N] += a[i];
	}
	return fathom_mg_sscatter(group, a, N, of_a, part_a) == FATHOM_OK &&
	       fathom_mg_sscatter(group, b, N, of_b, part_b) == FATHOM_OK;
}

static bool solved(struct fathom_mg *group, const struct fathom_mg_matrix *of_b, bool good)
{
	double worst = 0;

	good = good && fathom_mg_sgather(group, of_b, part_b, b, N) == FATHOM_OK;
	for (int i = 0; i < N; i++)
		worst = fmax(worst, fabs((double)b[i] - 1));
	if (!good || !(worst < 1e-2))
		diag("%s error %g", fathom_mg_error(group), worst);
	return good && worst < 1e-2;
}

static bool solves_in(struct fathom_mg *group, const struct fathom_mg_matrix *of_a,
        const struct fathom_mg_matrix *of_b)
{
	int ipiv[N], info = -1;
	bool good = send_system(group, of_a, of_b) &&
	            fathom_mg_sgetrf(group, of_a, part_a, ipiv, &info) == FATHOM_OK && info == 0 &&
	            fathom_mg_sgetrs(group, 'n', of_a, part_a, ipiv, of_b, part_b) == FATHOM_OK;

	return solved(group, of_b, good);
}

/* QR, its reflectors and the triangle in one call, which broadcasts into the same memory. */
static bool least_squares_in(struct fathom_mg *group, const struct fathom_mg_matrix *of_a,
        const struct fathom_mg_matrix *of_b)
{
	bool good = send_system(group, of_a, of_b) &&
	            fathom_mg_sgels(group, 'n', of_a, part_a, of_b, part_b) == FATHOM_OK;

	return solved(group, of_b, good);
}

static bool solves(struct fathom_mg *group)
{
	return solves_in(group, &matrix, &right);
}

/* One for each rank, from its first call to the end of the group or process. */
static void test_threads(struct fathom_mg *group)
{
	const int before = steps_of[0];
	int status;

	ok(solves(group), "ranks in threads solve a system once more");
	for (int i = 0; i < RANKS; i++)
		ok(steps_of[i] == steps_of[0] && steps_of[i] > before,
		        "in the thread that rank %d had before", i);
	fflush(stdout);
	const pid_t child = fork();
	if (child == 0)
		_exit(solves(group) && steps_of[0] < before ? 0 : 1);
	ok(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
	        "a fork's child solves it in threads of its own");
	ok(solves(group), "its parent goes on");
}

static void test_square(void)
{
	const struct fathom_mg_matrix
	        square = {.m = N, .n = N, .nb = NB, .csrc = 1, .lld = N, .mb = NB, .rsrc = 1},
	        beside = {.m = N, .n = 1, .nb = 1, .lld = N, .mb = NB, .rsrc = 1};
	struct fathom_mg *group = group_new();

	ok(fathom_mg_set_grid(group, SIDE, SIDE) == FATHOM_OK && solves_in(group, &square, &beside),
	        "ranks in threads solve a system on a square grid");
	ok(least_squares_in(group, &square, &beside), "by least squares, too");
	ok(fathom_mg_set_grid(group, 1, RANKS) == FATHOM_OK && solves(group),
	        "and in one process row again");
	struct thread_comm *last = (struct thread_comm *)group->members[RANKS - 1].comm;
	last->fails = true;
	ok(fathom_mg_set_grid(group, SIDE, SIDE) == FATHOM_FAILED,
	        "a grid that one rank cannot have is none");
	is_text(fathom_mg_error(group), "rank 3 has no column", "with that rank's reason");
	last->fails = false;
	ok(solves(group), "all ranks keep the grid that they had");
	fathom_mg_destroy(group);
}

/* ---- a rank with little memory ---- */

static int64_t most_bytes;
static struct executor_ops scarce_ops;
static const struct executor_ops *plenty_ops;

static bool scarce_alloc(struct executor *e, int64_t bytes, void **data)
{
	*data = NULL;
	return bytes <= most_bytes ? plenty_ops->alloc(e, bytes, data)
	                           : fault_refuse(&e->fault, "no memory");
}

/* It works without the copy that LU of large matrices makes; the others have theirs. */
static void test_scarce(const int64_t enough[RANKS])
{
	struct fathom_mg *group = group_new();
	struct executor *e = group->members[1].e;

	for (int i = 0; i < RANKS; i++)
		group->members[i].row_major = 1;
	plenty_ops = e->ops;
	scarce_ops = *e->ops;
	scarce_ops.alloc = scarce_alloc;
	e->ops = &scarce_ops;
	most_bytes = enough[1];
	ok(solves(group) && group->members[1].work_bytes == enough[1] &&
	                group->members[0].work_bytes > enough[0],
	        "a rank without memory for a copy solves without it");
	fathom_mg_destroy(group);
}

static void test_host_memory(struct fathom_mg *group)
{
	int ipiv[N], info;

	more_bytes = PTRDIFF_MAX;
	ok(fathom_mg_sgetrf(group, &matrix, part_a, ipiv, &info) == FATHOM_FAILED,
	        "without host memory a call fails, and its program goes on");
	is_text(fathom_mg_error(group), "out of host memory", "with that reason");
	more_bytes = 0;
	ok(solves(group), "with memory again the group works");
}

/* The first reason in time is the group's, whichever rank has it. */
static void test_faults(struct fathom_mg *group)
{
	int ipiv[N], info;

	for (int i = 0; i < RANKS; i++)
		((struct thread_comm *)group->members[i].comm)->fails = true;
	ok(fathom_mg_sgetrf(group, &matrix, part_a, ipiv, &info) == FATHOM_FAILED &&
	                strstr(fathom_mg_error(group), "has failed"),
	        "a failed broadcast fails the call");
	group->members[1].device = N;
	ok(fathom_mg_sgetrf(group, &matrix, part_a, ipiv, &info) == FATHOM_FAILED,
	        "a rank without its GPU fails the call");
	is_text(fathom_mg_error(group), "rank 1 has no GPU", "before others wait for it");
	group->members[1].device = 0;
	float *kept = part_a[2];
	part_a[2] = NULL;
	ok(fathom_mg_sgetrf(group, &matrix, part_a, ipiv, &info) == FATHOM_BAD_ARGUMENT,
	        "a missing pointer is refused");
	is_text(fathom_mg_error(group), "A of rank 2 is NULL", "with its rank");
	part_a[2] = kept;
}

/* Every refusal has its reason; `said` is a part of it. */
static void refused(const struct fathom_mg *group, enum fathom_status status, const char *said,
        const char *what)
{
	if (!ok(status == FATHOM_BAD_ARGUMENT && strstr(fathom_mg_error(group), said), "%s", what))
		diag("status %d, '%s'", (int)status, fathom_mg_error(group));
}

/* The last rank alone, as a process of its own has it: it refuses what the others have no room for,
 * instead of waiting for them. */
static void test_alone(const struct fathom_mg *group)
{
	struct fathom_mg alone = *group;
	struct fathom_mg_matrix few = {.m = 5, .n = 5, .nb = 2, .mb = 2, .lld = 2};

	alone.count = 1;
	alone.members = &group->members[RANKS - 1];
	refused(&alone, fathom_mg_sscatter(&alone, NULL, 4, &matrix, &part_a[RANKS - 1]),
	        "leading dimension 4",
	        "a rank without the host's matrix knows its leading dimension");
	few.lld = 4;
	refused(&alone, fathom_mg_sgather(&alone, &few, &part_a[RANKS - 1], NULL, 5), "lld 4",
	        "and the rows of other ranks");
}

static void test_refusals(struct fathom_mg *group)
{
	float host[25] = {0};
	struct fathom_mg_matrix wide = matrix;

	refused(group, fathom_mg_sscatter(group, host, N - 1, &matrix, part_a), "leading dimension",
	        "too small a leading dimension in host memory");
	refused(group, fathom_mg_set_math(group, (enum fathom_math)9), "math 9", "a wrong math");
	refused(group, fathom_mg_set_timeout(group, -1), "timeout of -1", "a wrong time limit");
	refused(group, fathom_mg_spotrf(group, '\0', &matrix, part_a, NULL), "uplo ''",
	        "a letter that is none");
	wide.nb = INT64_C(1) << 62;
	refused(group, fathom_mg_sscatter(group, host, N, &wide, part_a), "32-bit",
	        "blocks that no integer counts");
	wide = matrix;
	for (int i = 0; i < 2; i++) {
		wide.lld = i ? INT64_MAX : 0;
		ok(fathom_mg_place(group, &wide, 0, 1) == -1, "no place with lld %s",
		        i ? "beyond 32 bits" : "0");
	}
	test_alone(group);
}

int main(void)
{
	openblas_set_num_threads(1);
	pthread_barrier_init(&whole.barrier, NULL, RANKS);
	for (int i = 0; i < SIDE; i++) {
		pthread_barrier_init(&rows[i].barrier, NULL, SIDE);
		pthread_barrier_init(&columns[i].barrier, NULL, SIDE);
	}
	struct fathom_mg *group = group_new();
	int64_t enough[RANKS];

	for (int i = 0; i < RANKS; i++) {
		part_a[i] = xcalloc((size_t)N * (N + 2), sizeof *part_a[i]);
		part_b[i] = xcalloc(N, sizeof *part_b[i]);
	}
	ok(solves(group), "ranks in threads solve a system");
	ok(solves(group), "and once more, with the workspace that they have");
	for (int i = 0; i < RANKS; i++)
		enough[i] = group->members[i].work_bytes;
	ok(least_squares_in(group, &matrix, &right),
	        "by least squares no broadcast begins before one with its memory has arrived");
	ok(fathom_mg_set_math(group, FATHOM_MATH_3XTF32) == FATHOM_OK && solves(group),
	        "and by 3xTF32");
	test_threads(group);
	test_square();
	test_scarce(enough);
	is_text(fathom_mg_note(group), "", "nothing is known that slows it down");
	test_refusals(group);
	test_host_memory(group);
	test_faults(group);
	fathom_mg_destroy(group);
	for (int i = 0; i < RANKS; i++) {
		free(part_a[i]);
		free(part_b[i]);
	}
	pthread_barrier_destroy(&whole.barrier);
	for (int i = 0; i < SIDE; i++) {
		pthread_barrier_destroy(&rows[i].barrier);
		pthread_barrier_destroy(&columns[i].barrier);
	}
	return finish();
}
