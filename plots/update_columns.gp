# SPDX-License-Identifier: MIT
# The counterpart of Andrew and Dingle's Figures 6 and 7: the speedup of adding columns by their place. update_columns.awk wrote
# work/NAME/{ours,model,cusolver}_N.tsv (place, speedup); largest: the paper's.
height = 420
load scripts."/style.gp"
curves = all_of("ours_*", 2)." ".all_of("cusolver_*", 2)
models = all_of("model_*", 2)
line_of(s) = (last(s) eq last(word(models, 1)) ? 1 : 3) + (part(s, 1) eq "cusolver" ? 1 : 0)
key_of(s) = "n = ".last(s).(part(s, 1) eq "cusolver" ? ", over cuSOLVER" : ", over our QR")
set title "n/16 columns added to a 2n x n QR with all of Q - ".machine
set xlabel "place k of the columns / n" offset 0,0.4
set ylabel "speedup over a new QR"
set xrange [0:1]
set yrange [0:*]
plot for [f in curves] file(f) using "place":"speedup" with linespoints lt line_of(f) title key_of(f), \
	for [f in models] file(f) using "place":"speedup" with lines lt line_of(f) dt 2 title "n = ".last(f).", predicted", \
	1 with lines lt 7 dt 3 notitle, largest + 0 with lines lt 5 dt 3 title "the paper's largest"
