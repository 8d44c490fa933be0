# What running a script and running cells have in common. The program that does either
# follows.
import sys


class _Scope:
    """Runs code as the module __main__, without input, and words its errors."""

    def __init__(self):
        import os

        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
        sys.pycache_prefix = os.path.join(os.environ.get("TMPDIR", "/tmp"), "pycache")
        self.magics = sys.argv[1]
        sys.argv = [""]
        self.home = os.getcwd() + os.sep
        self.files = set()
        self.reserve = None
        self.loop = None
        main = type(sys)("__main__")
        sys.modules["__main__"] = main
        self.vars = main.__dict__

    def run(self, file, code):
        """Returns the value of the last expression; None = there is none."""
        import ast, linecache

        self.keep()
        self.files.add(file)
        linecache.cache[file] = (len(code), None, code.splitlines(True), file)
        fault = None
        try:
            tree = ast.parse(code, file)
        except SyntaxError as e:
            fault = e
        if fault is not None:  # out of its handler: an error that follows is not of two
            tree = self.translated(code, file, fault)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        self.part(tree, file, "exec")
        if last is not None:
            return self.part(ast.Expression(last.value), file, "eval")

    def translated(self, code, file, fault):
        """Returns the tree of code in which stand lines that only notebooks know."""
        if isinstance(self.magics, str):
            known = {}
            exec(self.magics, known)
            self.magics = self.vars["__toolcrib__"] = known["Magics"](self)
        return self.magics.parse(code, file, fault)

    def part(self, tree, file, kind):
        import ast, linecache

        try:
            unit = compile(tree, file, kind, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        except SyntaxError as e:
            e.text = e.text or linecache.getline(file, e.lineno or 0) or None
            raise
        value = eval(unit, self.vars)
        if unit.co_flags & 0x80:  # a coroutine
            import asyncio

            self.loop = self.loop or asyncio.new_event_loop()
            value = self.loop.run_until_complete(value)
        return value

    def keep(self):
        """Sees to it that there is memory to word an error with when there is none left."""
        try:
            self.reserve = self.reserve or bytearray(8 << 20)
        except MemoryError:
            pass

    def words(self, error, most):
        """Returns the traceback, with the lines of the code and of the workspace alone."""
        if isinstance(error, MemoryError):
            self.reserve = None
            step = error.__traceback__
            while step is not None:
                try:
                    step.tb_frame.clear()
                except RuntimeError:  # it still runs
                    pass
                step = step.tb_next
        import traceback

        report = traceback.TracebackException(type(error), error, error.__traceback__)
        self.tidy(report, set())
        return _short("".join(report.format()).rstrip("\n"), most)

    def tidy(self, report, seen):
        import traceback

        if report is None or id(report) in seen:
            return
        seen.add(id(report))
        report.stack = traceback.StackSummary.from_list([f for f in report.stack if self.own(f)])
        self.tidy(report.__cause__, seen)
        self.tidy(report.__context__, seen)
        for inner in getattr(report, "exceptions", None) or ():
            self.tidy(inner, seen)

    def own(self, frame):
        return frame.filename in self.files or frame.filename.startswith(self.home) and "site-packages" not in frame.filename


def _failure(scope, error, most):
    """Returns the report of what ended the code."""
    report = {"error": scope.words(error, most), "kind": type(error).__name__}
    if isinstance(error, ModuleNotFoundError):
        import pkgutil

        places = [p for p in sys.path if p.endswith(("site-packages", "dist-packages"))]
        report["packages"] = sorted({m.name for m in pkgutil.iter_modules(places) if not m.name.startswith("_")})
    return report


def _status(end):
    """Returns the exit code of a SystemExit, and prints what stands in its place."""
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    print(end.code, file=sys.stderr)
    return 1


def _short(text, most):
    text = text.encode("utf-8", "backslashreplace").decode()
    if len(text) <= most:
        return text
    half = most // 2
    return "%s\n[... %d characters left out ...]\n%s" % (text[:half], len(text) - 2 * half, text[-half:])


def _flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass


def _write(fd, text):
    import os

    text = text.encode()
    try:
        while text:
            text = text[os.write(fd, text):]
    except OSError:
        pass


