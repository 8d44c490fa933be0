# Translates the lines that notebooks know and Python does not: `!command`, `%magic`,
# `%%magic` for a whole cell and `name?`. It is compiled for code that does not parse.
import ast, re, sys

IGNORED = {"matplotlib", "load_ext", "reload_ext", "autoreload", "config", "precision", "pylab"}
SHELL = {"ls", "cat", "mkdir", "rm", "cp", "mv", "pip", "conda"}
ASSIGNED = re.compile(r"^(\s*[A-Za-z_][\w., ]*=\s*)([!%])(.*)$")


class Magics:
    def __init__(self, scope):
        self.scope = scope

    def parse(self, code, file):
        """Parses code with its magics in their lines; raises what ast.parse raises."""
        whole = re.match(r"\s*%%(\w+)[ \t]*(.*)\n?", code)
        if whole and ("cell_" + whole[1]) in dir(self):
            return self.call("cell_" + whole[1], whole[2].strip(), code[whole.end():])
        lines = code.split("\n")
        while True:
            try:
                return ast.parse("\n".join(lines), file)
            except SyntaxError as e:
                at = (e.lineno or 0) - 1
                if not 0 <= at < len(lines):
                    raise
                other = self.line(lines[at])
                if other is None:
                    raise
                lines[at] = other

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
        if body.startswith("%") and not body.startswith("%%"):
            return "%s__toolcrib__.magic(%r)" % (indent, body[1:].strip())
        asked = re.fullmatch(r"\?{0,2}([A-Za-z_][\w.]*)\?{0,2}", body)
        if asked and "?" in body:
            return "%s__toolcrib__.about(%s)" % (indent, asked[1])
        return None

    def call(self, name, *args):
        text = "__toolcrib__.%s(%s)" % (name, ", ".join(map(repr, args)))
        return ast.parse(text)

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
        import os, signal, subprocess

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
        if out is None and process.returncode:
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

        return self.shell(command, subprocess.PIPE).decode("utf-8", "replace").splitlines()

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

    def about(self, value):
        import inspect

        try:
            print("%s%s" % (getattr(value, "__name__", type(value).__name__), inspect.signature(value)))
        except (TypeError, ValueError):
            print(type(value).__name__)
        print(inspect.getdoc(value) or "no documentation")

    def line_cd(self, where):
        import os

        os.chdir(os.path.expanduser(self.filled(where) or "~"))
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
        return self.timed(code)

    def line_timeit(self, code):
        self.measured(re.sub(r"^(-[nr]\s*\d+\s+|-[oqp]\s+)*", "", code), "pass")

    def cell_time(self, _, code):
        return self.timed(code)

    def cell_timeit(self, setup, code):
        self.measured(code, setup or "pass")

    def cell_capture(self, name, code):
        import contextlib, io

        text = io.StringIO()
        with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
            self.scope.run("<cell>", code)
        if name and not name.startswith("-"):
            self.scope.vars[name] = text.getvalue()

    def cell_writefile(self, file, code):
        mode = "w"
        if file.startswith("-a "):
            mode, file = "a", file[3:].strip()
        with open(self.filled(file), mode, encoding="utf-8") as f:
            f.write(code)

    def cell_bash(self, _, code):
        self.program(["bash", "-c", code])

    cell_sh = cell_bash

    def timed(self, code):
        import time

        wall, cpu = time.perf_counter(), time.process_time()
        try:
            return self.scope.run("<timed>", code)
        finally:
            print("CPU %.3g s, wall %.3g s" % (time.process_time() - cpu, time.perf_counter() - wall))

    def measured(self, code, setup):
        import timeit

        timer = timeit.Timer(code, setup, globals=self.scope.vars)
        loops, _ = timer.autorange()
        each = [t / loops for t in timer.repeat(5, loops)]
        print("best %.3g s, worst %.3g s a loop (5 runs of %d)" % (min(each), max(each), loops))
