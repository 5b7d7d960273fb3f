// The filter of system calls for confined command lines on Linux, as a program of the kernel's seccomp.
//
// Mounts and namespaces do not stop a process from connecting to the socket of a daemon that runs outside of them,
// which could do anything on its behalf. The filter refuses
//
// - sockets other than those of IP and netlink: no vsock; no sockets in the file system and no abstract ones, unless the
//   command line has a network of its own, and what it could reach in the file system is covered (sockets.js);
// - without them also pairs of datagram sockets: each of the two can send to any other socket. Pairs of streams cannot,
//   and are allowed;
// - `io_uring`, which opens sockets without the system call;
// - new user namespaces, in which a process could mount file systems;
// - the kernel's keyrings: they belong to the user, and a request for a key can start a program outside;
// - reaching into another process: its memory, its registers, its open files. The first process of the sandbox ends all
//   others when it ends, and a program in its place could keep them alive. Debuggers and LeakSanitizer use these calls
//   too;
// - snapshots of btrfs and bcachefs, which contain what is covered in the file system that they copy;
// - other kinds of scheduling: hundreds of processes with one would keep a killed sandbox from ending, for seconds;
// - the priority, processors, memory nodes and resource limits of the first process, without which it would end late;
// - the system calls of other architectures (32 bits, x32), which have other numbers.
//
// Allowed, because they act on the caller and its children only or need a capability, which no process of the sandbox
// has: `prctl`, `seccomp`, `setpgid`, `userfaultfd`, `landlock_*`; `setns`, `bpf`, `mount` and its like,
// `open_by_handle_at`. Signals and `pidfd_open` reach the processes of the sandbox only; the first one ignores signals,
// except those that its shell handles, which can only end it. `process_mrelease` needs a process that is being killed,
// `get_robust_list` returns an address.

/**
 * Numbers of system calls, and the kernel's identifier of the architecture. `reaching`: ptrace, process_vm_readv,
 * process_vm_writev, kcmp, pidfd_getfd, process_madvise, perf_event_open. `scheduling`: sched_setscheduler, sched_setattr.
 * `ofProcess`, with a process id as the first argument: prlimit64, sched_setparam, sched_setaffinity, migrate_pages, move_pages.
 */
const ARCHITECTURES = {
  x64: {
    audit: 0xc000003e,
    x32: true,
    ...{ socket: 41, socketpair: 53, clone: 56, unshare: 272, ioUringSetup: 425, clone3: 435, keys: [248, 249, 250] },
    ioctl: 16,
    reaching: [101, 310, 311, 312, 438, 440, 298],
    scheduling: [144, 314],
    ofProcess: [302, 142, 203, 256, 279],
    ...{ setpriority: 141, ioprioSet: 251 },
  },
  arm64: {
    audit: 0xc00000b7,
    x32: false,
    ...{ socket: 198, socketpair: 199, clone: 220, unshare: 97, ioUringSetup: 425, clone3: 435, keys: [217, 218, 219] },
    ioctl: 29,
    reaching: [117, 270, 271, 272, 438, 440, 241],
    scheduling: [119, 274],
    ofProcess: [261, 118, 122, 238, 239],
    ...{ setpriority: 140, ioprioSet: 30 },
  },
};

const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK] = [1, 2, 10, 16];
/** Types of sockets, and the bits of a type without its flags. */
const [SOCK_STREAM, SOCK_SEQPACKET, SOCK_TYPE_MASK] = [1, 5, 0xf];
const CLONE_NEWUSER = 0x10000000;
/** The kind of argument that names one process, not a group or all of a user. */
const [PRIO_PROCESS, IOPRIO_WHO_PROCESS] = [0, 1];
const FIRST_PROCESS = 1;
/** The requests of `ioctl` that make a snapshot, by their type and number: of btrfs (two) and bcachefs. */
const SNAPSHOTS = [0x9401, 0x9417, 0xbc10];
const REQUEST_MASK = 0xffff;
/** The bit in the numbers of the x32 system calls. */
const X32_BIT = 0x40000000;
const [EPERM, ENOSYS] = [1, 38];

/** Offsets in the kernel's `struct seccomp_data`. */
const [NUMBER, ARCHITECTURE, FIRST_ARGUMENT, SECOND_ARGUMENT] = [0, 4, 16, 24];

/**
 * Codes of instructions: load a word; clear other bits; jump if equal, if greater or equal, if a bit is set; return.
 */
const [LOAD, AND, EQUAL, AT_LEAST, ANY_BIT, RETURN] = [0x20, 0x54, 0x15, 0x35, 0x45, 0x06];
const ALLOW = 0x7fff0000;
/** @param {number} errno */
const fail = (errno) => 0x50000 | errno;

/** @typedef {{ code: number, value: number, then?: string, else?: string, label?: string }} Instruction */

/**
 * Returns the filter; `undefined` if the system calls of the architecture are not known.
 * @param {string} architecture
 * @param {boolean} [sockets] allows sockets in the file system
 */
export function seccompFilter(architecture, sockets = false) {
  const numbers = Object.hasOwn(ARCHITECTURES, architecture)
    ? ARCHITECTURES[/** @type {keyof typeof ARCHITECTURES} */ (architecture)]
    : undefined;
  if (!numbers) return undefined;
  const {
    audit,
    x32,
    socket,
    socketpair,
    clone,
    unshare,
    ioUringSetup,
    clone3,
    keys,
    ioctl,
    reaching,
    scheduling,
    ofProcess,
    setpriority,
    ioprioSet,
  } = numbers;
  return assemble([
    { code: LOAD, value: ARCHITECTURE },
    { code: EQUAL, value: audit, else: "absent" },
    { code: LOAD, value: NUMBER },
    ...(x32 ? [{ code: AT_LEAST, value: X32_BIT, then: "absent" }] : []),
    { code: EQUAL, value: socket, then: "socket" },
    ...(sockets ? [] : [{ code: EQUAL, value: socketpair, then: "pair" }]),
    { code: EQUAL, value: clone, then: "namespace" },
    { code: EQUAL, value: unshare, then: "namespace" },
    // The flags of `clone3` lie in memory, where a filter cannot see them. Without `clone3` C libraries use `clone`.
    { code: EQUAL, value: clone3, then: "absent" },
    { code: EQUAL, value: ioUringSetup, then: "absent" },
    ...keys.map((value) => ({ code: EQUAL, value, then: "absent" })),
    ...[...reaching, ...scheduling].map((value) => ({ code: EQUAL, value, then: "refuse" })),
    ...ofProcess.map((value) => ({ code: EQUAL, value, then: "process" })),
    { code: EQUAL, value: ioctl, then: "request" },
    { code: EQUAL, value: setpriority, then: "priority" },
    { code: EQUAL, value: ioprioSet, then: "ioPriority" },
    { code: RETURN, value: ALLOW },
    { code: LOAD, value: FIRST_ARGUMENT, label: "socket" },
    ...(sockets ? [{ code: EQUAL, value: AF_UNIX, then: "allow" }] : []),
    { code: EQUAL, value: AF_INET, then: "allow" },
    { code: EQUAL, value: AF_INET6, then: "allow" },
    { code: EQUAL, value: AF_NETLINK, then: "allow" },
    { code: RETURN, value: fail(EPERM) },
    { code: LOAD, value: SECOND_ARGUMENT, label: "pair" },
    { code: AND, value: SOCK_TYPE_MASK },
    { code: EQUAL, value: SOCK_STREAM, then: "allow" },
    { code: EQUAL, value: SOCK_SEQPACKET, then: "allow" },
    { code: RETURN, value: fail(EPERM) },
    { code: LOAD, value: SECOND_ARGUMENT, label: "request" },
    { code: AND, value: REQUEST_MASK },
    ...SNAPSHOTS.map((value) => ({ code: EQUAL, value, then: "refuse" })),
    { code: RETURN, value: ALLOW },
    { code: LOAD, value: FIRST_ARGUMENT, label: "process" },
    { code: EQUAL, value: FIRST_PROCESS, then: "refuse", else: "allow" },
    { code: LOAD, value: FIRST_ARGUMENT, label: "priority" },
    { code: EQUAL, value: PRIO_PROCESS, then: "one", else: "refuse" },
    { code: LOAD, value: FIRST_ARGUMENT, label: "ioPriority" },
    { code: EQUAL, value: IOPRIO_WHO_PROCESS, then: "one", else: "refuse" },
    { code: LOAD, value: SECOND_ARGUMENT, label: "one" },
    { code: EQUAL, value: FIRST_PROCESS, then: "refuse", else: "allow" },
    { code: LOAD, value: FIRST_ARGUMENT, label: "namespace" },
    { code: ANY_BIT, value: CLONE_NEWUSER, then: "refuse" },
    { code: RETURN, value: ALLOW, label: "allow" },
    { code: RETURN, value: fail(EPERM), label: "refuse" },
    { code: RETURN, value: fail(ENOSYS), label: "absent" },
  ]);
}

/**
 * Returns the instructions in the kernel's `struct sock_filter`. Jumps lead forward only.
 * @param {Instruction[]} program
 */
function assemble(program) {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(({ code, value, then, else: otherwise }, index) => {
    const distance = (/** @type {string | undefined} */ to) =>
      to === undefined ? 0 : program.findIndex(({ label }) => label === to) - index - 1;
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(distance(then), index * 8 + 2);
    bytes.writeUInt8(distance(otherwise), index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  });
  return bytes;
}
