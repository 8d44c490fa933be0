# Runs cells that come as lines of JSON on stdin, in one scope, and answers each by a line of
# JSON on what it was given as stderr. What cells print, to either stream, goes to stdout; a
# mark after it says that it is all.


def _toolcrib():
    import base64, builtins, io, json, os, signal

    jobs = os.fdopen(os.dup(0), "rb")
    answers = os.dup(2)
    out = os.dup(1)
    os.dup2(1, 2)
    scope = _Scope()
    most_image, most_images = 1_500_000, 8
    state = {"images": [], "left": 0, "inside": False}

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

    def cell(job):
        report = {}
        try:
            state["inside"] = True
            value = scope.run("<cell %d>" % job["Number"], job["Code"])
            if value is not None:
                scope.vars["_"] = value
                if not shown(value) and not figure(value):
                    report["value"] = _short(repr(value), job["Most"])
            figures()
        except SystemExit as e:
            report["exit"], report["code"] = True, _status(e)
        except BaseException as e:
            state["inside"] = False  # a second interrupt does not end what words the first
            report.update(_failure(scope, e, job["Most"]))
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
        _flush()
        _write(out, "\n" + job["Mark"] + "\n")
        report["mark"] = job["Mark"]
        _write(answers, json.dumps(report) + "\n")
        if report.get("exit"):
            break


_toolcrib()
