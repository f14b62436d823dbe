/* SPDX-License-Identifier: MIT */
/* The profile: its file, its status words, interpolation between its rows; the laws and the
 * reader of costs. */
#include "profile_test.h"

/* f(blocks, threads) = 3 blocks^0.5 threads^-1.25: straight in the logarithms. */
static double law(double blocks, double threads)
{
	return 3 * sqrt(blocks) * pow(threads, -1.25);
}

static void add_law(struct profile *profile, double blocks, double threads)
{
	const struct arg at[] = {{"blocks", blocks}, {"threads", threads}};

	add(profile, "law", at, 2, about(law(blocks, threads), 0.02));
}

static struct lookup get_law(const struct profile *profile, double blocks, double threads)
{
	/* asked for in the other order than the rows have */
	const struct arg at[] = {{"threads", threads}, {"blocks", blocks}};

	return profile_get(profile, "law", at, 2);
}

static void test_status(struct profile *profile)
{
	const struct parameter_spec bounded = {
	        .name = "b", .unit = "s", .method = "", .low = 1, .high = 2};
	const struct parameter_spec free_one = {.name = "f", .unit = "s", .method = ""};
	const struct parameter_spec ratio = {.name = "r", .unit = "ratio", .method = ""};
	const struct parameter_spec vague = {
	        .name = "v", .unit = "s", .method = "", .low = 1, .high = 2};
	const struct {
		const struct parameter_spec *spec;
		struct estimate estimate;
		bool busy;
		const char *status;
	} row[] = {
	        {&bounded, {1.5, 1.4, 1.6, 9}, false, "ok"},
	        {&bounded, {1, 1, 1, 9}, false, "ok"},
	        {&bounded, {0.99, 0.98, 1, 9}, false, "failed"},
	        {&bounded, {2.01, 2, 2.02, 9}, true, "failed"},
	        {&bounded, {1.5, 1.4, 1.6, 9}, true, "noisy"},
	        {&free_one, {1, 0.79, 1.21, 9}, false, "noisy"},
	        {&free_one, {1, 0.91, 1.09, 9}, false, "ok"},
	        {&free_one, {-1, -1.05, -0.95, 9}, false, "failed"},
	        {&free_one, {-1, -3, 1, 9}, false, "noisy"},
	        {&ratio, {-1, -1.05, -0.95, 9}, false, "ok"},
	        {&free_one, {1, NAN, NAN, 9}, false, "noisy"},
	        {&free_one, {1, 1, 1, 0}, false, "failed"},
	        {&free_one, {NAN, NAN, NAN, 9}, false, "failed"},
	        {&free_one, {INFINITY, 1, INFINITY, 9}, false, "failed"},
	        {&vague, {2.1, 1.2, 3, 9}, false, "noisy"},
	        {&vague, {2.1, 1.9, 2.3, 9}, false, "failed"},
	        {&vague, {2.8, 2.1, 3.5, 9}, false, "failed"},
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		const struct arg number = {"i", (double)i};
		profile_add(profile, row[i].spec, &number, 1, row[i].estimate, row[i].busy);
		if (!ok(strcmp(profile->row[i].status, row[i].status) == 0, "status %s",
		            row[i].status))
			diag("row %zu is %s", i, profile->row[i].status);
	}
	ok(profile_failed(profile) == 8, "failed rows are counted");
	ok(!profile_get(profile, "b", NULL, 0).found, "a function asked for as a scalar");
	ok(get_at(profile, "b", "i", 2).extrapolated == false, "between usable rows");
	double low, high;
	ok(profile_range(profile, "b", "i", &low, &high) && low == 0 && high == 4,
	        "the range leaves failed rows out at its ends");
}

static void test_bounded(struct profile *profile)
{
	const struct parameter_spec reach = {.name = "reach", .unit = "B", .method = ""};
	const struct parameter_spec size = {.name = "size", .unit = "B", .method = ""};
	struct fault fault = {.text = ""};

	profile_add_bounded(profile, &reach, NULL, 0, 1e11, NAN, 9);
	profile_add_bounded(profile, &size, NULL, 0, NAN, NAN, 9);
	ok(!profile_get(profile, "reach", NULL, 0).found, "a bound is no value");
	ok(profile_failed(profile) == 0, "not resolved is not failed");
	struct profile *read = profile_from_table(profile_to_table(profile), &fault);
	ok(read && strcmp(read->row[0].status, "bounded") == 0 &&
	                read->row[0].estimate.low == 1e11 && isnan(read->row[0].estimate.high) &&
	                isnan(read->row[0].estimate.value),
	        "a bound survives the file");
	profile_free(read);
}

static void test_scalar(struct profile *profile)
{
	const struct parameter_spec gone = {.name = "gone", .unit = "s", .method = ""};

	add(profile, "one", NULL, 0, (struct estimate){5e-6, 4.9e-6, 5.2e-6, 12});
	profile_add(profile, &gone, NULL, 0, (struct estimate){NAN, NAN, NAN, 0}, false);
	struct lookup one = profile_get(profile, "one", NULL, 0);
	ok(one.found && !one.extrapolated, "a scalar is found");
	ok(one.estimate.value == 5e-6 && one.estimate.low == 4.9e-6 &&
	                one.estimate.high == 5.2e-6 && one.estimate.samples == 12,
	        "with its interval and samples");
	is_text(one.regime, "hardware", "regime by default");
	is_text(one.status, "ok", "status");
	ok(!profile_get(profile, "gone", NULL, 0).found, "a failed scalar is not found");
	struct lookup two = profile_get(profile, "two", NULL, 0);
	ok(!two.found && isnan(two.estimate.value), "nor is an unknown name");
	double low, high;
	ok(!profile_range(profile, "one", "bytes", &low, &high), "a scalar has no range");
}

static double power(double x)
{
	return 2e-9 * pow(x, 0.8);
}

static void test_one_argument(struct profile *profile)
{
	double low, high;

	for (double x = 4096; x <= 0x1p30; x *= 4)
		add_at(profile, "f", "bytes", x, power(x));
	is_at(profile, "f[bytes=1048576]", power(0x1p20), 0, false, "exact at a row");
	is_at(profile, "f[bytes=12345]", power(12345), 1e-12, false, "a power law between rows");
	is_real(lookup_of(profile, "f[bytes=12345]").estimate.high, 1.01 * power(12345), 1e-12,
	        "so is its interval");
	is_at(profile, "f[bytes=4294967296]", power(0x1p32), 1e-12, true, "the slope above");
	is_real(lookup_of(profile, "f[bytes=4294967296]").estimate.low, 0.99 * power(0x1p32), 1e-12,
	        "with the end's interval");
	is_at(profile, "f[bytes=16]", power(16), 1e-12, true, "the slope below");
	ok(!lookup_of(profile, "f[words=16]").found, "an argument the function does not have");
	ok(!lookup_of(profile, "f").found, "a missing argument");
	ok(profile_range(profile, "f", "bytes", &low, &high) && low == 4096 && high == 0x1p30,
	        "range of the argument");

	for (double x = 1024; x <= 4096; x *= 2)
		add_at(profile, "step", "m", x, x);
	add_at(profile, "step", "m", 4160, 3 * 4160);
	is_at(profile, "step[m=4160]", 3 * 4160, 0, false, "a step at the end");
	is_at(profile, "step[m=8320]",
	        3 * 4160 * pow(2, log(3 * 4160 / 2048.0) / log(4160 / 2048.0)), 1e-9, true,
	        "beyond it the slope from the row before those two goes on");
}

static void test_odd_functions(struct profile *profile)
{
	add_at(profile, "single", "bytes", 4, 7);
	is_at(profile, "single[bytes=4]", 7, 0, false, "one row: at it");
	is_at(profile, "single[bytes=8]", 7, 0, true, "one row: elsewhere");
	add_at(profile, "zero", "offset", 0, 2);
	add_at(profile, "zero", "offset", 8, 4);
	is_at(profile, "zero[offset=0]", 2, 0, false, "argument 0: at the row");
	is_at(profile, "zero[offset=4]", sqrt(8), 1e-12, false, "argument 0: linear towards it");
	const struct parameter_spec negative = {.name = "negative", .unit = "ratio", .method = ""};
	const struct arg near = {"x", 1}, far = {"x", 4};
	profile_add(profile, &negative, &near, 1, about(-1, 0.01), false);
	profile_add(profile, &negative, &far, 1, about(3, 0.01), false);
	is_at(profile, "negative[x=2]", 1, 1e-12, false, "a negative value: linear in the value");
	struct estimate e = lookup_of(profile, "negative[x=2]").estimate;
	ok(e.low <= 1 && e.high >= 1, "the interval stays around the value");
	add(profile, "open", &(struct arg){"x", 1}, 1, (struct estimate){1, 0.5, INFINITY, 3});
	add(profile, "open", &(struct arg){"x", 4}, 1, (struct estimate){1, NAN, 2, 3});
	e = lookup_of(profile, "open[x=2]").estimate;
	ok(isinf(e.high), "an open end of an interval stays open");
	ok(isnan(e.low), "an unknown end stays unknown");
}

static void test_grid(struct profile *profile)
{
	for (double blocks = 1; blocks <= 256; blocks *= 4)
		for (double threads = 32; threads <= 1024; threads *= 2)
			if (!(blocks == 16 && threads == 1024) && !(blocks == 4 && threads == 128))
				add_law(profile, blocks, threads);
	/* the arguments are asked for in the other order than the rows have */
	is_at(profile, "law[threads=64,blocks=4]", law(4, 64), 0, false, "2-D: exact at a row");
	is_at(profile, "law[threads=300,blocks=10]", law(10, 300), 1e-12, false,
	        "2-D: a power law is exact between");
	is_real(get_law(profile, 10, 300).estimate.low, 0.98 * law(10, 300), 1e-12,
	        "2-D: and its interval");
	is_at(profile, "law[threads=128,blocks=4]", law(4, 128), 1e-12, false, "a hole");
	is_at(profile, "law[threads=1000,blocks=16]", law(16, 1000), 1e-12, false,
	        "a hole at the edge, along the other argument");
	is_at(profile, "law[threads=2048,blocks=2]", law(2, 2048), 1e-12, true,
	        "2-D: beyond one argument");
	is_at(profile, "law[threads=16,blocks=1000]", law(1000, 16), 1e-12, true,
	        "2-D: beyond both");
	struct lookup f = get_law(profile, NAN, 64);
	ok(isnan(f.estimate.value) && f.extrapolated, "2-D: nothing at what is no number");
	f = get_law(profile, 4, NAN);
	ok(isnan(f.estimate.value) && f.extrapolated, "2-D: of either argument");
	ok(get_law(profile, INFINITY, -INFINITY).extrapolated, "2-D: beyond everything");
}

static void test_quality(struct profile *profile)
{
	const struct parameter_spec spec = {
	        .name = "f", .unit = "s", .method = "", .regime = "library"};
	const struct arg at[] = {{"n", 1}, {"n", 2}, {"n", 4}};

	add(profile, "f", &at[0], 1, about(1, 0.01));
	profile_add(profile, &spec, &at[1], 1, about(2, 0.3), false);
	add(profile, "f", &at[2], 1, (struct estimate){4, 4, 4, 3});
	struct lookup f = get_at(profile, "f", "n", 1.5);
	is_text(f.status, "noisy", "the worst status of the rows used");
	is_text(f.regime, "library", "the last regime of the rows used");
	f = get_at(profile, "f", "n", 3);
	ok(f.estimate.samples == 3, "the fewest samples of the rows used");
	f = get_at(profile, "f", "n", 4);
	ok(strcmp(f.status, "ok") == 0 && strcmp(f.regime, "hardware") == 0,
	        "a row hit exactly stands alone");
}

static void test_file(struct profile *profile)
{
	struct fault fault = {.text = ""};

	add_law(profile, 132, 256);
	add_at(profile, "f", "bytes", 0x1p40, 1.5);
	add(profile, "gpu.one", NULL, 0, (struct estimate){NAN, NAN, NAN, 0});
	struct table *table = profile_to_table(profile);
	table_meta_set(table, "gpu", "paper machine");
	is_text(table_text(table, 0, "parameter"), "law[blocks=132,threads=256]", "a row's name");
	is_text(table_text(table, 1, "parameter"), "f[bytes=1099511627776]", "a large argument");
	struct profile *back = profile_from_table(table, &fault);
	if (!ok(back && back->count == 3, "there and back"))
		diag("%s", fault.text);
	is_real(get_law(back, 132, 256).estimate.value, law(132, 256), 1e-8, "same value");
	is_real(get_at(back, "f", "bytes", 0x1p40).estimate.value, 1.5, 0, "same argument");
	ok(!profile_get(back, "gpu.one", NULL, 0).found, "failed stays failed");
	is_text(table_meta(back->source, "gpu"), "paper machine", "metadata is kept");
	profile_free(back);
}

/* One row with the given fields is refused for the reason given. */
static void refused(const char *name, const char *low, const char *high, const char *samples,
        const char *regime, const char *status, const char *reason)
{
	static const char *const columns[] = {"parameter", "value", "unit", "low", "high",
	        "samples", "method", "regime", "status"};
	const char *const good[] = {"a[n=1]", "2", "s", "1", "3", "9", "", "hardware", "ok"};
	const char *const cell[] = {name, "2", "s", low, high, samples, "", regime, status};
	struct table *table = table_new(columns, ARRAY_LEN(columns));
	struct fault fault = {.text = ""};

	for (size_t r = 0; r < 2; r++) {
		table_add_row(table);
		for (size_t c = 0; c < ARRAY_LEN(columns); c++)
			table_set_text(table, r, columns[c], r ? cell[c] : good[c]);
	}
	struct profile *profile = profile_from_table(table, &fault);
	if (!ok(!profile && strstr(fault.text, "row 2") && strstr(fault.text, reason),
	            "refused: %s %s", name, reason))
		diag("%s", profile ? "accepted" : fault.text);
	profile_free(profile);
}

static void test_refused(void)
{
	static const char *const name[][2] = {{"", "a name"}, {"a b", "only letters"},
	        {"a[", "name=value"}, {"a[n]", "name=value"}, {"a[n=]", "not a number"},
	        {"a[n=x]", "not a number"}, {"a[n=1", "brackets"}, {"a[n=1]x", "brackets"},
	        {"a[n=1,n=2]", "twice"}, {"a[a=1,b=1,c=1,d=1,e=1]", "too many"},
	        {"a[n=1.0]", "twice"}};
	struct fault fault = {.text = ""};

	for (size_t i = 0; i < ARRAY_LEN(name); i++)
		refused(name[i][0], "1", "3", "9", "hardware", "ok", name[i][1]);
	refused("gpu.dram.copy", "1", "3", "9", "hardware", "ok",
	        "another one than the model knows");
	refused("gpu.sm.count", "1", "3", "9", "hardware", "ok",
	        "another one than the model knows");
	refused("b", "3", "1", "9", "hardware", "ok", "low lies above high");
	refused("b", "1", "3", "-1", "hardware", "ok", "samples");
	refused("b", "1", "3", "many", "hardware", "ok", "samples");
	refused("b", "1", "3", "9", "surface", "ok", "regime");
	refused("b", "1", "3", "9", "hardware", "fine", "status");
	static const char *const few[] = {"parameter", "value"};
	ok(!profile_from_table(table_new(few, 2), &fault) && strstr(fault.text, "unit"),
	        "refused: a missing column is named");
	ok(!profile_read("/nonexistent/profile.tsv", &fault) &&
	                strstr(fault.text, "/nonexistent/profile.tsv"),
	        "refused: a missing file is named");
}

/* Whether a row with this value, unit and status is read. */
static bool is_read(const char *value, const char *unit, const char *status)
{
	static const char *const columns[] = {"parameter", "value", "unit", "low", "high",
	        "samples", "method", "regime", "status"};
	const char *const cell[] = {"a", value, unit, "-9", "9", "9", "", "hardware", status};
	struct table *table = table_new(columns, ARRAY_LEN(columns));
	struct fault fault = {.text = ""};

	table_add_row(table);
	for (size_t c = 0; c < ARRAY_LEN(columns); c++)
		table_set_text(table, 0, columns[c], cell[c]);
	struct profile *profile = profile_from_table(table, &fault);
	profile_free(profile);
	return profile || !strstr(fault.text, "the value is below 0");
}

static void test_negative(void)
{
	static const char *const amounts[] = {"s", "B", "B/s", "flop/s", "Hz", "count", "W"};

	for (size_t i = 0; i < ARRAY_LEN(amounts); i++) {
		ok(!is_read("-1", amounts[i], "ok"), "refused: -1 %s", amounts[i]);
		ok(is_read("-1", amounts[i], "failed"), "but for a row that failed");
		ok(is_read("1", amounts[i], "ok"), "an interval may reach below 0");
		ok(is_read("-1", amounts[i], "noisy"), "so may a noisy value");
	}
	ok(is_read("-1", "ratio", "ok"), "a ratio may be below 0");
}

static void test_print(struct profile *profile)
{
	char *text = NULL;
	size_t size = 0;

	for (int n = 1; n <= 6; n++)
		add_at(profile, "f", "n", n, 1e-6 * n);
	add(profile, "one", NULL, 0, about(2.5e-9, 0.4));
	FILE *out = open_memstream(&text, &size);
	profile_print(profile, false, out);
	fclose(out);
	is_text(text,
	        "parameter             value  unit  +- %  samples  status\n"
	        "f[n=1]                    1  us     1.0       30  ok\n"
	        "  ... 4 rows, all ok\n"
	        "f[n=6]                    6  us     1.0       30  ok\n"
	        "one                     2.5  ns    40.0       30  noisy\n",
	        "one aligned table, long functions shortened");
	free(text);
	add(profile, "host.l1.latency", NULL, 0, about(2.5e-9, 0.4));
	out = open_memstream(&text, &size);
	profile_print_counts(profile, out);
	fclose(out);
	is_text(text, "8 parameters: 6 ok, 2 noisy (host 1), 0 bounded, 0 failed\n",
	        "and a line of what they are");
	free(text);
}

static void test_laws(void)
{
	is_real(model_flops_getrf(5, 1), 5, 1e-12,
	        "flops of a 5 x 1 panel: a reciprocal and four multiplications");
	is_real(model_flops_getrf(5, 2), 17, 1e-12,
	        "flops of a 5 x 2 panel: 5 + 4 scaling, 8 updating");
	is_real(model_flops_getrf(2, 2), 5, 1e-12, "flops of a 2 x 2 LU: both pivots count one");
	is_real(model_flops_ger(5, 3), 30, 0, "flops of a 5 x 3 ger");
	is_real(model_line(5e-6, 75e9, 75e3), 6e-6, 1e-12, "alpha + bytes/beta");
}

/* The reader of a profile that notes what it reads, on LAWN 202's machine. */
static void test_reader(void)
{
	struct fault fault = {.text = ""};
	struct profile *profile = profile_read("data/papers/8800gtx/profile.tsv", &fault);
	struct model model;

	if (!ok(profile != NULL, "a paper's machine is read: %s", fault.text))
		return;
	model_start(&model, profile);
	model_scalar(&model, "gpu.copy.beta");
	model_scalar(&model, "gpu.copy.beta");
	ok(model.used_count == 1, "a parameter read twice is noted once");
	is_text(model.used[0], "gpu.copy.beta", "under its name");
	ok(!model.missing && !model.extrapolated && !regime_is_timing(model.regime),
	        "nothing else is noted");

	is_real(model_scalar(&model, "gpu.no.such"), NAN, 0, "an unknown parameter is NaN");
	ok(model.missing, "and missing");
	is_text(model.missing_name, "gpu.no.such", "by its name");
	model_scalar(&model, "gpu.none");
	is_text(model.missing_name, "gpu.no.such", "the first missing one is kept");
	ok(model.used_count == 1, "a missing parameter is not used");

	model_start(&model, profile);
	model_at2(&model, "gpu.copy.stride", "words", 262144, "stride", 2);
	ok(!model.extrapolated, "between rows is no extrapolation");
	model_at2(&model, "gpu.copy.stride", "words", 262144, "stride", 1024);
	ok(model.extrapolated, "beyond the rows is");
	model_start(&model, profile);
	model_at2(&model, "gpu.none", "m", 2, "n", 3);
	is_text(model.missing_name, "gpu.none[m=2,n=3]",
	        "a missing function is named with arguments");
	profile_free(profile);
}

static void (*const with_profile[])(struct profile *) = {test_status, test_bounded, test_scalar,
        test_one_argument, test_odd_functions, test_grid, test_quality, test_file, test_print};

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(with_profile); i++) {
		struct profile *profile = profile_new();
		with_profile[i](profile);
		profile_free(profile);
	}
	test_refused();
	test_negative();
	test_laws();
	test_reader();
	return finish();
}
