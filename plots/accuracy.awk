# SPDX-License-Identifier: MIT
# The report's section on the accuracy of predictions, as markup: cases off by more than 10 % first, then baselines, families,
# ranking of variants, phases.
#   awk -v data=DIR -v id=PREFIX -v most=COUNT -f common.awk -f accuracy.awk
# With -v short=yes only the line on factorizations.

function family(i) { return T[i, "executor"] " " T[i, "operation"] "/" T[i, "variant"] "/" T[i, "precision"] }
# The compared cases among rows of the full model: their number, and rows in list. One of a phase has phase=NAME.
function cases(terms, list,   n, i, all, count) {
	n = split(rows_with("level=2" terms), all, " ")
	for (i = 1; i <= n; i++)
		if (judges(T[all[i], "verdict"]))
			list[++count] = all[i]
	return count + 0
}
function signed(x) { return percent(x, "%+.1f") }

function case_row(i, phase) {
	table_row(T[i, "verdict"] == "OK" ? "" : "bad", family(i) (phase == "" ? "" : "|" phase) "|" T[i, "m"] "|" T[i, "n"] "|" \
		with_unit(T[i, "hardware"], "s") "|" with_unit(T[i, "predicted"], "s") "|" with_unit(T[i, "measured"], "s") "|" \
		percent(T[i, "hardware_over_measured"]) "|" signed(T[i, "error"]) "|" \
		T[i, "verdict"])
}

# By shapes that seeds drew since the last change of model or profile.
function verdict(   i, n, list, seed, seeds, seen, text) {
	n = cases(" phase=", list)
	for (i = 1; i <= n; i++) {
		seed = T[list[i], "shapes"] == "drawn" ? field(list[i], "seed") : ""
		if (seed != "" && !(seed in seen))
			seeds++
		seen[seed] = 1
	}
	for (i = 1; i <= V["rows"]; i++)
		if (V[i, "family"] == "all" && V[i, "regime"] == "any" && V[i, "level"] == 2 && V[i, "shapes"] == "drawn")
			text = text (text == "" ? "" : "; ") V[i, "executor"] ": " plural(V[i, "cases"], "case") ", median error " \
				percent(V[i, "median_abs_error"]) " %, " percent(V[i, "within10"], "%.0f") " % within 10 %"
	if (seeds)
		paragraph("Verdict, by shapes that " plural(seeds, "seed") " drew since the last change of model or profile. " text ".")
}

function bad_cases(   i, j, k, n, order, whole, list) {
	whole = cases(" phase=", list)
	for (k = 1; k <= whole; k++) {
		i = list[k]
		if (magnitude(T[i, "error"]) <= 0.1)
			continue
		for (j = n++; j > 0 && magnitude(T[order[j], "error"]) < magnitude(T[i, "error"]); j--)
			order[j + 1] = order[j]
		order[j + 1] = i
	}
	paragraph("Of " plural(whole, "prediction") ", written before the runs at held-out sizes, " n + 0 \
		" are off by more than 10 %" (n > most ? "; the " most " largest errors:" : n ? ":" : "."))
	table_start(id "bad", "Cases off by more than 10 %, largest error first", "<case|>m|>n|>hardware|>predicted|>measured|>reached %|>error %|<verdict")
	for (i = 1; i <= n && i <= most; i++)
		case_row(order[i], "")
	table_end()
}

# Left out of all figures above and below.
function disturbed_cases(   k, count, list) {
	count = split(rows_with("level=2 phase= verdict=DISTURBED"), list, " ")
	if (!count)
		return
	paragraph("Disturbed cases, left out: " count ". Others used the host, or a kernel that the prediction rests on no longer takes the " \
		"probe's time, as far as that explains the error.")
	details("Disturbed cases")
	table_start(id "disturbed", "", "<case|>m|>n|>predicted|>measured|>error %|<how")
	for (k = 1; k <= count; k++)
		table_row("", family(list[k]) "|" T[list[k], "m"] "|" T[list[k], "n"] "|" with_unit(T[list[k], "predicted"], "s") "|" \
			with_unit(T[list[k], "measured"], "s") "|" signed(T[list[k], "error"]) "|" substr(T[list[k], "reason"], 12))
	table_end()
	details_end()
}

function skipped_cases(   i, j, k, n, count, list, reason, times, first) {
	count = split(rows_with("level=2 phase= verdict=SKIPPED"), list, " ")
	for (k = 1; k <= count; k++) {
		i = list[k]
		if (!((T[i, "reason"]) in times)) {
			reason[++n] = T[i, "reason"]
			first[n] = family(i) " " T[i, "m"] " x " T[i, "n"]
		}
		times[T[i, "reason"]]++
	}
	for (j = 1; j <= n; j++)
		item("skipped " times[reason[j]] ", first " first[j] ": " reason[j])
}

function families(   i, name) {
	table_start(id "families", "Errors by family: predicted / measured - 1, in %", \
		"<family|<shapes|<regime|>n|>median|!>p90|>worst|!>bias|!>in 5|>in 10|!>in 20|!>in 30|>cover|>+- %|>reached|>regret|>by rule|!>peak|!>scaled|!>interpolated")
	for (i = 1; i <= V["rows"]; i++) {
		if (id == "recorded-" && V[i, "level"] != 2 && V[i, "family"] != "all")
			continue
		name = V[i, "executor"] " " V[i, "family"]
		sub(/panel_getrf\//, "", name)
		if (V[i, "level"] != 2)
			name = name ", level " V[i, "level"]
		table_row((V[i, "level"] == 2 && V[i, "median_abs_error"] > 0.1 ? "bad" : "") (V[i, "level"] != 2 ? " lower" : "") \
			(V[i, "family"] == "all" ? " all" : ""), \
			name "|" V[i, "shapes"] "|" V[i, "regime"] "|" V[i, "cases"] "|" percent(V[i, "median_abs_error"]) "|" \
			percent(V[i, "p90_abs_error"]) "|" signed(V[i, "worst_error"]) "|" signed(V[i, "bias"]) "|" \
			percent(V[i, "within5"], "%.0f") "|" percent(V[i, "within10"], "%.0f") "|" percent(V[i, "within20"], "%.0f") "|" \
			percent(V[i, "within30"], "%.0f") "|" percent(V[i, "coverage"], "%.0f") "|" percent(V[i, "half_width"]) "|" \
			percent(V[i, "hardware_over_measured"]) "|" \
			percent(V[i, "regret"]) "|" percent(V[i, "regret_rule"]) "|" percent(V[i, "baseline_peak"]) "|" \
			percent(V[i, "baseline_scaled"]) "|" percent(V[i, "baseline_interpolated"]))
	}
	table_end("Level 0 is the bound (operations or bytes at the highest rate). Level 1 sums start-up and traffic. Rows without a level: the full " \
		"model. Shapes: drawn by seeds, or fixed. n: number of cases. " \
		"Level hardware: efficiency 1. Regime: what a prediction rests on. Hardware: no timing of a kernel or a call. Library: " \
		"timings of library calls, too. Calibrated: timings of our kernels, too. " \
		"Reached: median of the time by the hardware alone over the measured one; the rest is left on the table. " \
		"In 5 to 30: percentage of cases within that error. Cover: percentage of measurements inside the prediction's " \
		"interval. +-: median half-width of that interval. Regret: measured time of the variant predicted fastest, over " \
		"the best measured time, minus 1; by rule: where a rule chose among plans of nearly the same cost." \
		(id == "recorded-" ? " Families by other levels are in that machine's own report." : ""))
}

function baselines(   i, j, n, each, level, last, line) {
	n = split("0 1 hardware 2", each, " ")
	table_start(id "levels", "Median absolute error by level of the model, and of baselines, in %", \
		"<executor|<shapes|>level 0|>level 1|>hardware|>level 2|>peak|>scaled|>interpolated")
	for (i = 1; i <= V["rows"]; i++)
		if (V[i, "family"] == "all" && V[i, "regime"] == "any") {
			level[V[i, "executor"], V[i, "shapes"], V[i, "level"]] = percent(V[i, "median_abs_error"])
			if (V[i, "level"] == 2)
				last[V[i, "executor"], V[i, "shapes"]] = percent(V[i, "baseline_peak"]) "|" \
					percent(V[i, "baseline_scaled"]) "|" percent(V[i, "baseline_interpolated"])
		}
	for (i = 1; i <= V["rows"]; i++)
		if (V[i, "family"] == "all" && V[i, "regime"] == "any" && V[i, "level"] == 2) {
			line = V[i, "executor"] "|" V[i, "shapes"]
			for (j = 1; j <= n; j++)
				line = line "|" (((V[i, "executor"], V[i, "shapes"], each[j]) in level) ? level[V[i, "executor"], V[i, "shapes"], each[j]] : "-")
			table_row("", line "|" last[V[i, "executor"], V[i, "shapes"]])
		}
	table_end("Hardware: efficiency 1. Baselines: operations of products at the library's best rate or bytes at that of copies, the nearest size scaled by flops, interpolation between powers of two.")
}

# Pairs of variants of one panel with measured times within a factor of two: how many are ranked right.
function ranking(executor,   i, j, n, list, ratio, pairs, right) {
	n = cases(" phase= operation=panel_getrf executor=" executor, list)
	for (i = 1; i <= n; i++)
		for (j = i + 1; j <= n; j++) {
			ratio = T[list[i], "measured"] / T[list[j], "measured"]
			if (T[list[i], "m"] == T[list[j], "m"] && T[list[i], "n"] == T[list[j], "n"] && \
				T[list[i], "precision"] == T[list[j], "precision"] && field(list[i], "seed") == field(list[j], "seed") && \
				ratio <= 2 && ratio >= 0.5) {
				pairs++
				right += (ratio < 1) == (T[list[i], "predicted"] + 0 < T[list[j], "predicted"] + 0)
			}
		}
	if (pairs)
		item(executor ": of " plural(pairs, "pair") " of variants of one panel, within a factor of two of each other, " right + 0 " (" \
			percent(right / pairs, "%.0f") " %) are ranked right.")
}

function with_sign(seconds) { return (seconds < 0 ? "-" : "+") with_unit(magnitude(seconds), "s") }

# Panels off by more than 10 %: the errors of their phases, and the phase with the largest.
function phases(   i, j, w, phase, n, list, timed, name, k, names, worst, gap, whole, missed, most, sum, any) {
	n = cases("", list)
	for (j = 1; j <= n; j++) {
		i = list[j]
		phase = field(i, "phase")
		name = family(i) " " T[i, "m"] " x " T[i, "n"]
		gap = T[i, "predicted"] - T[i, "measured"]
		if (phase == "") {
			whole[name] = T[i, "error"]
			missed[name] = gap
			continue
		}
		timed = 1
		if (!(name in worst))
			names[++k] = name
		if (!(name in worst) || magnitude(gap) > magnitude(most[name])) {
			worst[name] = i
			most[name] = gap
		}
		sum[name] += gap
	}
	if (!timed)
		return
	heading(3, id "phases", "Errors by phase")
	for (j = 1; j <= k; j++) {
		name = names[j]
		if (magnitude(whole[name]) <= 0.1)
			continue
		any = 1
		w = worst[name]
		item(name " is off by " signed(whole[name]) " % (" with_sign(missed[name]) "). Its phases, timed alone, are off by " \
			with_sign(sum[name]) ", most of all " field(w, "phase") " by " with_sign(most[name]) " (" signed(T[w, "error"]) " %)" \
			(magnitude(sum[name]) < magnitude(missed[name]) / 2 ? "; the rest of the error lies between phases." : "."))
	}
	if (!any)
		paragraph("No panel whose phases were timed is off by more than 10 %.")
	details("Every phase, timed alone without the others")
	table_start(id "phase-table", "", "<case|<phase|>m|>n|>hardware|>predicted|>measured|>reached %|>error %|<verdict")
	for (j = 1; j <= n; j++)
		if (field(list[j], "phase") != "")
			case_row(list[j], field(list[j], "phase"))
	table_end()
	details_end()
}

# Interference on the host.
function shared_cores(   count, text) {
	load(data "/measurements.tsv", M)
	text = M["meta", "shared_cores"]
	count = gsub(/[0-9]+ \([0-9.]+\)/, "&", text)
	if (count)
		paragraph("Other programs used " plural(count, "core") " of the host during the measurements. Share of the core left to fathom: " \
			text (M["meta", "disturbed"] == "" ? "" : " (disturbed: " M["meta", "disturbed"] ")") \
			". Times of hybrid factorizations and of panels on the host are less certain.")
}

# Of drawn shapes, where there are any.
function print_short(   i, f, text, shapes) {
	for (i = 1; i <= V["rows"]; i++)
		if (V[i, "family"] ~ /^getrf\/gpu\/s/ && (shapes == "" || V[i, "shapes"] == "drawn"))
			shapes = V[i, "shapes"]
	for (i = 1; i <= V["rows"]; i++) {
		split(V[i, "family"], f, "/")
		if (V[i, "shapes"] == shapes && f[1] ~ /^(getrf|geqrf|potrf)$/ && f[2] == "gpu" && f[3] == "s" && V[i, "level"] == 2)
			text = text (text == "" ? "" : ", ") (f[1] == "getrf" ? "LU" : f[1] == "geqrf" ? "QR" : "Cholesky") (f[4] == "" ? "" : \
				f[4] ~ /^from/ ? " " f[4] " memory" : " by " f[4]) " " percent(V[i, "median_abs_error"]) " % (worst " \
				percent(magnitude(V[i, "worst_error"])) " %)"
	}
	if (text != "")
		item("median error of predictions, panels on the GPU, single precision, " shapes " shapes: " text)
}

BEGIN {
	validated = load(data "/validation.tsv", V)
	if (short != "") {
		print_short()
		exit
	}
	if (!load(data "/errors.tsv", T) || !validated) {
		paragraph("No comparison in " data " yet: fathom validate predicts, measures and compares.")
		exit
	}
	if (chain != "")
		note(chain)
	shared_cores()
	verdict()
	bad_cases()
	disturbed_cases()
	skipped_cases()
	baselines()
	families()
	ranking("cuda")
	ranking("host")
	phases()
}
