#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes assembly with a function for each function of a shared library: a jump to the function of that name which trampoline_find
# returns (factor/library/cusolver/trampoline.c). Arguments and results pass through untouched. With --map the linker's map that
# exports all of them instead, under the library's soname as their version.
#   trampolines.sh CPU LIBRARY OBJECT...      trampolines.sh --map LIBRARY
# CPU: x86_64 or aarch64. Functions that an OBJECT defines are left out. NM: the nm to use.
set -eu
nm=${NM:-nm}

# functions LIBRARY: their names
functions() {
	"$nm" -D --defined-only "$1" | sed -n 's/^[0-9a-f]* [TWi] \([A-Za-z0-9_]*\).*/\1/p' | sort -u
}

# soname LIBRARY: the version that its symbols carry, which is its soname
soname() {
	"$nm" -D --defined-only "$1" | sed -n 's/^[0-9a-f]* A \(.*\)/\1/p' | sed 's/@.*//' | head -n 1
}

if [ "$1" = --map ]; then
	echo "$(soname "$2") { global:"
	functions "$2" | sed 's/.*/	&;/'
	echo '	local: *; };'
	echo 'FATHOM_CUSOLVER { global: fathom_cusolver_*; };'
	exit
fi
cpu=$1 library=$2
shift 2
names=$(mktemp)
trap 'rm -f "$names"' EXIT
trap 'exit 1' HUP INT TERM
{
	"$nm" -g --defined-only "$@" | sed -n 's/^[0-9a-f]* T //p' | sed 's/$/ own/'
	functions "$library"
} | awk '$2 == "own" { own[$1] = 1; next } !($1 in own)' >"$names"

case $cpu in
x86_64)
	awk '{ printf "\t.globl %s\n\t.type %s, @function\n%s:\n\tendbr64\n\tmovq trampoline_targets+%d(%%rip), %%r11\n", $1, $1, $1, 8 * (NR - 1)
		printf "\ttestq %%r11, %%r11\n\tje 1f\n\tjmpq *%%r11\n1:\tpushq $%d\n\tjmp find\n\t.size %s, .-%s\n", NR - 1, $1, $1 }' "$names" |
		sed '1i\	.text'
	# The index is on the stack, below the return address.
	cat <<-'S'
		find:
			pushq %rbp
			movq %rsp, %rbp
			pushq %rdi
			pushq %rsi
			pushq %rdx
			pushq %rcx
			pushq %r8
			pushq %r9
			pushq %rax
			subq $128, %rsp
			movaps %xmm0, (%rsp)
			movaps %xmm1, 16(%rsp)
			movaps %xmm2, 32(%rsp)
			movaps %xmm3, 48(%rsp)
			movaps %xmm4, 64(%rsp)
			movaps %xmm5, 80(%rsp)
			movaps %xmm6, 96(%rsp)
			movaps %xmm7, 112(%rsp)
			movq 8(%rbp), %rdi
			call trampoline_find
			movq %rax, %r11
			movaps (%rsp), %xmm0
			movaps 16(%rsp), %xmm1
			movaps 32(%rsp), %xmm2
			movaps 48(%rsp), %xmm3
			movaps 64(%rsp), %xmm4
			movaps 80(%rsp), %xmm5
			movaps 96(%rsp), %xmm6
			movaps 112(%rsp), %xmm7
			addq $128, %rsp
			popq %rax
			popq %r9
			popq %r8
			popq %rcx
			popq %rdx
			popq %rsi
			popq %rdi
			popq %rbp
			addq $8, %rsp
			jmpq *%r11
	S
	;;
aarch64)
	awk '{ printf "\t.globl %s\n\t.type %s, %%function\n%s:\n\thint 34\n\tadrp x16, trampoline_targets+%d\n", $1, $1, $1, 8 * (NR - 1)
		printf "\tldr x16, [x16, :lo12:trampoline_targets+%d]\n\tcbz x16, 1f\n\tbr x16\n1:\tmov x17, #%d\n\tb find\n\t.size %s, .-%s\n", 8 * (NR - 1), NR - 1, $1, $1 }' "$names" |
		sed '1i\	.text'
	cat <<-'S'
		find:
			stp x29, x30, [sp, #-224]!
			mov x29, sp
			stp x0, x1, [sp, #16]
			stp x2, x3, [sp, #32]
			stp x4, x5, [sp, #48]
			stp x6, x7, [sp, #64]
			str x8, [sp, #80]
			stp q0, q1, [sp, #96]
			stp q2, q3, [sp, #128]
			stp q4, q5, [sp, #160]
			stp q6, q7, [sp, #192]
			mov x0, x17
			bl trampoline_find
			mov x16, x0
			ldp x0, x1, [sp, #16]
			ldp x2, x3, [sp, #32]
			ldp x4, x5, [sp, #48]
			ldp x6, x7, [sp, #64]
			ldr x8, [sp, #80]
			ldp q0, q1, [sp, #96]
			ldp q2, q3, [sp, #128]
			ldp q4, q5, [sp, #160]
			ldp q6, q7, [sp, #192]
			ldp x29, x30, [sp], #224
			br x16
	S
	;;
*)
	echo "trampolines: no code for $cpu: x86_64 and aarch64 are possible" >&2
	exit 1
	;;
esac
# The names, and the targets: 8 bytes each.
awk '{ printf "name%d:\t.string \"%s\"\n", NR, $1 }' "$names" | sed '1i\	.section .rodata'
printf '\t.section .data.rel.ro, "aw"\n\t.balign 8\n\t.globl trampoline_names\n\t.hidden trampoline_names\ntrampoline_names:\n'
awk '{ printf "\t.quad name%d\n", NR }' "$names"
printf '\t.bss\n\t.balign 8\n\t.globl trampoline_targets\n\t.hidden trampoline_targets\ntrampoline_targets:\n\t.skip %d\n' \
	"$((8 * $(wc -l <"$names") + 8))"
printf '\t.hidden trampoline_find\n\t.section .note.GNU-stack, "", %s\n' "$([ "$cpu" = x86_64 ] && echo @progbits || echo %progbits)"
