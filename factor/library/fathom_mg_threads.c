/* SPDX-License-Identifier: MIT */
/* Every member of a group works in a thread of its own, from the group's first call to its end. In
 * a new thread each launch would ask the device about its kernel again (lib/device/current.h). */
#include "fathom_mg_group.h"

#include "lib/base/msg.h"
#include "lib/host/clock.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* Seconds for which a thread looks again and again before it sleeps: waking it takes longer than a
 * short step. A member looks for its next step, the caller for the end of a step. */
static const double member_spin = 100e-6, caller_spin = 5e-3;

/* A step of all members. */
struct work {
	const struct mg_call *call;
	mg_step *step;
	bool (*enter)(struct mg_member *);
	atomic_int failures;
};

struct mg_threads {
	pid_t process; /* a fork's child has none of its parent's threads */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	_Atomic int64_t given, done; /* steps, and how often a member has done one */
	struct work *work;           /* of the last step given; NULL: the end */
	int count;
	struct mg_thread {
		pthread_t id;
		struct mg_threads *all;
		struct mg_member *member;
	} thread[];
};

/* ---- a step ---- */

struct task {
	struct mg_member *member;
	const struct work *work;
	bool good;
};

static void do_task(void *context)
{
	struct task *t = context;
	const struct work *w = t->work;

	t->good = (!w->enter || w->enter(t->member)) && w->step(t->member, w->call);
}

static void do_step(struct mg_member *m, struct work *work)
{
	struct task task = {.member = m, .work = work};

	m->failure = 0;
	if (!msg_guard_memory(do_task, &task, &m->e->fault) || !task.good)
		m->failure = 1 + atomic_fetch_add(&work->failures, 1);
}

/* ---- threads ---- */

static void await(struct mg_threads *t, _Atomic int64_t *count, int64_t enough, double spin)
{
	const double until = clock_now() + spin;

	while (*count < enough && clock_now() < until)
		sched_yield();
	pthread_mutex_lock(&t->lock);
	while (*count < enough)
		pthread_cond_wait(&t->changed, &t->lock);
	pthread_mutex_unlock(&t->lock);
}

static void count_one(struct mg_threads *t, _Atomic int64_t *count)
{
	pthread_mutex_lock(&t->lock);
	++*count;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
}

static void *serve(void *context)
{
	const struct mg_thread *own = context;
	struct mg_threads *t = own->all;

	for (int64_t step = 1;; step++) {
		await(t, &t->given, step, member_spin);
		if (!t->work)
			return NULL;
		do_step(own->member, t->work);
		count_one(t, &t->done);
	}
}

static void do_at_once(struct mg_threads *t, struct work *work)
{
	t->work = work;
	count_one(t, &t->given);
	await(t, &t->done, t->given * t->count, caller_spin);
}

void mg_end_threads(struct fathom_mg *g)
{
	struct mg_threads *t = g->threads;

	g->threads = NULL;
	if (t && t->process == getpid()) {
		t->work = NULL;
		count_one(t, &t->given);
		for (int i = 0; i < t->count; i++)
			pthread_join(t->thread[i].id, NULL);
		pthread_cond_destroy(&t->changed);
		pthread_mutex_destroy(&t->lock);
	}
	free(t);
}

static bool start_thread(struct mg_threads *t, struct mg_member *m)
{
	struct mg_thread *thread = &t->thread[t->count];

	*thread = (struct mg_thread){.all = t, .member = m};
	if (pthread_create(&thread->id, NULL, serve, thread))
		return false;
	t->count++;
	return true;
}

/* In the first call, and in that of a fork's child. Signals are left to the program's threads. */
static bool start_threads(struct fathom_mg *g)
{
	struct mg_threads *t = g->threads;
	sigset_t all, before;

	if (t && t->process == getpid())
		return true;
	free(t);
	g->threads = t = calloc(1, sizeof *t + (size_t)g->count * sizeof *t->thread);
	if (!t)
		return false;
	t->process = getpid();
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->changed, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (t->count < g->count && start_thread(t, &g->members[t->count]))
		;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (t->count == g->count)
		return true;
	mg_end_threads(g);
	return false;
}

bool mg_all_members(struct fathom_mg *g, const struct mg_call *call, mg_step *step)
{
	struct work work = {.call = call, .step = step, .enter = g->enter};

	if (g->enter && !start_threads(g))
		return fault_set(&g->fault, "no thread for each of %d GPUs", g->count);
	if (g->enter)
		do_at_once(g->threads, &work);
	for (int i = 0; !g->enter && i < g->count; i++)
		do_step(&g->members[i], &work);
	for (int i = 0; i < g->count; i++)
		if (g->members[i].failure == 1)
			g->fault = g->members[i].e->fault;
	return work.failures == 0;
}
