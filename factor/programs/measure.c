/* SPDX-License-Identifier: MIT */
/* The studies that measure, each with a file of rows (measure.h), and the command line. */
#include "measure.h"

#include "lib/base/msg.h"
#include "bench.h"

#include <signal.h>
#include <string.h>

enum { BENCH, KERR, SEVERAL, GRAM_HOST, UPDATE, PAPER, PREDICTED, STUDIES };

static const struct study studies[STUDIES] = {
        [BENCH] = {"bench.tsv", NULL, NULL, true, 3600, measure_bench, bench_print},
        [KERR] = {"kerr.tsv", NULL, NULL, true, 600, measure_kerr, NULL, true},
        [SEVERAL] = {"several_gpus.tsv", NULL, NULL, true, 1200, measure_several, several_print},
        [GRAM_HOST] = {"gram_host.tsv", NULL, NULL, false, 400, measure_gram_sweep, NULL},
        [UPDATE] = {"update.tsv", "update_predictions.tsv", "predict --update", true, 400,
                measure_update, NULL},
        [PAPER] = {"update_paper.tsv", NULL, NULL, false, 400, measure_update_paper, NULL},
        [PREDICTED] = {"measurements.tsv", "predictions.tsv", "predict", true, 400,
                measure_predicted, NULL}};

static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t stopped;

/* The first signal lets the current runs end; a second one ends the program at once. */
static void stop(int signal_number)
{
	stopped = signal_number;
}

static void check_only(const struct bench_request *request, const bool chosen[STUDIES])
{
	const bool bench = chosen[BENCH], kerr = chosen[KERR], several = chosen[SEVERAL];
	static const char *const of_bench[] = {"panel_getrf", "getrf", "geqrf", "potrf", "gemm",
	        "transpose", "laswp", "trsm", "syrk", "trmm", "small_gemm", "thin_gemm", "scopy",
	        "lawn_errors", "kind_errors", "gramschmidt", "gram_kernels", "widths", "breakdown",
	        NULL};
	static const char *const of_kerr[] = {"blas", "kerr", "reflectors", "steps", "ahead",
	        "balance", "cusolver", "gemv", "lapack", NULL};
	static const char *const of_several[] = {"getrf", "potrf", "geqrf", NULL};

	int studies_chosen = 0;
	for (int s = 0; s < STUDIES; s++)
		studies_chosen += chosen[s];
	if (studies_chosen > 1)
		msg_die(EXIT_BAD_USAGE, "one study a call: --bench, --kerr, --several, "
		                        "--gram-host, --update or --paper");
	if ((request->model_plans || request->tall) && !bench)
		msg_die(EXIT_BAD_USAGE, "%s belongs to --bench",
		        request->tall ? "--tall" : "--model-plans");
	if (request->drawn && !several)
		msg_die(EXIT_BAD_USAGE, "--drawn belongs to --several");
	if (!request->only[0])
		return;
	if (bench + kerr + several != 1)
		msg_die(EXIT_BAD_USAGE, "--only belongs to one of --bench, --kerr and --several");
	for (const char *const *known = bench     ? of_bench
	                                : several ? of_several
	                                          : of_kerr;
	        *known; known++)
		if (strcmp(request->only, *known) == 0)
			return;
	msg_die(EXIT_BAD_USAGE, "--only=%s is none of those that --help names", request->only);
}

int main(int argc, char **argv)
{
	bool chosen[STUDIES] = {false};
	enum math math;
	static struct measure measure = {
	        .request = {.only = "", .math = "", .smallest = 1, .largest = 1048576}};
	struct bench_request *request = &measure.request;
	const struct cli_option options[] = {
	        {"bench", 0, CLI_FLAG, &chosen[BENCH], NULL,
	                "ours against cuSOLVER and the host at the documented sizes", 0, 0},
	        {"kerr", 0, CLI_FLAG, &chosen[KERR], NULL,
	                "QR with the whole Q, phase by phase, as Kerr et al. measured it", 0, 0},
	        {"several", 0, CLI_FLAG, &chosen[SEVERAL], NULL,
	                "LU, Cholesky and QR on 1, 2, 4 .. and all GPUs", 0, 0},
	        {"gram-host", 0, CLI_FLAG, &chosen[GRAM_HOST], NULL,
	                "Gram-Schmidt on the host by threads, widths of blocks and compilers", 0,
	                0},
	        {"update", 0, CLI_FLAG, &chosen[UPDATE], NULL,
	                "changes of a QR factorization against factorizing again, as predict "
	                "--update predicted them",
	                0, 0},
	        {"paper", 0, CLI_FLAG, &chosen[PAPER], NULL,
	                "Andrew and Dingle's algorithms: block widths, stages, errors; serial ones",
	                0, 0},
	        {"again", 0, CLI_FLAG, &measure.again, NULL,
	                "measure again what the file has; --gram-host and --paper always do", 0, 0},
	        {"only", 0, CLI_TEXT, &request->only, "OPERATION",
	                "with --bench: panel_getrf, getrf, geqrf, potrf, gemm, transpose, laswp, "
	                "trsm, syrk, trmm, small_gemm, thin_gemm, scopy, lawn_errors, kind_errors, "
	                "gramschmidt, gram_kernels, widths or breakdown alone; with --kerr: blas, "
	                "kerr, "
	                "reflectors, steps, ahead, balance, cusolver, gemv or lapack; with "
	                "--several: "
	                "getrf, potrf or geqrf",
	                0, 0},
	        {"model-plans", 0, CLI_FLAG, &request->model_plans, NULL,
	                "with --bench: only whole factorizations, largest squares first, ours by "
	                "the model's plans; host memory and ablations at powers of two",
	                0, 0},
	        {"math", 0, CLI_TEXT, &request->math, "fp32|3xtf32|3xfp16|fp64",
	                "with --bench or --several: ours in single precision by this math; fp64: "
	                "factorizations in double precision alone",
	                0, 0},
	        {"tall", 0, CLI_FLAG, &request->tall, NULL,
	                "with --bench: only matrices of at least eight rows a column", 0, 0},
	        {"smallest", 0, CLI_INT, &request->smallest, "N",
	                "with --bench, --kerr or --several: from this many rows on", 1, 1e9},
	        {"largest", 0, CLI_INT, &request->largest, "N",
	                "with --bench, --kerr or --several: up to this many rows and columns", 1,
	                1e9},
	        {"drawn", 0, CLI_INT, &request->drawn, "N",
	                "with --several: so many orders drawn by --seed, not the documented ones",
	                0, SEVERAL_DRAWN},
	        {"budget", 0, CLI_REAL, &measure.budget, "SECONDS",
	                "no new shape later (0: 400; --bench 3600, --several 1200, --kerr 600)", 0,
	                1e6}};
	const struct cli_program program = {.name = "fathom-measure",
	        .summary = "Runs the predicted operations and measures their times.",
	        .examples = "fathom measure\n"
	                    "fathom measure --bench --only getrf --largest 8192\n",
	        .details = "Reads predictions.tsv and writes measurements.tsv in OUTPUT.",
	        .options = options,
	        .option_count = ARRAY_LEN(options)};

	cli_parse(argc, argv, &program, &measure.common, NULL);
	if (request->math[0] && !double_alone(request) && !math_find(request->math, &math))
		msg_die(EXIT_BAD_USAGE, "--math %s: fp32, 3xtf32, 3xfp16 and fp64 are possible",
		        request->math);
	check_only(request, chosen);
	if (chosen[KERR] && measure.common.json)
		msg_die(EXIT_BAD_USAGE, "--kerr has no JSON: its rows are in kerr.tsv");
	bool quick = measure.common.quick;
	measure.plan = (struct timing_plan){.warm_seconds = quick ? 0.005 : 0.03,
	        .max_seconds = quick ? 0.05 : 0.2,
	        .target = 0.01,
	        .seed = (uint64_t)measure.common.seed << 32,
	        .stop = &stopped};
	if (chosen[UPDATE]) { /* many short cases */
		measure.plan.warm_seconds = 0.003;
		measure.plan.max_seconds = 0.02;
	}
	for (int i = 0; i < (int)ARRAY_LEN(stops); i++)
		sigaction(stops[i],
		        &(struct sigaction){.sa_handler = stop, .sa_flags = (int)SA_RESETHAND},
		        NULL);
	measure.argc = argc;
	measure.argv = argv;
	for (int s = 0; s < PREDICTED; s++)
		if (chosen[s])
			return measure_study(&measure, &studies[s]);
	return measure_study(&measure, &studies[PREDICTED]);
}
