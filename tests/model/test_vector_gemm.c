/* SPDX-License-Identifier: MIT */
/* The estimates of the vector-thread product: LAWN 202's law with the counts and GPUs of
 * data/papers/volkov2008.tsv gives the cycles of section 4.4, every estimate of Table 2 and the
 * reduction of bandwidth; and today's law follows from the profile, by hand. */
#include "factor/model/cost/vector_gemm.h"
#include "tests/tap.h"
#include "model_profile.h"

/* The value of the key "prefix first.second" in the papers' file; NaN when it is not there. */
static double paper(FILE *file, const char *prefix, const char *first, const char *second)
{
	char line[512], key[96];
	double value = NAN;

	snprintf(key, sizeof key, "%s%s.%s", prefix, first, second);
	rewind(file);
	while (fgets(line, sizeof line, file))
		if (strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] == '\t')
			value = atof(line + strlen(key) + 1);
	return value;
}

static void test_paper(FILE *file)
{
	static const struct {
		const char *name;
		double cycles;
	} product[] = {{"ab", 1752}, {"abt", 448}};
	static const char *const gpu[] = {"fx5600", "8800gtx", "8800gts", "8600gts"};
	const struct vector_cycles cycles = {
	        .fma = paper(file, "", "8800gtx", "fma_issue_shared_operand"),
	        .half_width = 2,
	        .rest = paper(file, "", "8800gtx", "fma_issue")};

	for (size_t p = 0; p < ARRAY_LEN(product); p++) {
		const char *name = product[p].name;
		const struct vector_loop loop = {paper(file, "gemm_", name, "inner_instructions"),
		        paper(file, "gemm_", name, "inner_fma"),
		        paper(file, "gemm_", name, "inner_half_width")};
		const double turn = vector_loop_cycles(&loop, &cycles);
		char what[64];
		snprintf(what, sizeof what, "%s: cycles of one pass of the loop", name);
		is_real(turn, product[p].cycles, 0, what);
		for (size_t g = 0; g < ARRAY_LEN(gpu); g++) {
			const double rate =
			        vector_loop_rate(&loop, turn, paper(file, "", gpu[g], "simd_cores"),
			                1e9 * paper(file, "", gpu[g], "core_clock"));
			char key[64];
			snprintf(key, sizeof key, "%s.gemm.%s", gpu[g], name);
			snprintf(what, sizeof what, "%s on %s: Table 2's estimate, Gflop/s", name,
			        gpu[g]);
			is_real(round(rate * 1e-9), paper(file, "", key, "estimate"), 0, what);
		}
	}
	is_real(vector_reduction(VECTOR_ROWS, VECTOR_COLUMNS), 25.6, 1e-12,
	        "64 x 16 blocks need 25.6 times less bandwidth");
	is_real(round(4e-9 * 206e9 / vector_reduction(64, 16)), 32, 0,
	        "206 Gflop/s read A and B at 32 GB/s");
}

/* 100 multiprocessors at 1 GHz, that issue 4 instructions a cycle and move 128 bytes a cycle from
 * shared memory; L2 at 4 TB/s. */
static struct profile *made_up(void)
{
	struct profile *p = profile_new();

	ADD(p, 0, {"gpu.sm.count", 100}, {"gpu.fma.s.rate", 2.56e13},
	        {"gpu.bank.saturated.broadcast[words=1,width=16]", 2e-9},
	        {"gpu.bank.saturated.store[ways=1,width=4]", 1e-9},
	        {"gpu.bank.saturated.load[ways=1,width=4]", 1e-9}, {"gpu.l2.read", 4e12});
	return p;
}

static void test_today(const struct profile *profile)
{
	struct model model;

	model_start(&model, profile);
	struct vector_estimate e = vector_estimate(&model, false, VOLKOV_COMPLETE);
	is_real(e.issue, 2.56e13 * 256 / 414, 1e-12,
	        "A B: one issue slot for each of 414 instructions");
	is_real(e.shared, 100 * 64e9 * 256 / (2 * 68 + 4 + 20), 1e-12,
	        "A B: 160 cycles of the path to shared memory");
	is_real(e.l2, 4e12 * (2 * 25.6) / (2 * 4), 1e-12, "A B: L2 reads 25.6 times fewer words");
	is_real(e.rate, e.shared, 0, "the slowest limit decides");
	e = vector_estimate(&model, true, VOLKOV_COMPLETE);
	is_real(e.shared, 100 * 64e9 * 64 / (2 * 16 + 1 + 5), 1e-12, "A B^T: 38 cycles");
	e = vector_estimate(&model, true, VOLKOV_NO_FETCH);
	is_real(e.shared, 100 * 64e9 * 64 / (2 * 16 + 1), 1e-12, "A B^T without fetches: 33");
	ok(isinf(e.l2) && !model.missing, "without fetches L2 is no limit");
	struct profile empty = {0};
	model_start(&model, &empty);
	e = vector_estimate(&model, true, VOLKOV_COMPLETE);
	ok(isnan(e.rate) && model.missing, "no estimate without the parameters");
}

int main(void)
{
	FILE *file = fopen("data/papers/volkov2008.tsv", "r");
	struct profile *profile = made_up();

	if (ok(file != NULL, "data/papers/volkov2008.tsv is read")) {
		test_paper(file);
		fclose(file);
	}
	test_today(profile);
	profile_free(profile);
	return finish();
}
