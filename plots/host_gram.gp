# SPDX-License-Identifier: MIT
# Title: Gram-Schmidt's loops on the host
# Question: What do the loops over columns cost, by rows, cache and threads?
# Figure: One thread and all, single precision; columns from the nearest cache, the second and the last.
# Parameters: host.gram.
load scripts."/style.gp"
list = present("host_gram/dot_s host_gram/subtract_s host_gram/fused_s host_gram/pair_s")
set title "Loops of Gram-Schmidt on the host - ".machine
set logscale xy 2
set xlabel "rows"
set ylabel "nanoseconds"
plot for [i=1:words(list)] file(word(list, i)) \
	using "m":(column("seconds")*1e9):(column("low")*1e9):(column("high")*1e9) \
	with yerrorbars lt i title word(list, i)[11:]
