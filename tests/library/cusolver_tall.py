#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tall QR by cuSOLVER's geqrf and by libfathom_cusolver.so (docs/experiments/qr-panel.md).

Both libraries get the same calls in one process, with PyTorch for memory and judgement. Columns have a leading
dimension of m + 13. The first table has the medians of six calls after two, the second one orthogonality and
residual in 2^-53. Exit status: 0 done, 1 a call failed or was passed on, 77 no PyTorch, GPU or library.
"""
import argparse
import ctypes as c
import os
import statistics
import sys

try:
    import torch
except ImportError:
    torch = None

BEYOND = 13  # elements between columns
ROWS, COLUMNS = (8192, 32768, 65536, 131072, 1000000), (32, 64, 130, 256, 512)
LETTERS = {}


def pointer(tensor):
    return c.c_void_p(tensor.data_ptr())


class Library:
    def __init__(self, path):
        self.calls = c.CDLL(path)
        self.handle = c.c_void_p()
        if self.calls.cusolverDnCreate(c.byref(self.handle)):
            raise OSError(f"{path}: no handle")

    def qr(self, given, m):
        """Median microseconds, factors and tau of a matrix whose columns are the rows of `given`."""
        n, ld = given.shape
        name = "cusolverDn" + LETTERS[given.dtype] + "geqrf"
        a, size = given.clone(), c.c_int()
        failed = getattr(self.calls, name + "_bufferSize")(self.handle, m, n, pointer(a), ld, c.byref(size))
        work, tau = (torch.empty(k, dtype=a.dtype, device="cuda") for k in (size.value, n))
        info, times = torch.zeros(1, dtype=torch.int32, device="cuda"), []
        for _ in range(8):
            a.copy_(given)
            torch.cuda.synchronize()
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            failed |= getattr(self.calls, name)(
                self.handle, m, n, pointer(a), ld, pointer(tau), pointer(work), size, pointer(info))
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end) * 1e3)
        if failed:
            raise OSError(f"{name} of {m} x {n} failed")
        return statistics.median(times[2:]), a, tau


def print_speeds(cusolver, ours):
    for dtype in LETTERS:
        for m in ROWS:
            for n in COLUMNS:
                if (n < 512 or m == 131072) and m * n < 2.75e8:
                    given = torch.randn(n, m + BEYOND, dtype=dtype, device="cuda")
                    theirs, mine = cusolver.qr(given, m)[0], ours.qr(given, m)[0]
                    print(f"{LETTERS[dtype]} {m:7} x {n:3}  cuSOLVER {theirs:9.1f} us  ours {mine:9.1f} us"
                          f"  ratio {theirs / mine:5.2f}", flush=True)


def matrices(m, n):
    double = {"dtype": torch.float64, "device": "cuda"}
    normal = torch.randn(m, n, **double)
    left, right = torch.linalg.qr(normal)[0], torch.linalg.qr(torch.randn(n, n, **double))[0]
    equal, zero = normal.clone(), normal.clone()
    equal[:, 1::2], zero[:, n // 2] = equal[:, 0:n - 1:2], 0
    return {"normal": normal, "columns from 1e-16 to 1": normal * torch.logspace(-16, 0, n, **double),
            "condition 1e15": left * torch.logspace(0, -15, n, **double) @ right.T, "pairs of equal columns": equal,
            "a zero column": zero, "times 1e299": normal * 1e299, "times 1e-300": normal * 1e-300}


def print_errors(cusolver, ours, m=40009, n=96):
    norm = torch.linalg.matrix_norm
    for name, matrix in matrices(m, n).items():
        given, found = torch.zeros(n, m + BEYOND, dtype=torch.float64, device="cuda"), []
        given[:, :m] = matrix.T
        for library in (cusolver, ours):
            _, factors, tau = library.qr(given, m)
            factors, largest = factors[:, :m].T.contiguous(), matrix.abs().max()
            q, r = torch.linalg.householder_product(factors, tau), torch.triu(factors[:n]) / largest
            scaled, one = matrix / largest, torch.eye(n, dtype=torch.float64, device="cuda")
            found += [float(norm(q.T @ q - one)) * 2**53, float(norm(scaled - q @ r) / norm(scaled)) * 2**53]
        print(f"{name:24} cuSOLVER {found[0]:9.3g}, {found[1]:9.3g}  ours {found[2]:9.3g}, {found[3]:9.3g}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default="build", help="folder of libfathom_cusolver.so (default: build)")
    path = os.path.join(parser.parse_args().library, "libfathom_cusolver.so")
    if not torch or not torch.cuda.is_available() or not os.path.exists(path):
        print("cusolver_tall: needs PyTorch, a GPU and " + path, file=sys.stderr)
        return 77
    LETTERS.update({torch.float64: "D", torch.float32: "S"})
    torch.cuda.current_stream()
    try:
        cusolver, ours = Library(f"libcusolver.so.{12 if torch.version.cuda >= '13' else 11}"), Library(path)
        print_speeds(cusolver, ours)
        print_errors(cusolver, ours)
    except OSError as error:
        print(f"cusolver_tall: {error}", file=sys.stderr)
        return 1
    ours.calls.fathom_cusolver_passed.restype = c.c_longlong
    passed = ours.calls.fathom_cusolver_passed(None)
    print(f"{passed} calls were passed on to cuSOLVER")
    return int(passed > 0)


if __name__ == "__main__":
    sys.exit(main())
