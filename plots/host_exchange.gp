# SPDX-License-Identifier: MIT
# Title: Core to core
# Question: How long does a word take from one core of the host to another?
# Figure: One way between every pair of cores, through a cache line to which both write in turns.
# Parameters: host.exchange.
height = 560
load scripts."/style.gp"
pairs = "host_exchange/pair"
set title "Core to core, nanoseconds - ".machine
set xlabel "core"
set ylabel "core"
set xtics 1; set ytics 1
unset grid
unset key
set size ratio -1
set palette defined (0 "#cfe1f5", 1 "#2f74c0")
if (present(pairs) ne "") {
	plot file(pairs) using (column("from")):(column("to")):(column("seconds")*1e9) with points pt 5 ps 3.2 lc palette, \
		"" using (column("from")):(column("to")):(sprintf("%.0f", column("seconds")*1e9)) with labels font ",10"
}
