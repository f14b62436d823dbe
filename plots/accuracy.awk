# SPDX-License-Identifier: MIT
# The report's section on the accuracy of predictions, as markup: cases off by more than 10 % first, then baselines, families,
# ranking of variants, phases.
#   awk -v data=DIR -v id=PREFIX -v most=COUNT -f common.awk -f accuracy.awk
# With -v short=yes only the line on factorizations.

function family(i) { return E[i, "executor"] " " E[i, "operation"] "/" E[i, "variant"] "/" E[i, "precision"] }
function is_whole(i) { return option(E[i, "options"], "phase") == "" && E[i, "level"] == 2 }
function size(x) { return x < 0 ? -x : x }
function signed(x) { return percent(x, "%+.1f") }

function case_row(i, phase) {
	table_row(E[i, "verdict"] == "OK" ? "" : "bad", family(i) (phase == "" ? "" : "|" phase) "|" E[i, "m"] "|" E[i, "n"] "|" \
		with_unit(E[i, "predicted"], "s") "|" with_unit(E[i, "measured"], "s") "|" signed(E[i, "error"]) "|" \
		E[i, "verdict"])
}

function bad_cases(   i, j, n, order, whole) {
	for (i = 1; i <= E["rows"]; i++) {
		if (!is_whole(i) || E[i, "verdict"] == "SKIPPED")
			continue
		whole++
		if (E[i, "verdict"] == "OK")
			continue
		for (j = n++; j > 0 && size(E[order[j], "error"]) < size(E[i, "error"]); j--)
			order[j + 1] = order[j]
		order[j + 1] = i
	}
	paragraph("Of " plural(whole, "prediction") ", written before the runs at held-out sizes, " n + 0 \
		" are off by more than 10 %" (n > most ? "; the " most " largest errors:" : n ? ":" : "."))
	if (!n)
		return
	table_start(id "bad", "Cases off by more than 10 %, largest error first", "<case|>m|>n|>predicted|>measured|>error %|<verdict")
	for (i = 1; i <= n && i <= most; i++)
		case_row(order[i], "")
	table_end()
}

function skipped_cases(   i, j, n, reason, times, first) {
	for (i = 1; i <= E["rows"]; i++) {
		if (!is_whole(i) || E[i, "verdict"] != "SKIPPED")
			continue
		for (j = 1; j <= n && reason[j] != E[i, "reason"]; j++)
			;
		if (j > n) {
			reason[++n] = E[i, "reason"]
			first[n] = family(i) " " E[i, "m"] " x " E[i, "n"]
		}
		times[j]++
	}
	for (j = 1; j <= n; j++)
		item("skipped " times[j] ", first " first[j] ": " reason[j])
}

function families(   i, name) {
	table_start(id "families", "Errors by family: predicted / measured - 1, in %", \
		"<family|<regime|>n|>median|>p90|>worst|>bias|!>in 5|>in 10|!>in 20|!>in 30|>cover|>+- %|>regret|!>peak|!>scaled")
	for (i = 1; i <= V["rows"]; i++) {
		name = V[i, "executor"] " " V[i, "family"]
		sub(/panel_getrf\//, "", name)
		if (V[i, "level"] < 2)
			name = name ", level " V[i, "level"]
		table_row((V[i, "level"] == 2 && V[i, "median_abs_error"] > 0.1 ? "bad" : "") (V[i, "level"] < 2 ? " lower" : "") \
			(V[i, "family"] == "all" ? " all" : ""), \
			name "|" V[i, "regime"] "|" V[i, "cases"] "|" percent(V[i, "median_abs_error"]) "|" \
			percent(V[i, "p90_abs_error"]) "|" signed(V[i, "worst_error"]) "|" signed(V[i, "bias"]) "|" \
			percent(V[i, "within5"], "%.0f") "|" percent(V[i, "within10"], "%.0f") "|" percent(V[i, "within20"], "%.0f") "|" \
			percent(V[i, "within30"], "%.0f") "|" percent(V[i, "coverage"], "%.0f") "|" percent(V[i, "half_width"]) "|" \
			percent(V[i, "regret"]) "|" percent(V[i, "baseline_peak"]) "|" percent(V[i, "baseline_scaled"]))
	}
	table_end()
	paragraph("Level 0 is the bound (bytes at the peak rate). Level 1 sums start-up and traffic. Rows without a level: the full " \
		"model. n: number of cases. " \
		"Regime hardware: uses hardware parameters alone. Regime surface: uses measured rates of a library or kernel. " \
		"In 5 to 30: percentage of cases within that error. Cover: percentage of measurements inside the prediction's " \
		"interval. +-: median half-width of that interval. Regret: measured time of the variant predicted fastest, over " \
		"the best measured time, minus 1.")
}

function baselines(   i) {
	table_start(id "levels", "Median absolute error by level of the model, and of two baselines, in %", \
		"<executor|>level 0|>level 1|>level 2|>bytes at peak rate|>nearest size scaled by flops")
	for (i = 1; i <= V["rows"]; i++)
		if (V[i, "family"] == "all" && V[i, "regime"] == "any") {
			error[V[i, "executor"], V[i, "level"]] = percent(V[i, "median_abs_error"])
			peak[V[i, "executor"]] = percent(V[i, "baseline_peak"])
			scaled[V[i, "executor"]] = percent(V[i, "baseline_scaled"])
			if (V[i, "level"] == 2)
				seen[++executors] = V[i, "executor"]
		}
	for (i = 1; i <= executors; i++)
		table_row("", seen[i] "|" error[seen[i], 0] "|" error[seen[i], 1] "|" error[seen[i], 2] "|" peak[seen[i]] "|" scaled[seen[i]])
	table_end()
}

# Pairs of variants of one panel with measured times within a factor of two: how many are ranked right.
function ranking(executor,   i, j, n, list, ratio, pairs, right) {
	for (i = 1; i <= E["rows"]; i++)
		if (is_whole(i) && E[i, "executor"] == executor && E[i, "operation"] == "panel_getrf" && E[i, "verdict"] != "SKIPPED")
			list[++n] = i
	for (i = 1; i <= n; i++)
		for (j = i + 1; j <= n; j++) {
			if (E[list[i], "m"] != E[list[j], "m"] || E[list[i], "n"] != E[list[j], "n"] || \
				E[list[i], "precision"] != E[list[j], "precision"])
				continue
			ratio = E[list[i], "measured"] / E[list[j], "measured"]
			if (ratio > 2 || ratio < 0.5)
				continue
			pairs++
			right += (ratio < 1) == (E[list[i], "predicted"] + 0 < E[list[j], "predicted"] + 0)
		}
	if (pairs)
		item(executor ": of " plural(pairs, "pair") " of variants of one panel, within a factor of two of each other, " right + 0 " (" \
			percent(right / pairs, "%.0f") " %) are ranked right.")
}

function with_sign(seconds) { return (seconds < 0 ? "-" : "+") with_unit(size(seconds), "s") }

# Panels off by more than 10 %: the errors of their phases, and the phase with the largest.
function phases(   i, w, phase, n, name, k, names, worst, gap, whole, missed, most, sum, any) {
	for (i = 1; i <= E["rows"]; i++)
		if (option(E[i, "options"], "phase") != "" && E[i, "level"] == 2 && E[i, "verdict"] != "SKIPPED")
			n++
	if (!n)
		return
	heading(3, id "phases", "Errors by phase")
	for (i = 1; i <= E["rows"]; i++) {
		phase = option(E[i, "options"], "phase")
		if (E[i, "level"] != 2 || E[i, "verdict"] == "SKIPPED")
			continue
		name = family(i) " " E[i, "m"] " x " E[i, "n"]
		gap = E[i, "predicted"] - E[i, "measured"]
		if (phase == "") {
			whole[name] = E[i, "error"]
			missed[name] = gap
			continue
		}
		if (!(name in worst))
			names[++k] = name
		if (!(name in worst) || size(gap) > size(most[name])) {
			worst[name] = i
			most[name] = gap
		}
		sum[name] += gap
	}
	for (i = 1; i <= k; i++)
		if (size(whole[names[i]]) > 0.1) {
			any = 1
			w = worst[names[i]]
			item(names[i] " is off by " signed(whole[names[i]]) " % (" with_sign(missed[names[i]]) "). Its phases, timed alone, are off by " \
				with_sign(sum[names[i]]) ", most of all " option(E[w, "options"], "phase") " by " with_sign(most[names[i]]) \
				" (" signed(E[w, "error"]) " %)" \
				(size(sum[names[i]]) < size(missed[names[i]]) / 2 ? "; the rest of the error lies between phases." : "."))
		}
	if (!any)
		paragraph("No panel whose phases were timed is off by more than 10 %.")
	print "DETAILS\tEvery phase, timed alone without the others"
	table_start(id "phase-table", "", \
		"<case|<phase|>m|>n|>predicted|>measured|>error %|<verdict")
	for (i = 1; i <= E["rows"]; i++)
		if (option(E[i, "options"], "phase") != "" && E[i, "level"] == 2 && E[i, "verdict"] != "SKIPPED")
			case_row(i, option(E[i, "options"], "phase"))
	table_end()
	print "ENDDETAILS"
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

function print_short(   i, f, title, text) {
	title["getrf"] = "LU"
	title["geqrf"] = "QR"
	title["potrf"] = "Cholesky"
	for (i = 1; i <= V["rows"]; i++) {
		split(V[i, "family"], f, "/")
		if (f[1] in title && f[2] == "gpu" && f[3] == "s" && V[i, "level"] == 2)
			text = text (text == "" ? "" : ", ") title[f[1]] (f[4] == "" ? "" : f[4] ~ /^from/ ? " " f[4] " memory" : " by " f[4]) " " percent(V[i, "median_abs_error"]) " % (worst " \
				percent(size(V[i, "worst_error"])) ")"
	}
	if (text != "")
		item("median error of predictions, panels on the GPU, single precision: " text)
}

BEGIN {
	if (short != "") {
		if (load(data "/validation.tsv", V))
			print_short()
		exit
	}
	if (!load(data "/validation.tsv", V) || !load(data "/errors.tsv", E)) {
		paragraph("No comparison in " data " yet: make validate predicts, measures and compares.")
		exit
	}
	if (chain != "")
		note(chain)
	shared_cores()
	bad_cases()
	skipped_cases()
	baselines()
	families()
	ranking("cuda")
	ranking("host")
	phases()
}
