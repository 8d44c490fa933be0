"""Tries to get out of the sandbox. Each attempt runs in a process of its own, which ends
with 42 where it got out. Prints one line an attempt: its name, and out, kept or none (what
it needs is not there)."""
import ctypes, errno, fcntl, mmap, os, signal, socket, stat, struct, subprocess, sys, termios, time

root, visible, hidden, home, state, sock, abstract, port, server, other, host_exe = sys.argv[1:12]
port, server = int(port), int(server)
libc = ctypes.CDLL(None, use_errno=True)
OUT, NONE = 42, 43
attempts = []


def attempt(f):
    attempts.append(f)
    return f


def call(number, *args):
    r = libc.syscall(ctypes.c_long(number), *[a if isinstance(a, (bytes, ctypes.Array)) or hasattr(a, "_obj") else ctypes.c_long(a) for a in args])
    if r < 0:
        raise OSError(ctypes.get_errno(), "call")
    return r


victim = visible + "/victim"


# files of others
@attempt
def write_outside(): open(victim, "a").write("x"); return OUT
@attempt
def truncate_outside(): os.truncate(victim, 0); return OUT
@attempt
def truncate_by_open(): os.open(victim, os.O_RDONLY | os.O_TRUNC); return OUT if os.stat(victim).st_size == 0 else 0
@attempt
def chmod_outside(): os.chmod(victim, 0o777); return OUT
@attempt
def chown_outside(): os.chown(victim, os.getuid(), os.getgid()); return OUT
@attempt
def utime_outside(): os.utime(victim, (1, 1)); return OUT
@attempt
def xattr_outside(): os.setxattr(victim, "user.toolcrib", b"x"); return OUT
@attempt
def xattr_by_descriptor(): os.setxattr(os.open(victim, os.O_RDONLY), "user.toolcrib", b"x"); return OUT
@attempt
def unlink_outside(): os.unlink(visible + "/second"); return OUT
@attempt
def rename_outside(): os.rename(visible + "/second", visible + "/third"); return OUT
@attempt
def move_out(): open("mine", "w").close(); os.rename("mine", visible + "/mine"); return OUT
@attempt
def link_in(): os.link(victim, "linked"); open("linked", "a").write("x"); return OUT
@attempt
def symlink_in():
    os.symlink(victim, "soft")
    open("soft", "a").write("x")
    return OUT
@attempt
def mkdir_outside(): os.mkdir(visible + "/made"); return OUT
@attempt
def fifo_outside(): os.mkfifo(visible + "/fifo"); return OUT
@attempt
def by_descriptor(): d = os.open("/", os.O_PATH); os.open(victim.lstrip("/"), os.O_WRONLY, dir_fd=d); return OUT
@attempt
def reopen_by_proc():
    f = os.open(victim, os.O_RDONLY)
    os.open("/proc/self/fd/%d" % f, os.O_WRONLY)
    return OUT
@attempt
def through_proc_root(): open("/proc/self/root" + victim, "a").write("x"); return OUT
@attempt
def through_init_root(): os.listdir("/proc/1/root/"); open("/proc/1/root" + victim, "a").write("x"); return OUT
@attempt
def map_shared():
    f = os.open(victim, os.O_RDWR)
    mmap.mmap(f, 1)
    return OUT
@attempt
def write_etc(): open("/etc/toolcrib-escaped", "w").close(); return OUT
@attempt
def write_usr(): open("/usr/bin/toolcrib-escaped", "w").close(); return OUT
@attempt
def write_the_server(): open(host_exe, "r+b"); return OUT


# files that give the rights of who made them
def raised(path):
    return OUT if os.stat(path).st_mode & 0o6000 else 0
def own(name):
    open(name, "w").close()
    return name
@attempt
def set_user_id(): own("s1"); os.chmod("s1", 0o4755); return raised("s1")
@attempt
def set_group_id(): own("s2"); os.chmod("s2", 0o2755); return raised("s2")
@attempt
def set_user_id_by_descriptor():
    f = os.open(own("s3"), os.O_RDONLY)
    os.fchmod(f, 0o4755)
    return raised("s3")
@attempt
def set_user_id_at(): own("s4"); os.chmod("s4", 0o6755, dir_fd=os.open(".", os.O_RDONLY)); return raised("s4")
@attempt
def set_user_id_at2(): own("s5"); call(452, -100, b"s5", 0o4755, 0); return raised("s5")
@attempt
def open_with_user_id(): os.open("s6", os.O_CREAT | os.O_WRONLY, 0o4755); return raised("s6")
@attempt
def open_by_old_call():
    if os.uname().machine != "x86_64":
        return NONE
    call(2, b"s7", os.O_CREAT | os.O_WRONLY, 0o4755)
    return raised("s7")
@attempt
def create_with_user_id():
    if os.uname().machine != "x86_64":
        return NONE
    call(85, b"s8", 0o4755)
    return raised("s8")
@attempt
def unnamed_with_user_id():
    f = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o4755)
    return OUT if os.fstat(f).st_mode & 0o6000 else 0
@attempt
def open2_with_user_id():
    call(437, -100, b"s9", struct.pack("QQQ", os.O_CREAT | os.O_WRONLY, 0o4755, 0), 24)
    return raised("s9")
@attempt
def node_with_user_id(): os.mknod("s10", 0o4755 | stat.S_IFREG); return raised("s10")
@attempt
def node_at_with_user_id(): os.mknod("s11", 0o2755 | stat.S_IFREG, dir_fd=os.open(".", os.O_RDONLY)); return raised("s11")
@attempt
def directory_with_group_id(): os.mkdir("s12", 0o2777); return raised("s12")
@attempt
def set_user_id_of_32_bits():  # mov eax, 15 (chmod); mov ebx, path below 4 GB; mov ecx, 04755; int 0x80; ret
    if os.uname().machine != "x86_64":
        return NONE
    own("s13")
    low = mmap_low(b"s13\0")
    machine(b"\x53\xb8\x0f\x00\x00\x00\xbb" + struct.pack("I", low) + b"\xb9" + struct.pack("I", 0o4755) + b"\xcd\x80\x5b\xc3")
    return raised("s13")
def mmap_low(data):
    libc.mmap.restype = ctypes.c_void_p
    at = libc.mmap(None, ctypes.c_size_t(4096), 3, 0x62, -1, ctypes.c_long(0))  # MAP_32BIT
    ctypes.memmove(at, data, len(data))
    return at


# what is private
@attempt
def read_temporary_of_host(): open(hidden + "/secret").read(); return OUT
@attempt
def read_secret_of_home(): open(home + "/.ssh/id_ed25519").read(); return OUT
@attempt
def read_netrc(): open(home + "/.netrc").read(); return OUT
@attempt
def read_state():
    for _, _, files in os.walk(state):
        if any(f.endswith(".key") or f.endswith(".db") for f in files):
            return OUT
    return 0
@attempt
def read_temporary_of_others(): open(other).read(); return OUT
@attempt
def read_shadow(): open("/etc/shadow").read() or sys.exit(0); return OUT
@attempt
def environment_of_server():
    for pid in [server, os.getppid()] + [int(p) for p in os.listdir("/proc") if p.isdigit()]:
        try:
            if b"TOOLCRIB_MEASURE_SECRET" in open("/proc/%d/environ" % pid, "rb").read():
                return OUT
        except OSError:
            pass
    return 0
@attempt
def variables():
    return OUT if any("MEASURE_SECRET" in v for v in os.environ.values()) or "LD_PRELOAD" in os.environ else 0


# what runs programs later
@attempt
def write_git_config(): open(".git/config", "a").write("[core]\n"); return OUT
@attempt
def write_git_hook(): open(".git/hooks/pre-commit", "w").close(); return OUT
@attempt
def swap_hooks(): os.rename(".git/hooks", ".git/hooks2"); return OUT
@attempt
def swap_git(): os.rename(".git", ".git2"); return OUT
@attempt
def exchange_config():
    open("evil", "w").close()
    call(316, -100, b"evil", -100, b".git/config", 2)
    return OUT
@attempt
def write_agents_settings(): open(".claude/settings.json", "w").close(); return OUT
@attempt
def swap_agents_directory(): os.rename(".claude", ".claude2"); return OUT


@attempt
def write_nested_git_config(): open("deep/repo/.git/config", "a").write("[core]\n"); return OUT
@attempt
def write_nested_git_hook(): open("deep/repo/.git/hooks/pre-commit", "w").close(); return OUT
@attempt
def swap_nested_git(): os.rename("deep/repo/.git", "deep/repo/.git2"); return OUT


# what the policy denies
@attempt
def read_denied(): open("closed/key").read(); return OUT
@attempt
def read_denied_by_link(): os.symlink("closed/key", "way"); open("way").read(); return OUT
@attempt
def list_denied(): os.listdir("closed"); return OUT
@attempt
def read_denied_by_wildcard(): open("deep/er/token.secret").read(); return OUT
@attempt
def link_denied(): os.link("deep/er/token.secret", "own"); open("own").read(); return OUT
@attempt
def open_denied_up(): os.chmod("closed", 0o777); os.chmod("closed/key", 0o666); open("closed/key").read(); return OUT
@attempt
def write_kept(): open("kept/file", "a").write("x"); return OUT
@attempt
def swap_way_to_denied(): os.rename("deep/er", "deep/er2"); return OUT


# sockets
def connected(family, address, kind=socket.SOCK_STREAM):
    s = socket.socket(family, kind)
    s.settimeout(2)
    s.connect(address)
    return OUT
@attempt
def unix_socket(): return connected(socket.AF_UNIX, sock)
@attempt
def unix_socket_by_descriptor():
    d = os.open(os.path.dirname(sock), os.O_PATH)
    return connected(socket.AF_UNIX, "/proc/self/fd/%d/%s" % (d, os.path.basename(sock)))
@attempt
def unix_datagrams(): return connected(socket.AF_UNIX, sock + ".d", socket.SOCK_DGRAM)
@attempt
def unix_datagram_by_name():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    s.sendmsg([b"x"], [], 0, sock + ".d")
    return OUT
@attempt
def abstract_socket(): return connected(socket.AF_UNIX, "\0" + abstract)
@attempt
def tcp(): return connected(socket.AF_INET, ("127.0.0.1", port))
@attempt
def tcp6(): return connected(socket.AF_INET6, ("::1", port))
@attempt
def udp():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(1)
    s.sendto(b"x", ("127.0.0.1", port))
    s.recv(1)
    return OUT
@attempt
def route_beyond(): return connected(socket.AF_INET, ("192.0.2.1", 80), socket.SOCK_DGRAM)
@attempt
def netlink_devices():
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15)
    return OUT
@attempt
def netlink_audit(): socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9); return OUT
@attempt
def netlink_interfaces():
    names = [n for _, n in socket.if_nameindex()]
    return OUT if any(n != "lo" for n in names) else 0
@attempt
def raw_packets(): socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3); return OUT
@attempt
def raw_ip(): socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); return OUT
@attempt
def hypervisor(): socket.socket(40, socket.SOCK_STREAM); return OUT
@attempt
def kernel_crypto(): socket.socket(38, socket.SOCK_SEQPACKET); return OUT


# processes
@attempt
def trace_parent(): call(101, 16, os.getppid(), 0, 0); return OUT
@attempt
def trace_init(): call(101, 0x4206, 1, 0, 0); return OUT
@attempt
def read_memory_of_parent():
    buffer = ctypes.create_string_buffer(8)
    local = struct.pack("QQ", ctypes.addressof(buffer), 8)
    call(310, os.getppid(), local, 1, struct.pack("QQ", ctypes.addressof(buffer), 8), 1, 0)
    return OUT
@attempt
def memory_of_init(): open("/proc/1/mem", "r+b"); return OUT
@attempt
def memory_of_server():
    open("/proc/%d/mem" % server, "rb")
    return OUT if "toolcrib" in open("/proc/%d/comm" % server).read() else 0
@attempt
def descriptors_of_init(): os.open("/proc/%d/fd/0" % init, os.O_RDONLY); return OUT
@attempt
def signal_server():
    os.kill(server, 0)
    return OUT if "toolcrib" in open("/proc/%d/comm" % server).read() else 0
@attempt
def signal_init(): os.kill(init, 9); return 0 if full else OUT  # pid 1 of a namespace ignores it
@attempt
def take_descriptor():
    p = call(434, 1, 0)
    call(438, p, 0, 0)
    return OUT
@attempt
def watch_performance(): call(298, struct.pack("II", 1, 112) + b"\0" * 104, 0, -1, -1, 0); return OUT
@attempt
def inherited():
    extra = [f for f in os.listdir("/proc/self/fd") if int(f) > 3]
    return OUT if extra else 0


# the kernel
@attempt
def mount(): call(165, b"x", b"/tmp", b"tmpfs", 0, 0); return OUT
@attempt
def unmount(): call(166, b"/tmp", 2); return OUT
@attempt
def unmount_home(): call(166, home.encode(), 2); return OUT
@attempt
def clone_mount(): call(428, -100, b"/", 1); return OUT
@attempt
def new_filesystem(): call(430, b"tmpfs", 0); return OUT
@attempt
def change_mount(): call(442, -100, b"/", 0x8000, struct.pack("QQQQ", 0, 1, 0, 0), 32); return OUT
@attempt
def unshare_user(): call(272, 0x10000000); return OUT
@attempt
def clone_namespaces():
    pid = call(56, 0x10000000 | 0x20000 | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    return OUT
@attempt
def clone3_namespaces():
    pid = call(435, struct.pack("8Q", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0), 64)
    if pid == 0:
        os._exit(0)
    return OUT
@attempt
def join_namespace():
    f = os.open("/proc/1/ns/mnt", os.O_RDONLY)
    call(308, f, 0)
    return OUT
@attempt
def pivot(): call(155, b".", b"."); return OUT
@attempt
def change_root(): os.chroot("."); return OUT
@attempt
def io_uring(): call(425, 8, ctypes.create_string_buffer(120)); return OUT
@attempt
def keyring(): call(250, 0, -3, 1); return OUT
@attempt
def add_key(): call(248, b"user", b"toolcrib", b"x", 1, -3); return OUT
@attempt
def bpf(): call(321, 0, ctypes.create_string_buffer(72), 72); return OUT
@attempt
def userfault(): call(323, 0); return OUT
@attempt
def by_handle(): call(304, -100, ctypes.create_string_buffer(16), 0); return OUT
@attempt
def module(): call(313, 0, b"", 0); return OUT
@attempt
def reboot(): call(169, 0, 0, 0, 0); return OUT
@attempt
def host_name(): call(170, b"x", 1); return OUT
@attempt
def set_clock(): call(227, 0, struct.pack("qq", 0, 0)); return OUT
@attempt
def core_pattern(): open("/proc/sys/kernel/core_pattern", "w"); return OUT
@attempt
def sysrq(): open("/proc/sysrq-trigger", "w"); return OUT
@attempt
def more_processes(): open("/proc/sys/kernel/pid_max", "w").write("4000000"); return OUT
@attempt
def out_of_memory_score(): open("/proc/self/oom_score_adj", "w").write("-1000"); return OUT
@attempt
def core_dumps():
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20))
    return OUT
@attempt
def disk():
    for name in ("vda", "sda", "nvme0n1", "mem", "kmsg", "fuse", "kvm"):
        if os.path.exists("/dev/" + name):
            os.open("/dev/" + name, os.O_RDONLY)
            return OUT
    return 0
@attempt
def make_device(): os.mknod("device", 0o666 | stat.S_IFBLK, os.makedev(254, 0)); os.open("device", os.O_RDONLY); return OUT
@attempt
def sysfs(): open("/sys/power/state", "w"); return OUT
@attempt
def cgroup(): os.mkdir("/sys/fs/cgroup/unified/toolcrib-escaped"); return OUT
@attempt
def capability():
    status = open("/proc/self/status").read()
    caps = [l.split()[1] for l in status.splitlines() if l.startswith(("CapEff", "CapPrm"))]
    return OUT if any(c.strip("0") for c in caps) else 0
@attempt
def setuid_program():
    r = subprocess.run(["su", "-c", "id -u"], stdin=subprocess.DEVNULL, capture_output=True, text=True) if os.getuid() else None
    return OUT if r and r.stdout.strip() == "0" else 0
@attempt
def set_user(): os.setuid(1 if os.getuid() == 0 else 0); return OUT
@attempt
def put_into_terminal():
    m, s = os.openpty()
    fcntl.ioctl(s, termios.TIOCSTI, b"x")
    return OUT
@attempt
def line_discipline():
    m, s = os.openpty()
    fcntl.ioctl(s, 0x5423, struct.pack("i", 21))
    return OUT


def machine(code):
    m = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    m.write(code)
    f = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(m)))
    return f()
@attempt
def calls_of_32_bits():  # mov eax, 20 (getpid); int 0x80; ret
    if os.uname().machine != "x86_64":
        return NONE
    return OUT if machine(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3") > 0 else 0
@attempt
def calls_of_x32():  # mov eax, 0x40000027; syscall; ret
    if os.uname().machine != "x86_64":
        return NONE
    return OUT if machine(b"\xb8\x27\x00\x00\x40\x0f\x05\xc3") > 0 else 0


full = sys.argv[12] == "full"
init = 1 if full else int(open("/proc/%d/stat" % os.getsid(0)).read().rsplit(")", 1)[1].split()[1])
os.chdir(root)
for f in attempts:
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        signal.alarm(10)
        try:
            r = f()
        except BaseException as e:
            r = 0
            if os.environ.get("WHY"):
                print(f.__name__, repr(e), file=sys.stderr)
        os._exit(r or 0)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    print(f.__name__, "out" if code == OUT else "none" if code == NONE else "kept")
