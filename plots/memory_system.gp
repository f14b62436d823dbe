# SPDX-License-Identifier: MIT
# The counterpart of LAWN 202's Figure 2: the memory system out of the profile's values alone, the areas
# of the on-chip memories to one scale. Sizes that were not resolved are left out.
height = 480
load scripts."/style.gp"
is(x) = x == x
l1 = known("gpu_l1_size"); l2 = known("gpu_l2_size"); near = known("gpu_l2_near_size"); dram = known("gpu_dram_size")
shared = known("gpu_shared_per_block"); sharers = known("gpu_constant_l15_shared_by"); sms = known("gpu_sm_count"); hz = known("gpu_clock_sm")

of_size(b) = is(b) ? " ".size_label(b) : ""
time_label(t) = !is(t) ? "" : sprintf("%.3g ns", t*1e9).(is(hz) ? sprintf(", %.0f cycles", t*hz) : "")
rate_label(kind, name) = !exists(name) ? "" : sprintf("%s %.3g TB/s\n", kind, value(name)*1e-12)
line(name, size, latency) = !is(size) && !is(latency) ? "" : \
	name.of_size(size).(is(latency) ? ":\n    ".time_label(latency) : "")."\n"

# In units of the square root of a byte; the SMs stand in a grid about as high as L2.
gap = 0.12
unit = is(l1) ? sqrt(l1) : 512.
count = is(sms) ? sms : 1
rows = ceil(sqrt(count))
columns = ceil(count / rows)
pitch = unit * (1 + gap)
wide = columns * pitch
high = rows * pitch
l2_high = is(l2) ? (high > sqrt(l2)/2 ? high : sqrt(l2)) : high
l2_wide = is(l2) ? l2 / l2_high : 0
space = 0.12 * (wide + l2_wide)
dram_wide = 0.3 * (wide + l2_wide)
tall = l2_high > high ? l2_high : high
total = wide + space + (is(l2) ? l2_wide + space : 0) + dram_wide

set object 1 rectangle from 0,0 to 0,0
do for [i=0:(is(l1) ? count-1 : -1)] {
	x = (i % columns) * pitch
	y = tall - (i / columns) * pitch
	set object 10+i rectangle from x,y-unit to x+unit,y fc rgb "#bcd6f2" fs solid border lc rgb "#2f74c0"
}
at = wide + space
if (is(l2)) {
	set object 2 rectangle from at,tall-l2_high to at+l2_wide,tall fc rgb "#f6d5b8" fs solid border lc rgb "#d55e00"
	set label 2 "L2".of_size(l2) at at+l2_wide/2., tall-l2_high/4. center front noenhanced textcolor rgb "#202020"
	if (is(near)) {
		set arrow 2 from at,tall-l2_high*near/l2 to at+l2_wide,tall-l2_high*near/l2 nohead lc rgb "#d55e00" dt 2 front
	}
	set arrow 3 from wide-pitch+unit,tall/2. to at,tall/2. heads size screen 0.01,20 lc rgb "#606060"
	at = at + l2_wide + space
}
set arrow 4 from at-space,tall/2. to at,tall/2. heads size screen 0.01,20 lc rgb "#606060"
set object 3 rectangle from at,0 to at+dram_wide,tall fc rgb "#d3ebe0" fs solid border lc rgb "#00946b"
set label 3 "DRAM".(is(dram) ? "\n".of_size(dram) : "")."\n(not to scale)" at at+dram_wide/2., tall/2. center front noenhanced textcolor rgb "#202020"

set label 5 sprintf("%.0f SMs, each:\n", count).line("L1", l1, known("gpu_l1_latency")).\
	line("shared memory", shared, known("gpu_shared_latency")).rate_label("    all read", "gpu_shared_read").\
	line("constant", known("gpu_constant_size"), known("gpu_constant_latency")).\
	(is(sharers) ? line(sprintf("constant, one for %.0f SMs", sharers), NaN, known("gpu_constant_l15_latency")) : "") at 0,-0.04*tall left noenhanced
set label 6 line(is(near) ? "near" : "L2", near, known("gpu_l2_latency")).\
	line("beyond near", NaN, known("gpu_l2_beyond_near_latency")).line("far hit", NaN, known("gpu_l2_far_hit_latency")).\
	rate_label("L2 reads", "gpu_l2_read") at (wide+space > 0.38*total ? wide+space : 0.38*total),-0.04*tall left noenhanced
set label 7 time_label(known("gpu_dram_latency"))."\n".line("of the own partition", NaN, known("gpu_dram_near_latency")).\
	line("of the other one", NaN, known("gpu_dram_far_latency")).rate_label("reads", "gpu_dram_read") at at+dram_wide,-0.04*tall right noenhanced
if (total < 3*tall) { set label 7 left at at,-0.04*tall } # there is room beside few SMs

set title "The memory system, on-chip areas to one scale - ".machine
unset border
unset tics
unset grid
unset key
set size ratio -1
set lmargin 1; set rmargin 1; set bmargin 11
set xrange [-0.01*total:1.01*total]
set yrange [-0.02*tall:1.02*tall]
plot NaN notitle
