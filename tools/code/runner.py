# Runs the script that stands as JSON on stdin, and reports how it ended after the mark.
import sys


def _toolcrib():
    import ast, json, linecache, os

    job = json.loads(sys.stdin.buffer.read())
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    out = os.dup(1)
    sys.pycache_prefix = os.path.join(os.environ.get("TMPDIR", "/tmp"), "pycache")
    sys.argv = [""]
    name, code, most = "<script>", job["Code"], job["Most"]
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    home = os.getcwd() + os.sep

    def ours(frame):
        return frame.filename == name or frame.filename.startswith(home) and "site-packages" not in frame.filename

    def tidy(report, seen):
        import traceback

        if report is None or id(report) in seen:
            return
        seen.add(id(report))
        report.stack = traceback.StackSummary.from_list([f for f in report.stack if ours(f)])
        tidy(report.__cause__, seen)
        tidy(report.__context__, seen)
        for inner in getattr(report, "exceptions", None) or ():
            tidy(inner, seen)

    def short(text):
        text = text.encode("utf-8", "backslashreplace").decode()
        if len(text) <= most:
            return text
        half = most // 2
        return "%s\n[... %d characters left out ...]\n%s" % (text[:half], len(text) - 2 * half, text[-half:])

    def words(error, tb):
        import traceback

        report = traceback.TracebackException(type(error), error, tb)
        tidy(report, set())
        return short("".join(report.format()).rstrip("\n"))

    main = type(sys)("__main__")
    sys.modules["__main__"] = main
    scope = main.__dict__
    loop = None

    def run(tree, kind):
        nonlocal loop
        unit = compile(tree, name, kind, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        value = eval(unit, scope)
        if unit.co_flags & 0x80:  # a coroutine
            import asyncio

            loop = loop or asyncio.new_event_loop()
            value = loop.run_until_complete(value)
        return value

    report, status = {}, 0
    try:
        tree = ast.parse(code, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        run(tree, "exec")
        if last is not None:
            value = run(ast.Expression(last.value), "eval")
            if value is not None:
                report["value"] = short(repr(value))
    except SystemExit as e:
        status = e.code
        if status is None:
            status = 0
        elif not isinstance(status, int):
            print(status, file=sys.stderr)
            status = 1
    except BaseException as e:
        status = 1
        report["error"] = words(e, e.__traceback__)
        report["kind"] = type(e).__name__
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    text = ("\n" + job["Mark"] + json.dumps(report) + "\n").encode()
    while text:
        text = text[os.write(out, text):]
    return status


try:
    _toolcrib = _toolcrib()
except KeyboardInterrupt:
    _toolcrib = 130
sys.exit(_toolcrib)
