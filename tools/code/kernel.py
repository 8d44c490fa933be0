# Runs cells that come as lines of JSON on stdin, in one scope, and answers each by a line of
# JSON on what it was given as stderr. What cells print, to either stream, goes to stdout; a
# mark after it says that it is all.
import sys


def _toolcrib():
    import ast, base64, builtins, io, json, linecache, os, signal

    jobs = os.fdopen(os.dup(0), "rb")
    answers = os.dup(2)
    out = os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(1, 2)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    sys.pycache_prefix = os.path.join(os.environ.get("TMPDIR", "/tmp"), "pycache")
    sys.argv = [""]
    home = os.getcwd() + os.sep
    main = type(sys)("__main__")
    sys.modules["__main__"] = main
    scope = main.__dict__
    most_image, most_images = 1_500_000, 8
    state = {"loop": None, "images": [], "left": 0, "inside": False}

    def ours(frame):
        return frame.filename.startswith("<cell ") or frame.filename.startswith(home) and "site-packages" not in frame.filename

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

    def short(text, most):
        text = text.encode("utf-8", "backslashreplace").decode()
        if len(text) <= most:
            return text
        half = most // 2
        return "%s\n[... %d characters left out ...]\n%s" % (text[:half], len(text) - 2 * half, text[-half:])

    def words(error, most):
        import traceback

        report = traceback.TracebackException(type(error), error, error.__traceback__)
        tidy(report, set())
        return short("".join(report.format()).rstrip("\n"), most)

    def picture(kind, data):
        if len(data) > most_image or len(state["images"]) >= most_images:
            state["left"] += 1
        else:
            state["images"].append({"mime": kind, "data": base64.b64encode(data).decode()})

    def shown(value):
        """Shows an object that has an image of itself; False = it has none."""
        if isinstance(value, type):
            return False
        for kind, name in (("image/png", "_repr_png_"), ("image/jpeg", "_repr_jpeg_")):
            make = getattr(value, name, None)
            data = make() if callable(make) else None
            if isinstance(data, tuple):
                data = data[0]
            if isinstance(data, str):
                data = base64.b64decode(data)
            if isinstance(data, bytes):
                picture(kind, data)
                return True
        return False

    def display(*values):
        for value in values:
            if not shown(value) and not figure(value):
                print(value if isinstance(value, str) else repr(value))

    def figure(value):
        lib = sys.modules.get("matplotlib.figure")
        if lib is None or not isinstance(value, lib.Figure):
            return False
        data = io.BytesIO()
        value.savefig(data, format="png", bbox_inches="tight")
        picture("image/png", data.getvalue())
        lib = sys.modules.get("matplotlib.pyplot")
        if lib is not None:
            lib.close(value)
        return True

    def figures():
        lib = sys.modules.get("matplotlib.pyplot")
        if lib is not None:
            for number in lib.get_fignums():
                figure(lib.figure(number))

    builtins.display = display

    def run(tree, name, kind):
        unit = compile(tree, name, kind, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        value = eval(unit, scope)
        if unit.co_flags & 0x80:  # a coroutine
            import asyncio

            state["loop"] = state["loop"] or asyncio.new_event_loop()
            value = state["loop"].run_until_complete(value)
        return value

    def cell(job):
        name, code, most, report = "<cell %d>" % job["Number"], job["Code"], job["Most"], {}
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        try:
            state["inside"] = True
            tree = ast.parse(code, name)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            run(tree, name, "exec")
            if last is not None:
                value = run(ast.Expression(last.value), name, "eval")
                if value is not None:
                    scope["_"] = value
                    if not shown(value) and not figure(value):
                        report["value"] = short(repr(value), most)
            figures()
        except SystemExit as e:
            report["exit"] = True
        except BaseException as e:
            report["error"], report["kind"] = words(e, most), type(e).__name__
        finally:
            state["inside"] = False
        return report

    def interrupted(number, frame):
        if state["inside"]:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupted)
    for line in jobs:
        job = json.loads(line)
        state["images"], state["left"] = [], 0
        report = cell(job)
        report["images"], report["left"] = state["images"], state["left"]
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass
        write(out, "\n" + job["Mark"] + "\n")
        report["mark"] = job["Mark"]
        write(answers, json.dumps(report) + "\n")
        if report.get("exit"):
            break


def write(fd, text):
    import os

    text = text.encode()
    try:
        while text:
            text = text[os.write(fd, text):]
    except OSError:
        pass


_toolcrib()
