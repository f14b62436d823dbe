#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes man pages from what `fathom help` and each program's --help say.
#   man.sh FRONT FOLDER      FRONT is the front command
set -eu
LC_ALL=C
export LC_ALL
unset FATHOM_BIN FATHOM_HOME FATHOM_DATA MACHINE
[ $# -eq 2 ] || {
	echo "usage: man.sh FRONT FOLDER" >&2
	exit 2
}
front=$1 folder=$2 root=$(cd "$(dirname "$0")" && pwd)
case $front in /*) ;; *) front=$PWD/$front ;; esac
case $folder in /*) ;; *) folder=$PWD/$folder ;; esac

# Where data/local was measured, it is the default data folder.
scratch=
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
scratch=$(mktemp -d)
mkdir -p "$scratch/data/local"
touch "$scratch/data/local/profile.tsv"
cd "$scratch"

# page NAME: help on standard input becomes the page. A line "Options of TOPIC:" begins options of one operand.
page() {
	awk -v name="$1" -v version="$version" '
	function plain(text) {
		gsub(/\\/, "\\e", text)
		gsub(/`/, "\\(ga", text)
		gsub(/\^/, "\\(ha", text)
		gsub(/~/, "\\(ti", text)
		return text ~ /^[.'\'']/ ? "\\&" text : text
	}
	function literal(text) { text = plain(text); gsub(/-/, "\\-", text); gsub(/'\''/, "\\(aq", text); return text }
	function paragraph(text) { return ".PP\n" plain(text) "\n" }
	function item(tag, text) { return ".TP\n.B " literal(tag) "\n" plain(text) "\n" }
	# "-q, --quick measure less"
	function option(text,   word, n, i, tag) {
		n = split(text, word, " ")
		for (i = 1; i <= n && (i == 1 || word[i] ~ /^-/); i++)
			tag = tag (i > 1 ? " " : "") word[i]
		return item(tag, substr(text, length(tag) + 2))
	}
	# What ends with the line that was read before.
	function finish(   part, n, i) {
		if (held == "")
			return
		if (block == "Usage:") synopsis = held
		else if (block == "summary") summary = held
		else if (block == "Of every program:") {
			n = split(held, part, /; /)
			common = ""
			for (i = 1; i <= n; i++)
				common = common option(part[i])
		} else if (block == "options") own = own held_item()
		else if (match(held, / Exit status: /)) {
			details = details paragraph(substr(held, 1, RSTART - 1))
			status = paragraph(substr(held, RSTART + RLENGTH))
		} else details = details paragraph(held)
		held = ""
	}
	function held_item(   tag) {
		if (held !~ /^ /)
			return paragraph(held)
		sub(/^ */, "", held)
		tag = match(held, / /) ? substr(held, 1, RSTART - 1) : held
		if (tag ~ /,$/) { # a letter comes first
			match(substr(held, length(tag) + 2), / |$/)
			tag = substr(held, 1, length(tag) + RSTART)
		}
		held = substr(held, length(tag) + 2)
		sub(/^ */, "", held)
		return item(tag, held)
	}
	/^Usage: / { block = "Usage:"; held = substr($0, 8); next }
	/^$/ { finish(); block = "details"; next }
	/^Examples:$/ { finish(); block = "examples"; next }
	/^Options:$/ { finish(); block = "options"; own = own ".SH OPTIONS\n"; next }
	/^Options of / { finish(); block = "options"; own = own ".SS " plain(substr($0, 1, length - 1)) "\n"; next }
	/^Of every program: / { finish(); block = "Of every program:"; held = substr($0, 19); next }
	/^Programs; / { block = "options"; own = own ".SH PROGRAMS\n" plain($0) "\n"; next }
	block == "examples" { sub(/^  /, ""); examples = examples literal($0) "\n"; next }
	block == "options" && /^  [^ ]/ { finish(); held = $0; next }
	/^ / { sub(/^ */, ""); held = held " " $0; next }
	block == "Usage:" { finish(); block = "summary"; held = $0; next }
	block == "summary" { held = held " " $0; next }
	{ finish(); if (block == "Of every program:") block = "details"; held = $0 }
	END {
		finish()
		title = summary
		sub(/[.]$/, "", title)
		printf ".TH %s 1 \"\" \"%s\" \"fathom\"\n.ad l\n.nh\n", toupper(name), version
		printf ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n", literal(name), plain(title), literal(synopsis)
		printf ".SH DESCRIPTION\n%s\n%s%s", plain(summary), details, own
		if (common != "")
			printf "%s%s", own ~ /^[.]SH OPTIONS/ ? ".SS Of every program\n" : ".SH OPTIONS\n", common
		if (status != "")
			printf ".SH EXIT STATUS\n%s", status
		if (examples != "")
			printf ".SH EXAMPLES\n.nf\n%s.fi\n", examples
		if (name != "fathom")
			print ".SH SEE ALSO\n.BR fathom (1)"
	}' >"$folder/$1.1"
}

version="fathom $(sh "$root/version.sh" --release)"
"$front" help | page fathom
"$front" --list-programs | while read -r program; do
	"$front" "$program" --help >help
	topic=$(sed -n "s/^fathom $program \([a-z]*\) --help explains .*/\1/p" help)
	if [ -n "$topic" ]; then
		"$front" "$program" "$topic" --help | sed -n "/^Options:/,\$p" | sed "s/^Options:/Options of $topic:/" >options
		awk 'NR == FNR { text = text $0 "\n"; next } / --help explains / { printf "%s", text; next } { print }' options help >both
		mv both help
	fi
	page "fathom-$program" <help
done
