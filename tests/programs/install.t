#!/bin/sh
# SPDX-License-Identifier: MIT
# An installed fathom works wherever its tree lies and writes to the output folder alone. Its man pages and completion say what the
# programs' --help says. Uninstall leaves nothing. (libfathom: tests/library/library.t)
. "$(dirname "$0")/../tap.sh"
needs advise compare fit list machine predict report rules trace validate
. "$root/tests/fixture.sh"
case $bin in /*) ;; *) bin=$PWD/$bin ;; esac
unset FATHOM_BIN FATHOM_HOME FATHOM_DATA MACHINE
make_scratch
export CUDA_VISIBLE_DEVICES= HOME="$scratch/home" TMPDIR="$scratch/tmp"
mkdir "$HOME" "$TMPDIR" "$scratch/user"

# ---- installed for a package, moved, read-only
expect 0 '^install: .*/bin/fathom$' 'install into DESTDIR' env DESTDIR="$scratch/stage" LIBRARY= LIBDIR= \
	sh "$root/scripts/install.sh" /opt/first "$bin"/*
prefix="$scratch/some where"
mv "$scratch/stage/opt/first" "$prefix"
chmod -R a-w "$prefix"
listing() {
	find "$prefix" -printf '%p %s %T@ %m\n' | sort
}
listing >"$scratch/before"
! grep -rqF -e "$root" -e "$scratch/stage" -e /opt/first "$prefix/bin" "$prefix/share/fathom/scripts" "$prefix/share/fathom/plots" "$prefix/share/man"
result $? 'nothing installed names the place where it was built or installed'

cd "$scratch/user" || exit 1
fathom=$prefix/bin/fathom
expect 0 "^data: .*/some where/share/fathom/data/nvidia-h200 (recorded" 'advise answers from the data that came along' \
	"$fathom" advise getrf --m 4096 --n 4096
expect 0 '^nvidia-h100 ' 'list' "$fathom" list
expect 0 . 'rules' "$fathom" rules --strongest 3
expect 0 . 'trace' "$fathom" trace getrf --n 512 --simulate
expect 0 . 'compare' "$fathom" compare nvidia-h100 nvidia-h200
expect 0 . 'parameters' "$fathom" list parameters 'gpu.l2.*' --machine nvidia-h200
expect 0 '^0$' 'which write no file' sh -c 'find . -type f | wc -l'
expect 0 . 'machine' "$fathom" machine
fixture_profile host >data/local/profile.tsv
expect 0 . 'predict' "$fathom" predict --quick
expect 0 '^data: data/local (measured here)' 'advise answers from what was measured here' "$fathom" advise panel --m 512 --nb 32
cp -R "$prefix/share/fathom/data/nvidia-h200-sms-16" data/run
chmod -R u+w data/run
expect 0 . 'validate' "$fathom" validate --recorded --output data/run
if command -v gnuplot >/dev/null; then
	expect 0 '^data/local/report/report.html$' 'report' "$fathom" report --machine nvidia-h200-sms-16
	sed -n 's/.*href="\([^"#]*\)".*/\1/p' data/local/report/report.html | grep 'share/fathom' | sort -u >"$scratch/links"
	while IFS= read -r link; do
		[ -e "data/local/report/$link" ] || echo "$link"
	done <"$scratch/links" >"$scratch/dead"
	[ -s "$scratch/links" ] && [ ! -s "$scratch/dead" ]
	result $? 'whose links into the installed tree lead to files'
	head -n 3 "$scratch/dead" | sed 's/^/# /' >&2
else
	report ok 'report # SKIP no gnuplot'
fi
listing >"$scratch/after"
cmp -s "$scratch/before" "$scratch/after"
result $? 'the installed tree is as it was'
diff "$scratch/before" "$scratch/after" | head -n 5 | sed 's/^/# /' >&2
expect 0 '^data local run $' 'files came into the output folders alone' sh -c 'ls -A . data | grep -v -e : -e "^$" | sort -u | tr "\n" " "'
expect 0 '^0$' 'none is left in HOME or TMPDIR' sh -c 'find "$HOME" "$TMPDIR" ! -type d | wc -l'

# ---- man pages
man=$prefix/share/man/man1
"$fathom" --list-programs >"$scratch/programs"
expect 0 . 'all that was built is installed' sh -c 'ls "$1" | sort >ls; sort "$2" | cmp - ls && echo same' sh "$bin" "$scratch/programs"
rm -f ls
while read -r name; do
	page=$man/fathom-$name.1
	sed -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" "$page" >"$scratch/page"
	missing=
	for option in $("$bin/$name" --list-options); do
		grep -qe "^\.B .*$option\(=.*\)*\$" "$scratch/page" || missing="$missing $option"
	done
	"$bin/$name" --help | sed -n '/^Examples:/,/^$/s/^  //p' >"$scratch/examples"
	grep -qvxFf "$scratch/page" "$scratch/examples" && missing="$missing an example"
	grep -qe "^fathom.-$name .. [A-Z]" "$scratch/page" || grep -qe "^fathom-$name - " "$scratch/page" || missing="$missing the summary"
	[ -z "$missing" ]
	result $? "man page of $name: all options and examples${missing:+, but$missing}"
done <"$scratch/programs"
expect 0 . 'man page of fathom' grep -e '^fathom .. Measures' "$man/fathom.1"
if command -v man >/dev/null; then
	for page in "$man"/*; do
		LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null
	done >"$scratch/warned"
	[ ! -s "$scratch/warned" ]
	result $? 'man has no complaint'
	head -n 3 "$scratch/warned" | sed 's/^/# /' >&2
else
	report ok 'man has no complaint # SKIP no man'
fi

# ---- completion
words() { # sorted, on a line
	sort | tr '\n' ' ' | sed 's/ $//'
}
completes() { # what, words that are offered (sorted), words typed...
	what=$1 want=$2
	shift 2
	got=$("$fathom" --complete "$@" | cut -f 1 | words)
	[ "$got" = "$want" ]
	result $? "completion: $what"
	[ "$got" = "$want" ] || echo "# want $want; got $got" >&2
}
completes 'names' "$({ cat "$scratch/programs" && echo help; } | words)" ''
while read -r name; do
	[ "$name" = advise ] || "$bin/$name" --list-options | words >"$scratch/options"
	[ "$name" = advise ] || [ "$("$fathom" --complete "$name" -- | cut -f 1 | tr -d = | words)" = "$(cat "$scratch/options")" ]
	result $? "completion: options of $name"
done <"$scratch/programs"
[ "$("$fathom" --complete advise kernel -- | cut -f 1 | tr -d = | words)" = "$("$bin/advise" --list-options | words)" ]
result $? 'completion: options of advise, and of its kernel'
completes 'operands' 'efficiency gemm gemv geqrf getrf gramschmidt kernel machine panel potrf update' advise ''
completes 'alternatives' '3xfp16 3xtf32 fp32' trace --math=
completes 'of an option that stands apart' 'd s' advise getrf --precision ''
completes 'machines' '8800gtx nvidia-h100 nvidia-h200 nvidia-h200-sms-112 nvidia-h200-sms-16 nvidia-h200-sms-40 nvidia-h200-sms-64 nvidia-h200-x2' \
	rules --machine ''
"$fathom" help | awk '/^Probes/ { exit } on { print $1 } /^Programs;/ { on = 1 }' >"$scratch/tools"
completes 'probes' "$(grep -vxFf "$scratch/tools" "$scratch/programs" | words)" probe ''
completes 'files are left to the shell' '' rules --output ''
if command -v bash >/dev/null; then
	# shellcheck disable=SC2016
	in_bash() { # words
		PATH=$prefix/bin:$PATH bash -c '. "$0"; compopt() { :; }; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fathom fathom; echo "${COMPREPLY[*]}"' \
			"$prefix/share/bash-completion/completions/fathom" fathom "$@"
	}
	expect 0 '^advise$' 'bash: a name' in_bash adv
	expect 0 '^--machine=$' 'bash: an option' in_bash rules --mach
	expect 0 '^nvidia-h200 nvidia-h200-sms-112 .*nvidia-h200-x2$' 'bash: a value' in_bash rules --machine = nvidia-h2
	expect 0 '^fp32$' 'bash: a value apart' in_bash trace --math fp
else
	report ok 'bash # SKIP no bash'
fi
if command -v zsh >/dev/null; then
	# shellcheck disable=SC2016
	in_zsh() { # words
		PATH=$prefix/bin:$PATH zsh -fc '_describe() { print -rl -- $plain $open }; _files() { print files }; compset() { }
			words=(fathom "${@[2,-1]}"); CURRENT=$#words; functions[complete]=$(<$1); complete' zsh "$prefix/share/zsh/site-functions/_fathom" "$@"
	}
	expect 0 '^advise$' 'zsh: a name' in_zsh adv
	expect 0 '^--machine=:a recorded machine' 'zsh: an option with what it means' in_zsh rules --
	expect 0 '^fp32$' 'zsh: a value' in_zsh trace --math=
	expect 0 '^files$' 'zsh: files' in_zsh rules --output ''
else
	report ok 'zsh # SKIP no zsh'
fi

# ---- gone
chmod -R u+w "$prefix"
touch "$prefix/share/man/man1/fathom-of-others.1"
expect 0 '^uninstall: ' 'uninstall' env DESTDIR= LIBDIR= sh "$root/scripts/install.sh" --remove "$prefix"
expect 0 '^fathom-of-others.1 $' 'leaves nothing but what is not its own' sh -c 'find "$1" ! -type d -printf "%f "' sh "$prefix"
expect 2 'LIBDIR=/usr/lib is not in PREFIX=/opt' 'a library folder elsewhere is refused' env LIBDIR=/usr/lib sh "$root/scripts/install.sh" /opt "$bin/list"
echo "1..$number"
