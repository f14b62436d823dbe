# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Sourced by tests: a profile of a made-up machine with round numbers.
# fixture_profile [host] > profile.tsv: everything, or the host's parameters only.
fixture_profile() {
	awk -v only="${1-}" -v OFS='\t' '
	function row(name, value, unit, regime) {
		if (only != "" && index(name, only ".") != 1)
			return
		if (regime == "")
			regime = name ~ /^(gpu\.cublas|host\.blas)\./ ? "library" : "hardware"
		print name, sprintf("%.6g", value), unit, sprintf("%.6g", 0.97 * value), sprintf("%.6g", 1.03 * value), 30, \
			"made up", regime, "ok"
	}
	BEGIN {
		print "# machine: made-up"
		print "parameter", "value", "unit", "low", "high", "samples", "method", "regime", "status"
		us = 1e-6
		row("gpu.sm.count", 132, "count"); row("gpu.shared.per_block", 232448, "B"); row("gpu.l2.stated", 6e7, "B")
		row("gpu.launch.enqueue", 2 * us, "s"); row("gpu.launch.enqueue_cooperative", 3 * us, "s")
		row("gpu.launch.dependent", 1.2 * us, "s"); row("gpu.launch.cooperative", 1.5 * us, "s")
		row("gpu.launch.stream", 2.2 * us, "s"); row("gpu.launch.sync", 8 * us, "s")
		row("gpu.copy.enqueue", 3 * us, "s"); row("gpu.event.record", 0.2 * us, "s"); row("gpu.cublas.iamax[bytes=128]", 18 * us, "s")
		row("gpu.cublas.iamax[bytes=524288]", 18 * us, "s")
		row("gpu.cublas.level1", 2.5 * us, "s"); row("gpu.cublas.level1_device", 1.3 * us, "s")
		row("gpu.cublas.swap", 2.5 * us, "s"); row("gpu.cublas.swap_device", 1.3 * us, "s")
		row("gpu.cublas.level2", 2.6 * us, "s"); row("gpu.cublas.level2_device", 1.4 * us, "s")
		row("gpu.l2.latency", 0.15 * us, "s")
		row("gpu.dram.copy", 4e12, "B/s"); row("gpu.l2.copy", 6e12, "B/s"); row("gpu.copy.beta", 4e12, "B/s")
		for (b = 4096; b <= 1073741824; b *= 4) {
			row("gpu.copy.time[bytes=" b "]", 1.5 * us + b / 4e12, "s")
			row("gpu.read.time[bytes=" b "]", 1.5 * us + b / 4e12, "s")
			row("gpu.write.time[bytes=" b "]", 1.5 * us + b / 4e12, "s")
			row("link.h2d.pinned.time[bytes=" b "]", 8 * us + b / 5e10, "s")
			row("link.d2h.pinned.time[bytes=" b "]", 8 * us + b / 5e10, "s")
		}
		for (b = 1; b <= 132; b = b == 128 ? 132 : b == 132 ? 133 : 2 * b) {
			row("gpu.barrier.grid[blocks=" b ",threads=256]", (0.7 + b / 400) * us, "s")
			for (w = 32; w <= 512; w *= 2)
				row("gpu.exchange.grid[blocks=" b ",words=" w "]", (1 + b / 400 + w / 800) * us, "s")
		}
		for (t = 64; t <= 1024; t *= 2) {
			row("gpu.reduce.max[threads=" t "]", (0.05 + t / 20000) * us, "s")
			row("gpu.shared.update[threads=" t "]", 1e11, "B/s")
		}
		row("gpu.copy.sync", 16 * us, "s")
		for (p = 1; p <= 2; p++) {
			letter = substr("sd", p, 1)
			for (n = 32; n <= 128; n *= 2) {
				for (b = 1; b <= 132; b = b == 128 ? 132 : b == 132 ? 133 : 2 * b)
					row("gpu.panel.column." letter "[blocks=" b ",n=" n "]", (1.3 + b / 300 + p * n / 400) * us,
						"s", "calibrated")
				row("gpu.panel.twice." letter "[n=" n "]", (1.9 + p * n / 400) * us, "s", "calibrated")
			}
			for (m = 128; m <= 131072; m *= 4)
				for (n = 2; n <= 128; n *= 4) {
					row("gpu.panel.step." letter "[m=" m ",n=" n "]", (4.7 + m / 1e5) * us + 8 * p * m * n / 2e12, "s", "calibrated")
					row("gpu.panel.pivot." letter "[m=" m ",n=" n "]", (2.2 + m / 1e5) * us, "s", "calibrated")
				}
			for (m = 128; m <= 131072; m *= 8)
				for (n = 1; n <= 128; n *= 8) {
					row("host.iamax." letter "[m=" m ",n=" n "]", 0.02 * us + m * p / 8e9, "s", "library")
					row("host.scal." letter "[m=" m ",n=" n "]", 0.02 * us + m * p / 1e10, "s", "library")
					row("host.swap." letter "[m=" m ",n=" n "]", 0.02 * us + n * p / 1e9, "s", "library")
					row("host.ger." letter "[m=" m ",n=" n "]", 0.1 * us + m * n * p / 4e9, "s", "library")
				}
		}
		row("link.h2d.pinned.alpha", 8 * us, "s"); row("link.h2d.pinned.beta", 5e10, "B/s")
		row("link.d2h.pinned.alpha", 8 * us, "s"); row("link.d2h.pinned.beta", 5e10, "B/s")
		row("host.blas.level1", 0.05 * us, "s"); row("host.blas.level2", 0.1 * us, "s")
		row("host.memory.copy.peak", 2e11, "B/s"); row("host.l2.size", 2e6, "B")
		row("host.l1.stated", 32768, "B"); row("host.l2.stated", 2e6, "B"); row("host.l3.stated", 3e7, "B")
		for (threads = 1; threads <= 2; threads++) {
			for (b = 1024; b <= 65536; b *= 4)
				for (level = 1; level <= 4; level++) {
					at = "[threads=" threads ",bytes=" b ",level=" level "]"
					columns = level == 1 ? 2 : level == 2 ? 4 : level == 3 ? 8 + 2e6 / 4 / b : 16 + 8e6 / b
					row("host.gram.dots" at, threads * us + columns * b / 1e11, "s", "calibrated")
					row("host.gram.update" at, threads * us + columns * b / 5e10, "s", "calibrated")
					row("host.gram.fused" at, threads * us + columns * b / 5e10, "s", "calibrated")
					groups = level == 1 ? 1 : level == 2 ? 4 : 8 + 2e6 / b
					if (level < 4)
						row("host.gram.few" at, threads * us + groups * b * 8 / 1e10, "s", "calibrated")
					if (level < 3)
						row("host.gram.many" at, threads * us + groups * b * 48 / 1e10, "s", "calibrated")
				}
		}
		for (b = 1024; b <= 65536; b *= 64)
			row("host.gram.handed[bytes=" b "]", 0.1 * us + b / 1e10, "s", "calibrated")
		row("host.parallel.fork[threads=1]", 0.2 * us, "s"); row("host.parallel.fork[threads=2]", us, "s")
		for (b = 16384; b <= 268435456; b *= 8) {
			row("host.memory.read[threads=1,bytes=" b "]", b > 1e6 ? 1e10 : 5e10, "B/s")
			row("host.memory.copy[threads=1,bytes=" b "]", b > 1e6 ? 1e10 : 5e10, "B/s")
		}
		for (m = 128; m <= 131072; m *= 2)
			for (n = 16; n <= 128; n *= 2) {
				row("host.getrf.s[m=" m ",n=" n "]", 5 * us + m * n * n / 5e10, "s", "library")
				row("host.getrf.d[m=" m ",n=" n "]", 5 * us + m * n * n / 2.5e10, "s", "library")
			}
	}'
}
