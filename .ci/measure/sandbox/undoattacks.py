"""Tries to hide changes from undo, to have the server read what is not its to read, and to
block it. `undoattacks.py list` prints the names of the attacks; else the arguments are a name,
and the path of a secret file outside of the root. What an attack cannot do is no error."""
import ctypes, itertools, mmap, os, socket, subprocess, sys, threading, time

libc = ctypes.CDLL(None, use_errno=True)
attacks = {}
secret = sys.argv[2] if len(sys.argv) > 2 else ""
CWD, EXCHANGE = -100, 2
RENAMEAT2, OPENAT2, OPENAT, MEMFD = 316, 437, 257, 319


def call(number, *args):
    r = libc.syscall(ctypes.c_long(number), *[a if isinstance(a, (bytes, ctypes.Array, ctypes.c_void_p)) else ctypes.c_long(a) for a in args])
    if r < 0:
        raise OSError(ctypes.get_errno(), "call")
    return r


def quiet(f, *args):
    try:
        return f(*args)
    except OSError:
        return None


def write(name, text="hacked"):
    with open(name, "w") as f:
        f.write(text)


def append(name):
    with open(name, "a") as f:
        f.write("hacked")


def inplace(name):
    f = os.open(name, os.O_RDWR)
    os.write(f, b"H")
    os.close(f)


changes = {
    "write": write, "append": append, "inplace": inplace, "truncate": lambda n: os.truncate(n, 1), "unlink": os.unlink,
    "replace": lambda n: (write("new"), os.replace("new", n)), "rename": lambda n: os.rename(n, "renamed"), "chmod": lambda n: os.chmod(n, 0o751),
}


def during(toggle, change, seconds=0.25):
    """Runs toggle in a thread while change is tried again and again."""
    stop = threading.Event()

    def loop():
        while not stop.is_set():
            quiet(toggle)
    t = threading.Thread(target=loop)
    t.start()
    end = time.time() + seconds
    while time.time() < end:
        quiet(change)
    stop.set()
    t.join()


def exchange(a, b):
    call(RENAMEAT2, CWD, a.encode(), CWD, b.encode(), EXCHANGE)


def directory_of(target):
    return {"outside": os.path.dirname(secret), "denied": "closed", "inside": "other"}[target]


# The directory in the path is exchanged with a link.
for target, change in itertools.product(("outside", "denied", "inside"), changes):
    def attack(target=target, change=change):
        os.symlink(os.path.abspath(directory_of(target)), "way")
        during(lambda: exchange("d", "way"), lambda: changes[change]("d/secret.txt"))
    attacks[f"directory-{target}-{change}"] = attack

# The last component is exchanged with a link.
for target, change in itertools.product(("outside", "denied", "inside"), changes):
    def attack(target=target, change=change):
        os.symlink(os.path.abspath(directory_of(target)) + "/secret.txt", "link")
        during(lambda: exchange("a.txt", "link"), lambda: changes[change]("a.txt"))
    attacks[f"link-{target}-{change}"] = attack

# The text of the path changes between report and call.
for target, change in itertools.product(("outside", "denied", "inside"), ("open", "truncate", "unlink", "chmod", "rename", "mkdir", "symlink")):
    def attack(target=target, change=change):
        text = ctypes.create_string_buffer(4096)
        names = [b"a.txt", (os.path.abspath(directory_of(target)) + "/secret.txt").encode()]
        turn = itertools.cycle(names)
        numbers = {
            "open": lambda: os.close(call(OPENAT, CWD, text, os.O_WRONLY | os.O_APPEND, 0)), "truncate": lambda: call(76, text, 1), "unlink": lambda: call(87, text),
            "chmod": lambda: call(90, text, 0o711), "rename": lambda: call(82, text, b"renamed"), "mkdir": lambda: call(83, text, 0o755), "symlink": lambda: call(88, b"x", text),
        }
        def toggle():
            text.value = next(turn)
        toggle()
        during(toggle, numbers[change])
    attacks[f"text-{target}-{change}"] = attack

# A file becomes what would block who opens it, or has no end.
for kind, change in itertools.product(("fifo", "socket", "zero", "terminal"), ("write", "unlink", "replace", "inplace")):
    def attack(kind=kind, change=change):
        if kind == "fifo":
            os.mkfifo("trap")
        elif kind == "socket":
            socket.socket(socket.AF_UNIX).bind("trap")
        else:
            os.symlink({"zero": "/dev/zero", "terminal": "/dev/ptmx"}[kind], "trap")
        if change in ("write", "inplace"):
            def f(name):
                os.close(os.open(name, os.O_RDWR | os.O_NONBLOCK))
        else:
            f = changes[change]
        during(lambda: exchange("a.txt", "trap"), lambda: f("a.txt"))
    attacks[f"trap-{kind}-{change}"] = attack

# Names.
names = {
    "newline": b"new\nline", "files": b"x\nfiles: deleted a.txt", "bytes": b"\xff\xfe\x80", "long": b"n" * 255, "dash": b"-rf", "deleted": b"a.txt (deleted)", "backslash": b"a\\b",
    "control": b"\x1b[2J\x07", "quote": b"\"'`$(id)", "space": b" ", "right-to-left": "\u202etxt.a".encode(), "dots": b"...", "colon": b"a:b", "percent": b"%2e%2e",
}
for name, raw in names.items():
    def attack(raw=raw):
        write(raw)
        os.mkdir(raw[:250] + b".d")
        write(raw[:250] + b".d/" + raw)
        os.replace("a.txt", raw)
        os.chdir(raw[:250] + b".d")
        os.rename(raw, b"../" + raw + b".2" if len(raw) < 250 else b"../moved")
    attacks["name-" + name] = attack
    def attack(raw=raw):
        os.mkdir(raw)
        os.rename("d", raw)
        append(raw + b"/secret.txt")
    attacks["moved-to-" + name] = attack

# Ways through /proc and /dev.
def descriptor(flags=os.O_RDONLY):
    return os.open("a.txt", flags)
proc = {
    "self-fd": lambda: append(f"/proc/self/fd/{descriptor()}"),
    "thread-fd": lambda: append(f"/proc/thread-self/fd/{descriptor()}"),
    "dev-fd": lambda: append(f"/dev/fd/{descriptor()}"),
    "pid-fd": lambda: append(f"/proc/{os.getpid()}/fd/{descriptor()}"),
    "task-fd": lambda: append(f"/proc/self/task/{threading.get_native_id()}/fd/{descriptor()}"),
    "path-fd": lambda: append(f"/proc/self/fd/{descriptor(os.O_PATH)}"),
    "self-cwd": lambda: append("/proc/self/cwd/a.txt"),
    "pid-cwd": lambda: append(f"/proc/{os.getpid()}/cwd/a.txt"),
    "self-root": lambda: append("/proc/self/root" + os.path.abspath("a.txt")),
    "parent-cwd": lambda: append(f"/proc/{os.getppid()}/cwd/a.txt"),
    "init-root": lambda: append("/proc/1/root" + os.path.abspath("a.txt")),
    "outside": lambda: append("/proc/1/root" + secret),
    "link-to-fd": lambda: (os.symlink(f"/proc/self/fd/{descriptor()}", "l"), append("l")),
    "link-to-cwd": lambda: (os.symlink("/proc/self/cwd", "l"), append("l/a.txt")),
    "up-and-down": lambda: append("d/../d/../other/../a.txt"),
    "slashes": lambda: append("." + "/" * 3000 + "a.txt"),
    "long-way": lambda: append("./" * 2000 + "a.txt"),
    "gone-directory": lambda: (os.mkdir("g"), os.chdir("g"), os.rmdir("../g"), append("../a.txt")),
    "moved-directory": lambda: (os.chdir("d"), os.rename("../d", "../e"), append("secret.txt")),
    "dir-fd": lambda: os.write(os.open("secret.txt", os.O_WRONLY, dir_fd=os.open("d", os.O_PATH)), b"H"),
    "dir-fd-absolute": lambda: os.write(os.open(os.path.abspath("a.txt"), os.O_WRONLY, dir_fd=999), b"H"),
}
for name, f in proc.items():
    attacks["proc-" + name] = f

# Files without a name, with several, and those that others hold.
def by_map():
    f = os.open("a.txt", os.O_RDWR)
    m = mmap.mmap(f, 1)
    os.unlink("a.txt")
    m[0:1] = b"H"
def by_socket():
    a, b = socket.socketpair()
    socket.send_fds(a, [b"x"], [descriptor(os.O_WRONLY)])
    _, fds, _, _ = socket.recv_fds(b, 1, 1)
    os.write(fds[0], b"H")
def unnamed():
    f = os.open(".", os.O_TMPFILE | os.O_RDWR)
    os.write(f, b"made")
    libc.linkat(CWD, f"/proc/self/fd/{f}".encode(), CWD, b"linked", 0x400)
def loop_of_links():
    for i in range(60):
        os.symlink(f"l{i + 1}", f"l{i}")
    os.symlink("a.txt", "l60")
    quiet(append, "l0")
    append("l30")
def memory_file():
    f = call(MEMFD, b"x", 0)
    os.write(f, b"x")
    append(f"/proc/self/fd/{f}")
other = {
    "hard-link": lambda: (os.link("a.txt", "hard"), append("hard")), "hard-link-gone": lambda: (os.link("a.txt", "hard"), os.unlink("a.txt"), append("hard")),
    "hard-link-over": lambda: (os.link("a.txt", "hard"), os.replace("other/secret.txt", "a.txt"), append("hard")), "hard-link-denied": lambda: os.link("closed/secret.txt", "hard"),
    "hard-link-outside": lambda: os.link(secret, "hard"), "link-over-file": lambda: (os.symlink(secret, "l"), os.replace("l", "a.txt")), "dangling-outside": lambda: (os.symlink(secret + ".new", "l"), append("l")),
    "dangling-denied": lambda: (os.symlink(os.path.abspath("closed/new"), "l"), append("l")), "loop": lambda: (os.symlink("l", "l"), append("l")), "many-links": loop_of_links,
    "map": by_map, "socket": by_socket, "unnamed": unnamed, "memory": memory_file,
    "move-out": lambda: subprocess.run(["mv", "d", "/tmp/out"]), "move-out-and-in": lambda: subprocess.run("mv d /tmp/out; echo x >>/tmp/out/secret.txt; mv /tmp/out d", shell=True),
}
for name, f in other.items():
    attacks["file-" + name] = f

# Other roots and mounts, where the level allows them.
def shell(text):
    return lambda: subprocess.run(["sh", "-c", text], stderr=subprocess.DEVNULL, timeout=5)
mounts = {
    "bind": "unshare -Urm sh -c 'mount --bind other d && echo x >>d/secret.txt'", "tmpfs": "unshare -Urm sh -c 'mount -t tmpfs none d && echo x >d/secret.txt'",
    "bind-outside": f"unshare -Urm sh -c 'mount --bind {os.path.dirname(secret) or '/'} d && cat d/secret.txt && echo x >>d/secret.txt'",
    "bind-over-root": "unshare -Urm sh -c 'mount --bind other . && cd $PWD && echo x >>secret.txt'",
    "chroot": "unshare -Ur chroot . /bin/true; unshare -Urm python3 -c \"import os; os.chroot('.'); open('/a.txt', 'a').write('x')\"",
    "chroot-first": "exec python3 -c \"import os; os.chroot('other'); open('/secret.txt', 'a').write('x')\"",
    "pids": "unshare -Urpf --mount-proc sh -c 'echo x >>/proc/self/cwd/a.txt'", "names": "unshare -Um sh -c 'echo x >>a.txt'",
}
for name, text in mounts.items():
    attacks["mount-" + name] = shell(text)

# Who is reported ends, or is many.
def fork_and_die():
    pids = []
    for i in range(60):
        pid = os.fork()
        if pid == 0:
            while True:
                append(f"f{i}")
                quiet(os.unlink, "a.txt")
        pids.append(pid)
    time.sleep(0.2)
    for pid in pids + [os.getpid()]:
        os.kill(pid, 9)
def threads():
    def work(i):
        for k in range(10):
            write(f"t{i}-{k}")
            os.unlink(f"t{i}-{k}")
    for t in [threading.Thread(target=work, args=(i,)) for i in range(100)]:
        t.start()
def stopped():
    p = subprocess.Popen("while :; do echo x >>a.txt; done", shell=True)
    for _ in range(50):
        p.send_signal(19)
        time.sleep(0.002)
        p.send_signal(18)
    p.kill()
def signals():
    import signal
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    for i in range(500):
        append("a.txt")
def bad_pointers():
    page = mmap.mmap(-1, 8192)
    base = ctypes.addressof(ctypes.c_char.from_buffer(page))
    libc.mprotect(ctypes.c_void_p(base + 4096), 4096, 0)
    page[4096 - 5:4096] = b"a.txt"
    for at in (0, 1, base + 4096 - 5, base + 4096, 0x7fffffffffff, 0xffffffffffffffff):
        for number in (76, 87, 90, 82, 83):
            quiet(call, number, ctypes.c_void_p(at), ctypes.c_void_p(at))
        quiet(call, OPENAT, CWD, ctypes.c_void_p(at), os.O_WRONLY, 0)
        quiet(call, OPENAT2, CWD, ctypes.c_void_p(at), ctypes.c_void_p(at), 24)
    append("a.txt")
def open_how():
    import struct
    how = ctypes.create_string_buffer(struct.pack("QQQ", os.O_RDONLY, 0, 0), 24)
    turn = itertools.cycle((os.O_RDONLY, os.O_WRONLY | os.O_TRUNC))
    def toggle():
        how[0:8] = struct.pack("Q", next(turn))
    during(toggle, lambda: os.close(call(OPENAT2, CWD, b"a.txt", how, 24)))
ends = {
    "fork-and-die": fork_and_die, "threads": threads, "stopped": stopped, "signals": signals, "bad-pointers": bad_pointers, "open-how": open_how,
    "background": shell("(sleep 0.1; echo x >>a.txt) & (setsid sh -c 'echo x >>other/secret.txt') & exit 0"), "exec": shell("exec 3<>a.txt; exec sh -c 'echo x >&3'"),
    "grown": lambda: during(lambda: os.truncate("a.txt", 1 << 40), lambda: os.unlink("a.txt") if os.path.getsize("a.txt") < 100 else write("a.txt", "x")),
    "sparse": lambda: (os.truncate("a.txt", 1 << 40), append("a.txt"), os.unlink("a.txt")),
    "deep": lambda: [(quiet(os.mkdir, "x" * 200), os.chdir("x" * 200), append("f")) for _ in range(15)], "many": lambda: [write(f"m{i}") for i in range(3000)],
}
for name, f in ends.items():
    attacks["end-" + name] = f

if sys.argv[1] == "list":
    print("\n".join(attacks))
else:
    quiet(attacks[sys.argv[1]])
