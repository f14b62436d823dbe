#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PyTorch, CuPy and JAX with libfathom_cusolver.so (docs/cusolver-client.md).

Each client runs its LU, QR, Cholesky, solves and least squares without the library and with it. NumPy judges
all results. With the library the calls that libfathom answered are counted, and none is a failure. Three ways
are tried, until one reaches the client: a preload, a folder on LD_LIBRARY_PATH, and a preload of the library
under cuSOLVER's soname. Then tables have the speedup by n.

Exit status: 0 all checks passed, 1 one failed, 77 no client could run.
"""
import argparse
import ctypes
import glob
import importlib.util
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLIENTS = ("torch", "cupy", "jax")
BOUND = 30  # LAPACK's tests pass below it
TIMES = 7


# ---- the child: one client, checked by NumPy


class Checks:
    def __init__(self):
        self.results = []

    def note(self, name, ratio):
        self.results.append({"name": name, "ratio": float(ratio), "good": bool(ratio < BOUND)})

    def equal(self, name, good):
        self.results.append({"name": name, "ratio": 0.0 if good else 1.0, "good": bool(good)})


def ratio(np, difference, size, scale, dtype):
    """Largest column sum of |difference| over size, scale and the precision's epsilon."""
    difference = np.abs(np.asarray(difference, dtype=np.float64))
    worst = difference.sum(axis=-2).max() if difference.size else 0.0
    return worst / (size * scale * np.finfo(dtype).eps / 2)


def norm(np, a):
    return np.abs(np.asarray(a, dtype=np.float64)).sum(axis=-2).max()


def inputs(np, dtype, shape, seed=1):
    random = np.random.default_rng(seed)
    a = random.standard_normal(shape).astype(dtype)
    return a


def definite(np, dtype, shape):
    a = np.asarray(inputs(np, np.float64, shape, 2))
    return (a @ np.swapaxes(a, -1, -2) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def check_lu(np, checks, name, a, p, l, u):
    a, p, l, u = (np.asarray(x, dtype=np.float64) for x in (a, p, l, u))
    checks.note(name, ratio(np, a - p @ l @ u, a.shape[-1], norm(np, a), checks.dtype))
    checks.equal(name + ": |L| <= 1", np.abs(l).max() <= 1 + 1e-6)


def check_qr(np, checks, name, a, q, r):
    a, q, r = (np.asarray(x, dtype=np.float64) for x in (a, q, r))
    size = max(a.shape[-2:])
    checks.note(name, ratio(np, a - q @ r, size, norm(np, a), checks.dtype))
    gram = np.swapaxes(q, -1, -2) @ q - np.eye(q.shape[-1])
    checks.note(name + ": Q^T Q", ratio(np, gram, size, 1, checks.dtype))


def check_cholesky(np, checks, name, a, l):
    a, l = np.asarray(a, dtype=np.float64), np.tril(np.asarray(l, dtype=np.float64))
    checks.note(name, ratio(np, a - l @ np.swapaxes(l, -1, -2), a.shape[-1], norm(np, a), checks.dtype))


def check_solve(np, checks, name, a, x, b):
    a, x, b = (np.asarray(y, dtype=np.float64) for y in (a, x, b))
    scale = norm(np, a) * norm(np, x)
    checks.note(name, ratio(np, b - a @ x, a.shape[-1], scale, checks.dtype))


def check_lstsq(np, checks, name, a, x, b):
    """The residual is orthogonal to the columns of A."""
    a, x, b = (np.asarray(y, dtype=np.float64) for y in (a, x, b))
    scale = norm(np, a) * (norm(np, a) * norm(np, x) + norm(np, b))
    checks.note(name, ratio(np, np.swapaxes(a, -1, -2) @ (b - a @ x), max(a.shape[-2:]), scale, checks.dtype))


SQUARES = ((1, 1), (33, 33), (512, 512), (1023, 1023), (2, 65, 65), (3, 2, 40, 40))
TALL = ((50, 20), (1000, 300), (2, 90, 31))
WIDE = ((20, 50), (300, 1000))


class Torch:
    def __init__(self, cpu):
        import torch

        self.torch = torch
        if not cpu and not torch.cuda.is_available():
            raise RuntimeError("PyTorch %s finds no GPU" % torch.__version__)
        self.device = "cpu" if cpu else "cuda"
        if not cpu:
            torch.backends.cuda.preferred_linalg_library("cusolver")
        self.version = torch.__version__

    def put(self, a):
        return self.torch.from_numpy(a).to(self.device)

    def check(self, np, checks, dtype):
        t, get = self.torch, lambda x: x.cpu().numpy()
        for shape in SQUARES + TALL + WIDE:
            a = inputs(np, dtype, shape)
            lu, pivots = t.linalg.lu_factor(self.put(a))
            check_lu(np, checks, "lu_factor %s" % (shape,), a, *(get(x) for x in t.lu_unpack(lu, pivots)))
            for mode in ("reduced", "complete"):
                check_qr(np, checks, "qr %s %s" % (mode, shape), a, *(get(x) for x in t.linalg.qr(self.put(a), mode)))
        for shape in SQUARES:
            a = inputs(np, dtype, shape) + 4 * np.sqrt(shape[-1]).astype(dtype) * np.eye(shape[-1], dtype=dtype)
            b, spd = inputs(np, dtype, shape[:-1] + (3,), 3), definite(np, dtype, shape)
            check_solve(np, checks, "solve %s" % (shape,), a, get(t.linalg.solve(self.put(a), self.put(b))), b)
            lu, pivots = t.linalg.lu_factor(self.put(a))
            x = get(t.linalg.lu_solve(lu, pivots, self.put(b), adjoint=True))
            check_solve(np, checks, "lu_solve adjoint %s" % (shape,), np.swapaxes(a, -1, -2), x, b)
            factor = t.linalg.cholesky(self.put(spd))
            check_cholesky(np, checks, "cholesky %s" % (shape,), spd, get(factor))
            check_solve(np, checks, "cholesky_solve %s" % (shape,), spd, get(t.cholesky_solve(self.put(b), factor)), b)
            upper = get(t.linalg.cholesky(self.put(spd), upper=True))
            check_cholesky(np, checks, "cholesky upper %s" % (shape,), spd, np.swapaxes(upper, -1, -2))
        for shape in TALL:
            a, b = inputs(np, dtype, shape), inputs(np, dtype, shape[:-1] + (2,), 4)
            x = get(t.linalg.lstsq(self.put(a), self.put(b), driver="gels").solution)
            check_lstsq(np, checks, "lstsq %s" % (shape,), a, x, b)
        indefinite = definite(np, dtype, (60, 60))
        indefinite[20, 20] = -1
        checks.equal("cholesky_ex: info", int(t.linalg.cholesky_ex(self.put(indefinite)).info) == 21)
        singular = np.zeros((30, 30), dtype)
        checks.equal("lu_factor_ex: info", int(t.linalg.lu_factor_ex(self.put(singular)).info) == 1)

    def seconds(self, np, dtype, name, n):
        t = self.torch
        a = self.put(definite(np, dtype, (n, n)) if name == "cholesky" else inputs(np, dtype, (n, n)))
        call = {"lu_factor": t.linalg.lu_factor, "qr": t.linalg.qr, "cholesky": t.linalg.cholesky}[name]
        times = []
        for i in range(2 + TIMES):
            begin, end = (t.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            call(a)
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end) * 1e-3)
        return sorted(times[2:])[TIMES // 2]


class Cupy:
    def __init__(self, cpu):
        if cpu:
            raise RuntimeError("CuPy needs a GPU")
        import cupy
        import cupyx.scipy.linalg

        self.cupy, self.linalg = cupy, cupyx.scipy.linalg
        if cupy.cuda.runtime.getDeviceCount() == 0:
            raise RuntimeError("CuPy %s finds no GPU" % cupy.__version__)
        self.version = cupy.__version__

    def check(self, np, checks, dtype):
        c, get, put = self.cupy, self.cupy.asnumpy, self.cupy.asarray
        for shape in [s for s in SQUARES + TALL + WIDE if len(s) == 2]:
            a = inputs(np, dtype, shape)
            p, l, u = (get(x) for x in self.linalg.lu(put(a)))
            check_lu(np, checks, "lu %s" % (shape,), a, p, l, u)
            for mode in ("reduced", "complete"):
                check_qr(np, checks, "qr %s %s" % (mode, shape), a, *(get(x) for x in c.linalg.qr(put(a), mode)))
        for shape in SQUARES:
            a = inputs(np, dtype, shape) + 4 * np.sqrt(shape[-1]).astype(dtype) * np.eye(shape[-1], dtype=dtype)
            b, spd = inputs(np, dtype, shape[:-1] + (3,), 3), definite(np, dtype, shape)
            check_solve(np, checks, "solve %s" % (shape,), a, get(c.linalg.solve(put(a), put(b))), b)
            check_cholesky(np, checks, "cholesky %s" % (shape,), spd, get(c.linalg.cholesky(put(spd))))
            if len(shape) > 2:
                continue
            factors = self.linalg.lu_factor(put(a))
            for trans in (0, 1):
                x = get(self.linalg.lu_solve(factors, put(b), trans=trans))
                check_solve(np, checks, "lu_solve %d %s" % (trans, shape), a.T if trans else a, x, b)
            check_solve(np, checks, "inv %s" % (shape,), a, get(c.linalg.inv(put(a))), np.eye(shape[-1], dtype=dtype))
        for shape in [s for s in TALL if len(s) == 2]:
            a, b = inputs(np, dtype, shape), inputs(np, dtype, shape[:-1] + (2,), 4)
            x = get(c.linalg.lstsq(put(a), put(b), rcond=None)[0])
            check_lstsq(np, checks, "lstsq %s" % (shape,), a, x, b)

    def seconds(self, np, dtype, name, n):
        c = self.cupy
        a = c.asarray(definite(np, dtype, (n, n)) if name == "cholesky" else inputs(np, dtype, (n, n)))
        call = {"lu_factor": self.linalg.lu_factor, "qr": c.linalg.qr, "cholesky": c.linalg.cholesky}[name]
        times = []
        for i in range(2 + TIMES):
            begin, end = c.cuda.Event(), c.cuda.Event()
            begin.record()
            call(a)
            end.record()
            end.synchronize()
            times.append(c.cuda.get_elapsed_time(begin, end) * 1e-3)
        return sorted(times[2:])[TIMES // 2]


class Jax:
    def __init__(self, cpu):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax

        jax.config.update("jax_enable_x64", True)
        if cpu:
            jax.config.update("jax_platforms", "cpu")
        elif jax.default_backend() not in ("gpu", "cuda"):
            raise RuntimeError("JAX %s finds no GPU" % jax.__version__)
        import jax.numpy
        import jax.scipy.linalg

        self.jax, self.version = jax, jax.__version__

    def check(self, np, checks, dtype):
        jnp = self.jax.numpy
        for shape in SQUARES + TALL + WIDE:
            a = inputs(np, dtype, shape)
            lu, _, rows = (np.asarray(x) for x in self.jax.lax.linalg.lu(jnp.asarray(a)))
            k = min(shape[-2:])
            p = np.swapaxes(np.eye(shape[-2])[rows], -1, -2)
            check_lu(np, checks, "lu %s" % (shape,), a, p, np.tril(lu[..., :k], -1) + np.eye(shape[-2], k), np.triu(lu[..., :k, :]))
            for mode in ("reduced", "complete"):
                check_qr(np, checks, "qr %s %s" % (mode, shape), a, *jnp.linalg.qr(jnp.asarray(a), mode))
        for shape in SQUARES:
            a = inputs(np, dtype, shape) + 4 * np.sqrt(shape[-1]).astype(dtype) * np.eye(shape[-1], dtype=dtype)
            b, spd = inputs(np, dtype, shape[:-1] + (3,), 3), definite(np, dtype, shape)
            check_solve(np, checks, "solve %s" % (shape,), a, jnp.linalg.solve(jnp.asarray(a), jnp.asarray(b)), b)
            check_cholesky(np, checks, "cholesky %s" % (shape,), spd, jnp.linalg.cholesky(jnp.asarray(spd)))
        for shape in [s for s in TALL if len(s) == 2]:
            a, b = inputs(np, dtype, shape), inputs(np, dtype, shape[:-1] + (2,), 4)
            check_lstsq(np, checks, "lstsq %s" % (shape,), a, jnp.linalg.lstsq(jnp.asarray(a), jnp.asarray(b))[0], b)

    def seconds(self, np, dtype, name, n):
        import time

        jnp, linalg = self.jax.numpy, self.jax.scipy.linalg
        a = jnp.asarray(definite(np, dtype, (n, n)) if name == "cholesky" else inputs(np, dtype, (n, n)))
        call = {"lu_factor": linalg.lu_factor, "qr": jnp.linalg.qr, "cholesky": jnp.linalg.cholesky}[name]
        call, times = self.jax.jit(call), []
        for i in range(2 + TIMES):
            begin = time.perf_counter()
            self.jax.block_until_ready(call(a))
            times.append(time.perf_counter() - begin)
        return sorted(times[2:])[TIMES // 2]


def loaded():
    """Names of the cuSOLVER libraries in this process."""
    with open("/proc/self/maps") as maps:
        paths = {line.split()[-1] for line in maps if "libcusolver.so" in line or "fathom_cusolver" in line}
    return sorted(paths)


def counts(path):
    """What libfathom answered and passed on; the path is that of the loaded library."""
    if not path:
        return 0, 0
    library = ctypes.CDLL(path)
    for name in ("fathom_cusolver_answered", "fathom_cusolver_passed"):
        function = getattr(library, name)
        function.restype, function.argtypes = ctypes.c_longlong, [ctypes.c_char_p]
    return library.fathom_cusolver_answered(None), library.fathom_cusolver_passed(None)


def child(options):
    answer = {"checks": [], "seconds": {}}
    try:
        import numpy as np

        client = {"torch": Torch, "cupy": Cupy, "jax": Jax}[options.child](options.cpu)
    except Exception as error:  # whatever a client says without a usable GPU
        answer["skipped"] = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
        print(json.dumps(answer))
        return
    answer["version"] = client.version
    for dtype in (np.float32, np.float64):
        checks = Checks()
        checks.dtype = dtype
        client.check(np, checks, dtype)
        name = np.dtype(dtype).name
        answer["checks"] += [dict(r, name="%s %s" % (name, r["name"])) for r in checks.results]
        for n in () if options.cpu else options.sizes:
            for call in ("lu_factor", "qr", "cholesky"):
                answer["seconds"]["%s %s %d" % (name, call, n)] = client.seconds(np, dtype, call, n)
    answer["loaded"] = loaded()
    answer["answered"], answer["passed"] = counts(options.counter)
    print(json.dumps(answer))


# ---- the parent: without the library, then with it


def run(options, client, counter="", **variables):
    environment = dict(os.environ, **variables)
    command = [sys.executable, os.path.abspath(__file__), "--child", client, "--counter", counter]
    command += ["--sizes", ",".join(map(str, options.sizes))] + (["--cpu"] if options.cpu else [])
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        return json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        lines = done.stderr.strip().splitlines()
        errors = [line for line in lines if "Error" in line]
        return {"died": "status %d: %s" % (done.returncode, (errors or lines or ["no word"])[-1])}


def ways(options):
    """Name, counting library and variables of each way to reach a client."""
    preload = os.path.join(options.library, "libfathom_cusolver.so")
    if os.path.exists(preload):
        yield "LD_PRELOAD=libfathom_cusolver.so", preload, {"LD_PRELOAD": preload}
    for named in sorted(glob.glob(os.path.join(options.library, "fathom-cusolver", "libcusolver.so.*"))):
        folder = os.path.dirname(named)
        path = ":".join(filter(None, (folder, os.environ.get("LD_LIBRARY_PATH"))))
        yield "LD_LIBRARY_PATH=fathom-cusolver", named, {"LD_LIBRARY_PATH": path}
        yield "LD_PRELOAD=fathom-cusolver/%s" % os.path.basename(named), named, {"LD_PRELOAD": named}


def bad_checks(name, answer):
    """How many checks failed; says which."""
    bad = [c for c in answer["checks"] if not c["good"]]
    for c in bad[:10]:
        print("%s: wrong: %s: ratio %.3g" % (name, c["name"], c["ratio"]))
    return len(bad)


def speedups(client, before, after, sizes):
    if not sizes or not before["seconds"]:
        return
    print("\n| %s %s, speedup | %s |" % (client, before["version"], " | ".join(map(str, sizes))))
    print("|---|" + "---|" * len(sizes))
    for name in ("float32", "float64"):
        for call in ("lu_factor", "qr", "cholesky"):
            keys = ["%s %s %d" % (name, call, n) for n in sizes]
            row = ["%.2f" % (before["seconds"][k] / after["seconds"][k]) for k in keys]
            print("| %s, %s | %s |" % (call, name, " | ".join(row)))
    print()


def try_client(options, client):
    """True: passed; False: failed; None: skipped."""
    if importlib.util.find_spec(client) is None:
        print("%s: skipped: the package is not installed" % client)
        return None
    before = run(options, client)
    if "skipped" in before:
        print("%s: skipped: %s" % (client, before["skipped"]))
        return None
    if "died" in before:
        print("%s: failed without the library: %s" % (client, before["died"]))
        return False
    failed = bad_checks("%s without the library" % client, before)
    print("%s %s: %d of %d checks pass without the library" % (
        client, before["version"], len(before["checks"]) - failed, len(before["checks"])))
    if options.cpu:
        return failed == 0
    known = {c["name"] for c in before["checks"] if not c["good"]}
    good, reached = True, False
    for way, counter, variables in ways(options):
        after = run(options, client, counter, **variables)
        if "skipped" in after or "died" in after:
            print("%s with %s: failed: %s" % (client, way, after.get("skipped") or after["died"]))
            good = False
            continue
        after["checks"] = [c for c in after["checks"] if c["name"] not in known]
        failed = bad_checks("%s with %s" % (client, way), after)
        good = good and failed == 0
        print("%s with %s: %d checks, %d failed; %d calls answered by libfathom, %d passed on" % (
            client, way, len(after["checks"]), failed, after["answered"], after["passed"]))
        if after["answered"] > 0:
            speedups(client, before, after, options.sizes)
            reached = True
            break
    if not reached:
        print("%s: failed: no call was answered by libfathom; the process has loaded: %s" % (
            client, ", ".join(before["loaded"]) or "no cuSOLVER"))
    return good and reached


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default=os.path.join(ROOT, "build"),
                        help="folder of libfathom_cusolver.so and fathom-cusolver (default: build)")
    parser.add_argument("--clients", default=",".join(CLIENTS), help="some of %s" % ",".join(CLIENTS))
    parser.add_argument("--sizes", default="512,1024,2048,4096,8192", help="n of the speedup table; empty: no table")
    parser.add_argument("--cpu", action="store_true", help="checks on the host without the library, to try this script")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--counter", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.sizes = [int(n) for n in options.sizes.split(",") if n]
    options.library = os.path.abspath(options.library)
    if options.child:
        child(options)
        return 0
    unknown = set(options.clients.split(",")) - set(CLIENTS)
    if unknown:
        parser.error("unknown clients: %s" % ", ".join(sorted(unknown)))
    if not options.cpu and not any(True for _ in ways(options)):
        print("there is no libfathom_cusolver.so in %s" % options.library)
        return 77
    results = [try_client(options, client) for client in options.clients.split(",")]
    if all(r is None for r in results):
        return 77
    return 1 if False in results else 0


if __name__ == "__main__":
    sys.exit(main())
