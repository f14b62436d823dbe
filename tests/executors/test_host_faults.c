/* SPDX-License-Identifier: MIT */
/* Factorizations by the host executor in which each allocation fails in turn: a fault that says so,
 * and afterwards the same executor gives the same bits as before. */
#include "tests/tap.h"

#include "factor/executors/host/executor_host.h"
#include "factor/validation/whole.h"
#include "lib/base/msg.h"

#include <errno.h>
#include <stdlib.h>

/* A sanitizer has allocations of its own. */
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/* ---- allocations of this program; those of libraries never fail ---- */

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

extern char __executable_start, etext; /* the linker's */

static bool counting;
static int calls, failing; /* the number of the one that fails; 0: none */

#define FAILS fails((const char *)__builtin_return_address(0))
static bool fails(const char *caller)
{
	if (!counting || caller < &__executable_start || caller >= &etext || ++calls != failing)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t bytes)
{
	return FAILS ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
	return FAILS ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
	return FAILS ? NULL : __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	return FAILS ? NULL : __libc_memalign(alignment, bytes);
}

/* ---- one factorization ---- */

enum { N = 96, NB = 32, MOST_CALLS = 400 };

struct call {
	struct executor *e;
	struct whole whole;
	struct plan plan;
	float result[N * N];
	bool good;
};

/* Diagonally dominant, symmetric. */
static void fill(float *a)
{
	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++)
			a[j * N + i] = i == j ? 2 * N : (float)((i * j) % 13) / 13;
}

static void factorize(void *context)
{
	struct call *c = context;
	struct executor *e = c->e;
	void *data[4] = {NULL};
	float host[N * N];

	fill(host);
	c->good = e->ops->alloc(e, sizeof host, &data[0]) &&
	          e->ops->alloc(e, (N + 1) * (int64_t)sizeof(int), &data[1]) &&
	          e->ops->alloc(e, N * (int64_t)sizeof(float), &data[2]);
	const struct matrix a = {data[0], 0, N, N, N, SINGLE}, tau = {data[2], 0, N, 1, N, SINGLE};
	const int64_t bytes = c->good ? whole_work(e, &c->whole, &c->plan, a) : -1;
	c->good = c->good && bytes >= 0 && e->ops->alloc(e, bytes, &data[3]) &&
	          e->ops->upload(e, host, N, a) &&
	          whole_run(e, &c->whole, &c->plan, a, data[3], (struct pivots){data[1], N}, tau,
	                  NULL) &&
	          e->ops->download(e, a, c->result, N);
	for (int i = 0; i < 4; i++)
		e->ops->release(e, data[i]);
}

/* Whether the factorization ended well while the number-th allocation failed; its fault. */
static bool run(struct call *c, int number, struct fault *fault)
{
	c->e->fault.text[0] = '\0';
	c->good = false;
	calls = 0;
	failing = number;
	counting = true;
	const bool memory = msg_guard_memory(factorize, c, fault);
	counting = false;
	if (memory && !c->good)
		*fault = c->e->fault;
	return memory && c->good;
}

static void test_call(enum operation operation, bool hybrid, enum math math)
{
	static float usual[N * N];
	static const int64_t width = NB;
	static struct call c;
	struct fault fault = {.text = ""};
	int refused = 0, silent = 0, other = 0, number = 1;

	c = (struct call){.e = executor_host_new(&fault),
	        .whole = {.operation = operation, .uplo = LOWER, .math = math},
	        .plan = {.hybrid = hybrid,
	                .panel = hybrid ? "host" : "blas",
	                .widths = &width,
	                .count = 1,
	                .leaf = 16,
	                .lookahead = 1}};
	if (!ok(run(&c, 0, &fault), "%s, panels %s, %s: without a fault", operation_name[operation],
	            hybrid ? "on the host" : "on the device", math_name[math]))
		diag("%s", fault.text);
	const int all = calls;
	memcpy(usual, c.result, sizeof usual);
	for (; number <= all && number <= MOST_CALLS; number++) {
		c.e->ops->destroy(c.e); /* a new one, which keeps no memory of earlier calls */
		c.e = executor_host_new(&fault);
		fault.text[0] = '\0';
		refused += !run(&c, number, &fault);
		silent += !strstr(fault.text, "host memory");
		other += !run(&c, 0, &fault) || memcmp(usual, c.result, sizeof usual) != 0;
	}
	c.e->ops->destroy(c.e);
	ok(all >= 4 && refused == number - 1, "each of %d allocations that fails ends it", all);
	ok(silent == 0, "and is named");
	ok(other == 0, "the next one gives the same bits");
}

int main(void)
{
	struct fault fault;

	for (int operation = 0; operation < OPERATION_COUNT; operation++)
		for (int hybrid = 0; hybrid < 2; hybrid++)
			test_call((enum operation)operation, hybrid, MATH_FP32);
	test_call(GETRF, false, MATH_3XTF32);
	test_call(GEQRF, false, MATH_3XFP16);
	counting = true;
	calls = 0;
	failing = 1;
	ok(!executor_host_new(&fault) && strstr(fault.text, "memory"), "no executor: %s",
	        fault.text);
	counting = false;
	return finish();
}

#else

int main(void)
{
	skip_all(
	        "the C library has no second names of its allocations, or a sanitizer has its own");
}

#endif
