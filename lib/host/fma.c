/* SPDX-License-Identifier: MIT */
#include "fma.h"

#include "clock.h"

#include <math.h>

enum {
	CHAINS = 12,  /* independent: more than latency times units anywhere */
	ROUNDS = 4000 /* microseconds, beside which a reading of the clock is nothing */
};

#define CHAIN12(step)                                                                              \
	step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7) step(8) step(9) step(10)   \
	        step(11)

/* A function that does ROUNDS multiply-adds of each chain. */
#define LOOP(name, target, bytes, registers, step)                                                 \
	target static void name(void)                                                              \
	{                                                                                          \
		typedef float vector __attribute__((vector_size(bytes)));                          \
		vector s[CHAINS] = {{0}}, x = s[0] + 0.7f, y = s[0] + 0.3f;                        \
                                                                                                   \
		for (int i = 0; i < ROUNDS; i++)                                                   \
			__asm__ volatile(CHAIN12(step)                                             \
			                 : registers(s[0]), registers(s[1]), registers(s[2]),      \
			                 registers(s[3]), registers(s[4]), registers(s[5]),        \
			                 registers(s[6]), registers(s[7]), registers(s[8]),        \
			                 registers(s[9]), registers(s[10]), registers(s[11])       \
			                 : registers##_IN(x), registers##_IN(y));                  \
	}

struct loop {
	void (*run)(void);
	double flops;
};

#define FLOPS(bytes, is_double) (2. * CHAINS * ROUNDS * (bytes) / ((is_double) ? 8 : 4))

#if defined(__x86_64__)
#define REGISTERS(x) "+v"(x)
#define REGISTERS_IN(x) "v"(x)
#define SINGLE_STEP(i) "vfmadd231ps %12, %13, %" #i "\n\t"
#define DOUBLE_STEP(i) "vfmadd231pd %12, %13, %" #i "\n\t"
#define PLAIN_SINGLE_STEP(i) "mulps %12, %" #i "\n\taddps %13, %" #i "\n\t"
#define PLAIN_DOUBLE_STEP(i) "mulpd %12, %" #i "\n\taddpd %13, %" #i "\n\t"
LOOP(plain_s, , 16, REGISTERS, PLAIN_SINGLE_STEP)
LOOP(plain_d, , 16, REGISTERS, PLAIN_DOUBLE_STEP)
LOOP(avx2_s, __attribute__((target("avx2,fma"))), 32, REGISTERS, SINGLE_STEP)
LOOP(avx2_d, __attribute__((target("avx2,fma"))), 32, REGISTERS, DOUBLE_STEP)
LOOP(avx512_s, __attribute__((target("avx512f"))), 64, REGISTERS, SINGLE_STEP)
LOOP(avx512_d, __attribute__((target("avx512f"))), 64, REGISTERS, DOUBLE_STEP)

static struct loop loop_of(bool is_double)
{
	if (__builtin_cpu_supports("avx512f"))
		return (struct loop){is_double ? avx512_d : avx512_s, FLOPS(64, is_double)};
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return (struct loop){is_double ? avx2_d : avx2_s, FLOPS(32, is_double)};
	return (struct loop){is_double ? plain_d : plain_s, FLOPS(16, is_double)};
}
#elif defined(__aarch64__)
#define REGISTERS(x) "+w"(x)
#define REGISTERS_IN(x) "w"(x)
#define SINGLE_STEP(i) "fmla %" #i ".4s, %12.4s, %13.4s\n\t"
#define DOUBLE_STEP(i) "fmla %" #i ".2d, %12.2d, %13.2d\n\t"
LOOP(neon_s, , 16, REGISTERS, SINGLE_STEP)
LOOP(neon_d, , 16, REGISTERS, DOUBLE_STEP)

static struct loop loop_of(bool is_double)
{
	return (struct loop){is_double ? neon_d : neon_s, FLOPS(16, is_double)};
}
#else
static struct loop loop_of(bool is_double)
{
	(void)is_double;
	return (struct loop){NULL, NAN};
}
#endif

double fma_flops(bool is_double, double seconds)
{
	const struct loop loop = loop_of(is_double);
	const double start = clock_now();
	double flops = 0, spent;

	if (!loop.run)
		return NAN;
	do {
		loop.run();
		flops += loop.flops;
		spent = clock_now() - start;
	} while (spent < seconds);
	return flops / spent;
}
