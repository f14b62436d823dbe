# SPDX-License-Identifier: MIT
# Title: Launches
# Question: How long does a launch take, on the host and on the device?
# Chapter: start
# Figure: Above, the host's share (stream held), the device's share (start to start behind a hold) and round trips on an idle stream; below, the device's share against grid size and the host's against argument bytes.
# Parameters: gpu.launch. gpu.event. gpu.flag.sync gpu.copy.enqueue gpu.cublas.
height = 860
load scripts."/style.gp"
host = present("launch/enqueue launch/enqueue_driver launch/enqueue_cooperative launch/enqueue_pdl launch/graph launch/copy_enqueue ".\
	"launch/event_record launch/scal launch/swap launch/ger launch/gemm launch/gemm_t ".\
	"launch/gemm_d launch/gemm_t_d launch/gemm_odd_d launch/gemm_t_odd_d")
device = present("launch/dependent launch/cooperative launch/pdl launch/graph_node launch/event_wait ".\
	"launch/scal_device launch/swap_device launch/ger_device")
trip = present("launch/sync launch/graph_sync launch/event_sync launch/flag_sync launch/copy_sync launch/iamax launch/stream")
all = trip." ".device." ".host
set multiplot
eval place(0.27, 0.97, 0.50, 0.95, "Time of launches - ".machine).logscale("x").xname("microseconds").yrange("0.3 : words(all) + 0.7")
unset ytics
set for [i=1:words(all)] ytics add (label(word(all, i)) i) noenhanced scale 0
d = words(trip)
h = words(trip) + words(device)
plot for [i=1:words(host)] file(word(host, i)) using (us("seconds")):(i + h):(us("low")):(us("high")) with xerrorbars lt 1 \
	title (i == 1 ? "host, per call" : ""), \
	for [i=1:words(device)] file(word(device, i)) using (us("seconds")):(i + d):(us("low")):(us("high")) with xerrorbars lt 2 \
	title (i == 1 ? "device, start to start" : ""), \
	for [i=1:words(trip)] file(word(trip, i)) using (us("seconds")):(i):(us("low")):(us("high")) with xerrorbars lt 3 \
	title (i == 1 ? "round trip; stream: per call of a long sequence" : "")
set yrange [0:*]
set ytics auto scale 1
set ylabel "microseconds"
set logscale x 4
unset key
eval place(0.15, 0.50, 0.07, 0.31, "Device, start to start").nokey.xname("blocks of 256 threads").xtics("1, 16")
if (present("launch/grid") ne "") plot file("launch/grid") using "blocks":@in_us with yerrorlines lt 2
eval place(0.64, 0.97, 0.07, 0.31, "Host, per call").nokey.xname("bytes of kernel arguments").xtics("4, 4")
if (present("launch/argument") ne "") plot file("launch/argument") using "bytes":@in_us with yerrorlines lt 1
unset multiplot
