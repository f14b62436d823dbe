# SPDX-License-Identifier: MIT
# Title: Gram-Schmidt's passes on the host
# Question: How long do passes over columns take, by bytes, number of columns and threads?
# Figure: One thread and as many as the probes use; from two columns a thread to four times its second cache.
# Parameters: host.gram.
load scripts."/style.gp"
list = present("host_gram/dots host_gram/update host_gram/fused host_gram/few host_gram/many")
set title "Passes of Gram-Schmidt on the host - ".machine
set logscale xy 2
set xlabel "bytes of a column"
set ylabel "microseconds"
plot for [f in list] file(f) using "bytes":@in_us with yerrorbars title f[11:]
