# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# Sourced by tests of pages: what stands in a file, and steps that need gnuplot.
says() { # FILE PATTERN WHAT
	grep -q -e "$2" "$1"
	result $? "$3"
}
never() {
	! grep -q -e "$2" "$1"
	result $? "$3"
}
drawing() { # a test that needs gnuplot
	if command -v gnuplot >/dev/null; then
		"$@"
	else
		report ok 'figures # SKIP no gnuplot here'
		[ "$1" != expect ] || { shift 4 && "$@" >/dev/null 2>&1 </dev/null; } # the text is there all the same
	fi
}
cpu_of_recorded() { # folder: gets what a machine without a GPU would have measured
	mkdir -p "$1"
	cp "$recorded"/host_*.tsv "$1"
	for name in errors validation; do
		grep -v '\<cuda\>' "$recorded/$name.tsv" >"$1/$name.tsv"
	done
	grep -v '^gpu[.]\|^link[.]' "$recorded/profile.tsv" >"$1/profile.tsv"
}
