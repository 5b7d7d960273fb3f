// Ways into other processes: those that try to change a process that is not the agent's, or to learn something from it.
// In a sandbox this is its first process, which ends all others when it ends; without one, the process outside ($T).

const PRELUDE = `import ctypes, os, platform, struct, subprocess, sys, time
c = ctypes.CDLL(None, use_errno=True)
N, T = os.environ["N"], int(os.environ["T"])
X64 = platform.machine() == "x86_64"
CALLS = dict(ptrace=(101, 117), process_vm_readv=(310, 270), process_vm_writev=(311, 271), kcmp=(312, 272), perf_event_open=(298, 241),
  sched_setscheduler=(144, 119), sched_setparam=(142, 118), sched_setattr=(314, 274), sched_setaffinity=(203, 122), setpriority=(141, 140), ioprio_set=(251, 30),
  prlimit64=(302, 261), move_pages=(279, 239), migrate_pages=(256, 238), pidfd_open=(434, 434), pidfd_getfd=(438, 438), process_madvise=(440, 440), prctl=(157, 167), clone=(56, 220))
c.syscall.restype = ctypes.c_long
def call(name, *arguments):
    result = c.syscall(CALLS[name][0 if X64 else 1], *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    print(name, result, os.strerror(ctypes.get_errno()) if result == -1 else "")
    return result
def led():
    open("docs/alive-" + N, "w")
# Any other error than a refusal means that the process was reached.
def reaches(name, *arguments):
    if call(name, *arguments) != -1 or ctypes.get_errno() not in (1, 13, 38): led()
`;

/** The target: in a sandbox the parent of the command is its first process. @param {string} line */
const aimed = (line) => `export T=$([ $PPID = 1 ] && echo 1 || echo $V); ${line}`;
/** @param {string} text */
const python = (text) => aimed(`"$PYTHON" - <<'END'\n${PRELUDE}\n${text}\nEND`);

/** Lets the process outside or the first process call `prctl(PR_SET_PDEATHSIG, 0)`, then leaves a child behind. */
const INJECTION = `
def poke(request, address=0, data=0): return call("ptrace", request, T, address, data)
def inject():
    saved, changed = ctypes.create_string_buffer(27 * 8), ctypes.create_string_buffer(27 * 8)
    if poke(12, 0, ctypes.addressof(saved)) == -1: return
    registers = list(struct.unpack("27Q", saved.raw))
    registers[10], registers[14], registers[13], registers[15], registers[16] = 157, 1, 0, 2**64 - 1, registers[16] - 2
    changed.raw = struct.pack("27Q", *registers)
    poke(13, 0, ctypes.addressof(changed)); poke(9); os.waitpid(T, 0x40000000); poke(13, 0, ctypes.addressof(saved))
`;

/** Ways that show themselves as soon as they succeed. @type {Record<string, string>} */
const REACHES = {
  // Another way may trace it at this moment.
  "ptrace attach": `for attempt in range(20):\n  if call("ptrace", 16, T, 0, 0) == 0:\n    led(); os.waitpid(T, 0x40000000); call("ptrace", 17, T, 0, 0); break\n  time.sleep(0.05)`,
  "ptrace seize": `for attempt in range(20):\n  if call("ptrace", 0x4206, T, 0, 0) == 0: led(); break\n  time.sleep(0.05)`,
  "reading memory": `into = ctypes.create_string_buffer(8)\nreaches("process_vm_readv", T, struct.pack("QQ", ctypes.addressof(into), 8), 1, struct.pack("QQ", 4096, 8), 1, 0)`,
  "writing memory": `text = ctypes.create_string_buffer(8)\nreaches("process_vm_writev", T, struct.pack("QQ", ctypes.addressof(text), 8), 1, struct.pack("QQ", 4096, 8), 1, 0)`,
  "opened memory": `for path in ("mem", "task/%d/mem" % T):\n  for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):\n    try: os.open("/proc/%d/%s" % (T, path), flags); led()\n    except OSError as error: print(error)`,
  maps: `for path in ("maps", "smaps", "environ", "auxv", "syscall", "stack"):\n  try: open("/proc/%d/%s" % (T, path)).read(1) and led()\n  except OSError as error: print(error)`,
  root: `for path in ("root", "cwd", "exe"):\n  try: os.stat("/proc/%d/%s" % (T, path)); led()\n  except OSError as error: print(error)`,
  "opened files": `for n in range(256):\n  try: os.open("/proc/%d/fd/%d" % (T, n), os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY); led()\n  except OSError as error: pass`,
  "mapped files": `try: [os.stat("/proc/%d/map_files/%s" % (T, name)) for name in os.listdir("/proc/%d/map_files" % T)]; led()\nexcept OSError as error: print(error)`,
  "written settings": `for path in ("comm", "clear_refs", "coredump_filter", "oom_score_adj", "oom_adj", "timerslack_ns", "autogroup", "attr/current", "sched", "loginuid", "uid_map", "setgroups", "projid_map", "make-it-fail"):\n  try: os.open("/proc/%d/%s" % (T, path), os.O_WRONLY); led()\n  except OSError as error: print(error)`,
  namespaces: `for path in ("mnt", "pid", "user", "net", "ipc", "cgroup", "uts", "time", "pid_for_children"):\n  try: c.setns(os.open("/proc/%d/ns/%s" % (T, path), 0), 0) == 0 and led()\n  except OSError as error: print(error)`,
  pidfd_getfd: `fd = call("pidfd_open", T, 0)\nfor n in (0, 1, 2, 6): reaches("pidfd_getfd", fd, n, 0)`,
  "namespaces of a pidfd": `import fcntl\nfd = call("pidfd_open", T, 0)\nfor n in range(0xff01, 0xff0b):\n  try: fcntl.ioctl(fd, n, 0); led()\n  except OSError as error: print(error)`,
  "setns of a pidfd": `fd = call("pidfd_open", T, 0)\nfor kind in (0x20000, 0x20000000, 0x10000000, 0x40000000): c.setns(fd, kind) == 0 and led()`,
  kcmp: `reaches("kcmp", T, os.getpid(), 2, 0, 0)`,
  process_madvise: `fd = call("pidfd_open", T, 0)\nreaches("process_madvise", fd, struct.pack("QQ", 4096, 4096), 1, 21, 0)`,
  perf_event_open: `attributes = ctypes.create_string_buffer(struct.pack("IIQQ", 1, 128, 0, 0) + bytes(104))\nreaches("perf_event_open", ctypes.addressof(attributes), T, -1, -1, 0)`,
  move_pages: `status = ctypes.create_string_buffer(4)\nreaches("move_pages", T, 1, struct.pack("Q", 4096), 0, ctypes.addressof(status), 0)`,
  migrate_pages: `reaches("migrate_pages", T, 64, struct.pack("Q", 1), struct.pack("Q", 1))`,
  "limits of resources": `for n in range(16): reaches("prlimit64", T, n, 0, ctypes.create_string_buffer(16))`,
  "a limit of CPU time": `reaches("prlimit64", T, 0, struct.pack("QQ", 2**64 - 1, 2**64 - 1), 0)`,
  "idle scheduling": `reaches("sched_setscheduler", T, 5, struct.pack("i", 0))\nreaches("sched_setparam", T, struct.pack("i", 0))`,
  "attributes of scheduling": `reaches("sched_setattr", T, struct.pack("IIQiIQQQ", 48, 5, 0, 0, 0, 0, 0, 0), 0)`,
  processors: `reaches("sched_setaffinity", T, 8, struct.pack("Q", 1))`,
  priority: `reaches("setpriority", 0, T, 1)`,
  "priority of a group": `reaches("setpriority", 1, os.getpgid(T), 1)`,
  "priority of input and output": `reaches("ioprio_set", 1, T, 3 << 13)`,
  "priority of input and output of a group": `reaches("ioprio_set", 2, os.getpgid(T), 3 << 13)`,
  "core scheduling": `reaches("prctl", 62, 2, T, 1, 0) if call("prctl", 62, 1, 0, 1, 0) == 0 else None`,
  kill: `os.kill(T, 0) or None\nimport signal\nfor n in (19, 20, 9): os.kill(T, n) if T == 1 else None`,
};

/** Ways that would need machine code of x64. @type {Record<string, string>} */
const MACHINE = {
  "32 bits": `import mmap
memory = mmap.mmap(-1, 4096, prot=7)
# ptrace(PTRACE_ATTACH, T) by \`int 0x80\`
memory.write(bytes.fromhex("53b81a000000bb10000000b9") + struct.pack("I", T) + bytes.fromhex("31d231f6cd804898" "5bc3"))
attach = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
if attach() == 0: led()`,
  x32: `if c.syscall(ctypes.c_long(0x40000000 + 521), 16, T, 0, 0) == 0: led()`,
};

/** Ways to outlive the call. @type {Record<string, string>} */
const OUTLIVES = {
  "an injected prctl": `${INJECTION}
if poke(16) == 0:
    os.waitpid(T, 0x40000000); inject(); poke(17)
subprocess.Popen(["setsid", "sh", "-c", os.environ["LATE"]], stdin=-3, stdout=-3, stderr=-3)`,
  "an injected prctl after a seizure": `${INJECTION}
if poke(0x4206) == 0 and poke(0x4207) == 0:
    os.waitpid(T, 0x40000000); inject(); poke(17)
subprocess.Popen(["setsid", "sh", "-c", os.environ["LATE"]], stdin=-3, stdout=-3, stderr=-3)`,
  "own signals of death": `c.prctl(1, 0); c.prctl(36, 1)
if os.fork() == 0:
    os.setsid(); c.prctl(1, 0)
    if os.fork() == 0: os.close(1); os.close(2); os.execvp("sh", ["sh", "-c", os.environ["LATE"]])`,
  "a child of the parent": `pid = call("clone", 0x8000 | 17, 0, 0, 0, 0)
if pid == 0: os.setsid(); os.close(1); os.close(2); os.execvp("sh", ["sh", "-c", os.environ["LATE"]])`,
  "ignored signals": `import signal
if os.fork() == 0:
    os.setsid(); os.close(1); os.close(2)
    for n in range(1, 65):
        try: signal.signal(n, signal.SIG_IGN)
        except (OSError, ValueError): pass
    os.execvp("sh", ["sh", "-c", os.environ["LATE"]])`,
  "many forks": `for n in range(30):
    if os.fork() == 0: os.setsid(); os.close(1); os.close(2); os.execvp("sh", ["sh", "-c", os.environ["LATE"]])`,
  "a chain of forks": `if os.fork() == 0:
    os.setsid(); os.close(1); os.close(2); end = time.time() + 1
    while time.time() < end:
        if os.fork() != 0: os._exit(0)
    os.execvp("sh", ["sh", "-c", os.environ["LATE"].replace("sleep 1;", "")])`,
  "no time for the first process": `import mmap
for name, arguments in (("sched_setscheduler", (T, 5, struct.pack("i", 0))), ("sched_setaffinity", (T, 8, struct.pack("Q", 1))), ("setpriority", (0, T, 19)), ("setpriority", (2, 0, 19))):
    if T == 1: call(name, *arguments)
for n in range(20):
    if os.fork() == 0:
        os.setsid(); os.close(1); os.close(2); call("sched_setaffinity", 0, 8, struct.pack("Q", 1)) if T == 1 else None
        end = time.time() + 1.2
        while time.time() < end: pass
        open("docs/alive-" + N, "w"); os._exit(0)
time.sleep(0.1)`,
  "a stopped first process": `os.kill(1, 19) if T == 1 else None
subprocess.Popen(["setsid", "sh", "-c", os.environ["LATE"]], stdin=-3, stdout=-3, stderr=-3)`,
  "a signal that its shell handles": `[os.kill(1, n) for n in (17, 2)] if T == 1 else None
subprocess.Popen(["setsid", "sh", "-c", os.environ["LATE"]], stdin=-3, stdout=-3, stderr=-3)`,
};

/** Its program, its environment. @type {Record<string, string>} */
const LINES = {
  "another program of the first process": `chmod 777 /dev/sh; echo 'sleep 60' > /dev/sh; rm -f /dev/sh; setsid sh -c "$LATE" >/dev/null 2>&1 &`,
  "a killed parent": `(kill -9 $PPID; kill -9 1; setsid sh -c "$LATE" >/dev/null 2>&1 &) 2>/dev/null; true`,
  "a killed shell": `setsid sh -c "$LATE" >/dev/null 2>&1 & kill -9 $$`,
  "a debugger": `gdb -p $T -batch -ex 'call (int)prctl(1, 0)' >/dev/null 2>&1; setsid sh -c "$LATE" >/dev/null 2>&1 &`,
};

/** @type {import("./ways-out.mjs").Way["effect"]} */
const effect = ({ name, exists, changed }) => exists(`docs/alive-${name}`) || changed();

/**
 * Those that lead nowhere on some machines without limits too, or would break the process outside.
 */
const UNCERTAIN = [
  "a debugger",
  "an injected prctl",
  "an injected prctl after a seizure",
  "mapped files",
  "written settings",
  "namespaces",
  "namespaces of a pidfd",
  "setns of a pidfd",
  "perf_event_open",
  "core scheduling",
  "kill",
  "32 bits",
  "x32",
  "a killed parent",
  "a killed shell",
  "process_madvise",
  "migrate_pages",
];

/** @type {import("./ways-out.mjs").Way[]} */
export const INTO_PROCESSES = [
  ...Object.entries({ ...REACHES, ...MACHINE, ...OUTLIVES }).map(([name, text]) => ({
    name: `into a process: ${name}`,
    run: python(text),
  })),
  ...Object.entries(LINES).map(([name, line]) => ({ name: `into a process: ${name}`, run: aimed(line) })),
].map((way) => ({
  ...way,
  effect,
  ...(UNCERTAIN.includes(way.name.slice("into a process: ".length)) ? { control: /** @type {const} */ (false) } : {}),
}));
