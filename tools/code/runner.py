# Runs the script that stands as JSON on stdin, and reports how it ended after the mark.


def _toolcrib():
    import json, os

    job = json.loads(sys.stdin.buffer.read())
    out = os.dup(1)
    scope = _Scope()
    report, status = {}, 0
    try:
        value = scope.run("<script>", job["Code"])
        if value is not None:
            report["value"] = _short(repr(value), job["Most"])
    except SystemExit as e:
        status = _status(e)
    except BaseException as e:
        status = 1
        report = _failure(scope, e, job["Most"])
    _flush()
    _write(out, "\n" + job["Mark"] + json.dumps(report) + "\n")
    return status


try:
    _toolcrib = _toolcrib()
except KeyboardInterrupt:
    _toolcrib = 130
sys.exit(_toolcrib)
