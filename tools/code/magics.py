# Translates the lines that notebooks know and Python does not: `!command`, `%magic`,
# `%%magic` for a whole cell and `name?`. It is compiled for code that does not parse.
import ast, re, sys, textwrap

IGNORED = {"matplotlib", "load_ext", "reload_ext", "autoreload", "config", "precision", "pylab"}
SHELL = {"ls", "cat", "mkdir", "rm", "cp", "mv", "pip", "conda"}
WHOLE = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*%%([A-Za-z]\w*)[ \t]*([^\n]*)\n?")
INDENTED = re.compile(r"(?:[ \t]*\n)*[ \t]+\S")
TIMED = re.compile(r"\s*((?:-[nrp]\s*\d+\s+|-[oqtcv]+\s+)*)(.*)", re.S)
ASSIGNED = re.compile(r"^(\s*[A-Za-z_][\w., ]*=\s*)([!%])(.*)$")


class Lines(list):
    """The lines that a command has printed; n and s are them as one text."""

    n = property("\n".join)
    s = property(" ".join)
    l = property(list)


class Captured(str):
    """What a cell has printed."""

    stdout = property(str)
    stderr = ""


def joined(lines, at):
    """Returns a line of a magic with the lines that go on with it, which become empty."""
    text = lines[at]
    known = text.lstrip()[:1] in ("!", "%") or ASSIGNED.match(text)
    while known and text.endswith("\\") and at + 1 < len(lines):
        at += 1
        text, lines[at] = text[:-1] + lines[at], ""
    return text


class Magics:
    def __init__(self, scope):
        self.scope = scope
        self.before = "."

    def parse(self, code, file, fault):
        """Parses code, which has failed with fault, with its magics in their lines."""
        whole = WHOLE.match(code)
        if whole:
            above = "\n" * code.count("\n", 0, whole.end())
            return self.cell(whole[1], whole[2].strip(), code[whole.end():], file, above)
        if isinstance(fault, IndentationError) and INDENTED.match(code):
            code = textwrap.dedent(code)
        first, lines, seen = fault, code.split("\n"), set()
        while True:
            try:
                return ast.parse("\n".join(lines), file)
            except SyntaxError as e:
                fault = e
            at = (fault.lineno or 0) - 1
            if at in seen:
                raise first
            other = self.line(joined(lines, at)) if 0 <= at < len(lines) else None
            if other is None:
                break
            seen.add(at)
            lines[at] = other
        raise fault

    def line(self, text):
        """Returns the Python for a line that is a magic; None = it is none."""
        text = text.rstrip()
        body = text.lstrip()
        indent = text[:len(text) - len(body)]
        assigned = ASSIGNED.match(text)
        if assigned:
            name = "capture" if assigned[2] == "!" else "magic"
            return "%s__toolcrib__.%s(%r)" % (assigned[1], name, assigned[3].strip())
        if body.startswith("!"):
            return "%s__toolcrib__.shell(%r)" % (indent, body[1:].lstrip("!").strip())
        if re.match(r"%[A-Za-z]", body):
            return "%s__toolcrib__.magic(%r)" % (indent, body[1:].strip())
        asked = re.fullmatch(r"\?{0,2}([A-Za-z_][\w.]*)\?{0,2}", body)
        if asked and "?" in body:
            return "%s__toolcrib__.about(%s, %r)" % (indent, asked[1], "??" in body)
        return None

    def cell(self, name, rest, code, file, above):
        """Returns the tree for a cell with a magic of its own."""
        known = sorted(m[5:] for m in dir(self) if m.startswith("cell_"))
        if name not in known:
            raise NameError("no magic is called %%%%%s here; there are %s" % (name, " ".join("%%" + k for k in known)))
        if name not in ("bash", "sh", "writefile"):
            code = above + code
        return ast.parse("__toolcrib__.cell_%s(%r, %r, %r)" % (name, rest, code, file))

    def filled(self, command):
        """Puts values into a command: {expression} and $name, as notebooks do."""
        def value(found):
            try:
                return str(eval(found[1] or found[2], self.scope.vars))
            except Exception:
                return found[0]

        return re.sub(r"\{([^{}\s]+)\}|\$([A-Za-z_]\w*)", value, command)

    def program(self, args, env=None, out=None):
        """Runs a program and returns what it prints, if out says so; it ends with the cell."""
        import io, os, signal, subprocess

        captured = out is None and isinstance(sys.stdout, io.StringIO)
        if captured:
            out = subprocess.PIPE
        sys.stdout.flush()
        process = subprocess.Popen(
            args, shell=isinstance(args, str), env=env, stdout=out, stderr=out and subprocess.STDOUT, start_new_session=True
        )
        try:
            text, _ = process.communicate()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        self.scope.vars["_exit_code"] = process.returncode
        if captured:
            print(text.decode("utf-8", "replace"), end="")
        if (out is None or captured) and process.returncode:
            print("exit %d" % process.returncode)
        return text

    def shell(self, command, out=None):
        import os

        command = self.filled(command)
        if re.match(r"pip3?\s", command):  # that of this interpreter
            command = '"$TOOLCRIB_PYTHON" -m ' + command
        return self.program(command, dict(os.environ, TOOLCRIB_PYTHON=sys.executable), out)

    def capture(self, command):
        import subprocess

        return Lines(self.shell(command, subprocess.PIPE).decode("utf-8", "replace").splitlines())

    def magic(self, text):
        name, _, rest = text.partition(" ")
        rest = rest.strip()
        if name in IGNORED:
            return None
        if name in SHELL:
            return self.shell(text)
        run = getattr(self, "line_" + name, None)
        if run is None:
            known = sorted({m[5:] for m in dir(self) if m.startswith("line_")} | SHELL)
            raise NameError("no magic is called %%%s here; there are %s" % (name, " ".join("%" + k for k in known)))
        return run(rest)

    def about(self, value, whole):
        import inspect

        if whole:
            try:
                return print(inspect.getsource(value))
            except (TypeError, OSError):
                pass
        try:
            print("%s%s" % (getattr(value, "__name__", type(value).__name__), inspect.signature(value)))
        except (TypeError, ValueError):
            print(type(value).__name__)
        print(inspect.getdoc(value) or "no documentation")

    def line_cd(self, where):
        import os

        where = self.before if where == "-" else os.path.expanduser(self.filled(where) or "~")
        self.before = os.getcwd()
        os.chdir(where)
        return os.getcwd()

    def line_pwd(self, _):
        import os

        return os.getcwd()

    def line_env(self, text):
        import os

        name, equal, value = text.partition("=")
        if not equal:
            return os.environ.get(name) if name else dict(os.environ)
        os.environ[name.strip()] = self.filled(value.strip())

    line_set_env = line_env

    def line_who(self, _):
        return [k for k in self.scope.vars if not k.startswith("_")]

    line_whos = line_who

    def line_run(self, file):
        import runpy

        self.scope.vars.update(runpy.run_path(file, run_name="__main__"))

    def line_time(self, code):
        return self.timed(code, "<timed>")

    def line_timeit(self, code):
        return self.measured(code, "pass", "<timed>")

    def cell_time(self, _, code, file):
        return self.timed(code, file)

    def cell_timeit(self, rest, code, file):
        options, setup = TIMED.match(rest + " ").groups()
        return self.measured(options + code, setup.strip() or "pass", file)

    def cell_capture(self, name, code, file):
        import contextlib, io

        text = io.StringIO()
        with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
            self.scope.run(file, code)
        if name and not name.startswith("-"):
            self.scope.vars[name] = Captured(text.getvalue())

    def cell_writefile(self, file, code, _):
        mode = "w"
        if file.startswith("-a "):
            mode, file = "a", file[3:].strip()
        with open(self.filled(file), mode, encoding="utf-8") as f:
            f.write(code)

    def cell_bash(self, _, code, file):
        self.program(["bash", "-c", code])

    cell_sh = cell_bash

    def timed(self, code, file):
        import time

        wall, cpu = time.perf_counter(), time.process_time()
        try:
            return self.scope.run(file, code)
        finally:
            print("CPU %.3g s, wall %.3g s" % (time.process_time() - cpu, time.perf_counter() - wall))

    def measured(self, code, setup, file):
        import timeit

        options, code = TIMED.match(code).groups()
        loops, runs = re.search(r"-n\s*(\d+)", options), re.search(r"-r\s*(\d+)", options)
        runs = max(int(runs[1]), 1) if runs else 5
        fault = None
        try:
            ast.parse(code)
        except SyntaxError as e:
            fault = e
        if fault is not None:
            code = ast.unparse(self.parse(code, file, fault))
        timer = timeit.Timer(code, setup, globals=self.scope.vars)
        if loops:
            loops = max(int(loops[1]), 1)
            first = timer.timeit(loops)
        else:
            loops, first = timer.autorange()
        each = [t / loops for t in [first] + timer.repeat(runs - 1, loops)]
        print("best %.3g s, worst %.3g s a loop (%d %s of %d)" % (min(each), max(each), runs, "run" if runs == 1 else "runs", loops))
        if "o" in options:
            return each
