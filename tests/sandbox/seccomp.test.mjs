// The filter of system calls, run by an interpreter of the kernel's instructions.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { seccompFilter } from "../../sandbox/seccomp.js";

const ALLOWED = 0x7fff0000;
const failed = (/** @type {number} */ errno) => 0x50000 | errno;
const [EPERM, ENOSYS] = [1, 38];

/**
 * Returns the filter's decision on a system call.
 *
 * @param {Buffer} filter
 * @param {{ audit: number, number: number, argument?: number, second?: number }} call
 */
function decide(filter, { audit, number, argument = 0, second = 0 }) {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(audit, 4);
  data.writeUInt32LE(argument >>> 0, 16);
  data.writeUInt32LE(second >>> 0, 24);
  let loaded = 0;
  for (let at = 0; at * 8 < filter.length; at += 1) {
    const [code, then, otherwise, value] = [
      filter.readUInt16LE(at * 8),
      filter[at * 8 + 2],
      filter[at * 8 + 3],
      filter.readUInt32LE(at * 8 + 4),
    ];
    /** @type {Record<number, () => boolean>} */
    const tests = { 0x15: () => loaded === value, 0x35: () => loaded >= value, 0x45: () => (loaded & value) !== 0 };
    if (code === 0x06) return value;
    if (code === 0x20) loaded = data.readUInt32LE(value);
    else if (code === 0x54) loaded &= value;
    else at += tests[code]() ? then : otherwise;
  }
  throw new Error("The filter has no end.");
}

const NAMESPACE = 0x10000000;
const MACHINES = /** @type {const} */ ([
  [
    "x64",
    {
      audit: 0xc000003e,
      socket: 41,
      socketpair: 53,
      clone: 56,
      unshare: 272,
      write: 1,
      ioctl: 16,
      keyctl: 250,
      reaching: [101, 310, 311, 312, 438, 440, 298],
      scheduling: [144, 314],
      ofProcess: [302, 142, 203, 256, 279],
      setpriority: 141,
      ioprioSet: 251,
    },
  ],
  [
    "arm64",
    {
      audit: 0xc00000b7,
      socket: 198,
      socketpair: 199,
      clone: 220,
      unshare: 97,
      write: 64,
      ioctl: 29,
      keyctl: 219,
      reaching: [117, 270, 271, 272, 438, 440, 241],
      scheduling: [119, 274],
      ofProcess: [261, 118, 122, 238, 239],
      setpriority: 140,
      ioprioSet: 30,
    },
  ],
]);

for (const [
  architecture,
  {
    audit,
    socket,
    socketpair,
    clone,
    unshare,
    write,
    ioctl,
    keyctl,
    reaching,
    scheduling,
    ofProcess,
    setpriority,
    ioprioSet,
  },
] of MACHINES) {
  suite(`the filter for ${architecture}`, () => {
    const filter = /** @type {Buffer} */ (seccompFilter(architecture));
    const decision = (/** @type {number} */ number, argument = 0, second = 0) =>
      decide(filter, { audit, number, argument, second });

    test("allows sockets of IP and netlink, and pairs of streams", () => {
      for (let family = 0; family < 64; family += 1) {
        assert.equal(
          decision(socket, family),
          [2, 10, 16].includes(family) ? ALLOWED : failed(EPERM),
          `family ${family}`,
        );
      }
      const flags = 0o2004000; // SOCK_CLOEXEC | SOCK_NONBLOCK
      for (const [type, allowed] of [
        [1, true],
        [1 | flags, true],
        [5, true],
        [2, false],
        [2 | flags, false],
        [3, false],
      ]) {
        assert.equal(
          decision(socketpair, 1, Number(type)),
          allowed ? ALLOWED : failed(EPERM),
          `a pair of type ${type}`,
        );
      }
    });

    test("allows sockets in the file system if it is so made, and refuses all others that it refused", () => {
      const withSockets = /** @type {Buffer} */ (seccompFilter(architecture, true));
      const other = (/** @type {number} */ number, argument = 0, second = 0) =>
        decide(withSockets, { audit, number, argument, second });
      for (let family = 0; family < 64; family += 1)
        assert.equal(other(socket, family), family === 1 ? ALLOWED : decision(socket, family), `family ${family}`);
      for (const type of [1, 2, 3, 5]) assert.equal(other(socketpair, 1, type), ALLOWED);
      for (const call of [clone, unshare, keyctl, 425, 435, setpriority, ioprioSet, write, ...reaching, ...ofProcess])
        for (const argument of [0, 1, 2, NAMESPACE])
          assert.equal(other(call, argument, 1), decision(call, argument, 1), `${call} ${argument}`);
    });

    test("refuses snapshots of file systems, and no other request of a device", () => {
      for (const request of [0x50009401, 0x50009417, 0x4020bc10, 0x9401])
        assert.equal(decision(ioctl, 3, request), failed(EPERM), request.toString(16));
      // TCGETS, TIOCGWINSZ, FIONREAD, FICLONE, and making a subvolume.
      for (const request of [0x5401, 0x5413, 0x541b, 0x40049409, 0x5000940e])
        assert.equal(decision(ioctl, 0x9401, request), ALLOWED, request.toString(16));
    });

    test("refuses new user namespaces", () => {
      for (const call of [clone, unshare]) {
        for (const flags of [NAMESPACE, NAMESPACE | 0x20000, 0xffffffff])
          assert.equal(decision(call, flags), failed(EPERM));
        for (const flags of [0, 17, 0x3d0f00]) assert.equal(decision(call, flags), ALLOWED);
      }
      assert.equal(decision(435, NAMESPACE), failed(ENOSYS), "clone3");
    });

    test("refuses to reach into another process, and other kinds of scheduling", () => {
      for (const call of [...reaching, ...scheduling])
        for (const argument of [0, 1, 2, 16, 0xffffffff])
          assert.equal(decision(call, argument, 1), failed(EPERM), String(call));
    });

    test("refuses changes of how the first process runs, and allows those of others", () => {
      for (const call of ofProcess) {
        assert.equal(decision(call, 1), failed(EPERM), String(call));
        for (const process of [0, 2, 3, 0x10001]) assert.equal(decision(call, process, 1), ALLOWED, String(call));
      }
      for (const [call, own] of [
        [setpriority, 0],
        [ioprioSet, 1],
      ]) {
        for (const kind of [0, 1, 2, 3]) {
          for (const process of [0, 1, 2])
            assert.equal(
              decision(call, kind, process),
              kind === own && process !== 1 ? ALLOWED : failed(EPERM),
              `${call} ${kind} ${process}`,
            );
        }
      }
    });

    test("refuses io_uring, keyrings and other architectures", () => {
      assert.equal(decision(keyctl), failed(ENOSYS));
      assert.equal(decision(425), failed(ENOSYS));
      assert.equal(
        decide(filter, { audit: 0x40000003, number: 102, argument: 1 }),
        failed(ENOSYS),
        "socketcall of 32 bits",
      );
      if (architecture === "x64") assert.equal(decision(0x40000000 | socket, 1), failed(ENOSYS), "x32");
      assert.equal(decision(write), ALLOWED);
    });
  });
}

test("there is no filter for an unknown architecture", () => {
  for (const architecture of ["ia32", "riscv64", "toString", ""]) assert.equal(seccompFilter(architecture), undefined);
});
