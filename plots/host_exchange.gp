# SPDX-License-Identifier: MIT
# Title: Core to core
# Question: How long does a word take from one core of the host to another?
# Chapter: host
# Figure: One way between every pair of cores, through a cache line to which both write in turns.
# Parameters: host.exchange.
height = 560
load scripts."/style.gp"
pairs = "host_exchange/pair"
set title "Core to core, nanoseconds - ".machine
set xlabel "core"
set ylabel "core"
unset grid
unset key
set size ratio -1
set palette defined (0 "#cfe1f5", 1 "#2f74c0")
if (present(pairs) ne "") {
	cores = values(pairs, "to")
	last = real(word(cores, words(cores)))
	set xtics last > 20 ? 4 : 1
	set ytics last > 20 ? 4 : 1
	set xrange [-0.6:last-0.4]
	set yrange [0.4:last+0.6]
	plot file(pairs) using (column("from")):(column("to")):(column("seconds")*1e9) with points pt 5 ps 48/last lc palette, \
		"" using (column("from")):(column("to")):(sprintf("%.0f", column("seconds")*1e9)) \
		with labels font sprintf(",%d", last > 25 ? 6 : 10)
}
