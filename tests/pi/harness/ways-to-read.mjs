// Ways to read a hidden file: command lines that print its content, unless it is hidden. The content is not in them.
//
// Shell variables: $F the file and $D its folder, relative to the project; $A the project; $M another mount of the
// project, and $I one of the folder; $PI pi's process; $V a process outside, with the file as its descriptor $OPENED.

/**
 * @typedef {object} WayToRead
 * @property {string} name
 * @property {string} run a command line
 * @property {string} [prepare] a command line of the phase before, in which nothing is hidden
 * @property {false} [control] it does not read the file on some systems, though it is not hidden
 */

/** @param {string} text */
const python = (text) =>
  `"$PYTHON" - <<'END'\nimport ctypes, mmap, os, sys\nF, D, A = os.environ["F"], os.environ["D"], os.environ["A"]\nc = ctypes.CDLL(None, use_errno=True)\n${text}\nEND`;

/** @type {Record<string, string>} */
const PROGRAMS = {
  cat: "cat $F",
  "cat absolute": "cat $A/$F",
  "cat with dots": "cat src/../$D/./../acceptance//a.txt",
  "cat in the folder": "cd $D && cat a.txt",
  pushd: "pushd $D && cat a.txt",
  CDPATH: "CDPATH=tests; cd acceptance && cat a.txt",
  glob: "cat tests/*/*",
  redirection: "cat < $F",
  substitution: 'echo "$(<$F)"',
  descriptor: "exec 5<$F; cat <&5",
  "read-write descriptor": "exec 5<>$F; cat <&5",
  mapfile: 'mapfile -t x < $F; echo "${x[@]}"',
  read: 'IFS= read -r x < $F; echo "$x"',
  source: ". $F",
  "as a script": "bash $F",
  head: "head -c 100 $F",
  tail: "tail -n 5 $F",
  tee: "tee < $F",
  dd: "dd if=$F 2>/dev/null",
  od: "od -An -c -w100 $F | tr -d ' '",
  base64: "base64 $F | base64 -d",
  sed: "sed -n p $F",
  awk: "awk 1 $F",
  sort: "sort $F",
  "grep -r": "grep -r . tests",
  "grep with links": "ln -s ../tests docs/g; grep -R . docs; rm docs/g",
  diff: "diff /dev/null $F",
  comm: "comm /dev/null $F",
  "find -exec": "find . -name a.txt -exec cat {} +",
  xargs: "ls $D | sed s,^,$D/, | xargs cat; echo $F | xargs cat",
  cp: "cp $F docs/c; cat docs/c; rm -f docs/c",
  "cp -r": "cp -r tests docs/t; cat docs/t/acceptance/a.txt; rm -rf docs/t",
  install: "install -m 644 $F docs/i; cat docs/i; rm -f docs/i",
  tar: "tar -c tests | tar -xO",
  "tar of all": "tar -c . | tar -xO",
  gzip: "gzip -c $F | gunzip",
  python: `"$PYTHON" -c 'print(open("tests/acceptance/a.txt").read())'`,
  "python as root of a folder": python(
    "fd = os.open(D, os.O_PATH)\nprint(os.read(os.open('a.txt', os.O_RDONLY, dir_fd=fd), 100))",
  ),
  "python O_PATH": python("fd = os.open(F, os.O_PATH)\nprint(open('/proc/self/fd/%d' % fd).read())"),
  mmap: python("print(mmap.mmap(os.open(F, os.O_RDONLY), 0, prot=mmap.PROT_READ)[:])"),
  sendfile: python(
    "sys.stdout.flush(); fd = os.open(F, os.O_RDONLY)\nr, w = os.pipe()\nprint(os.sendfile(w, fd, 0, 100)); print(os.read(r, 100))",
  ),
  splice: python("r, w = os.pipe()\nos.splice(os.open(F, os.O_RDONLY), w, 100)\nprint(os.read(r, 100))"),
  copy_file_range: python(
    "o = os.open('docs/r', os.O_RDWR | os.O_CREAT)\nos.copy_file_range(os.open(F, os.O_RDONLY), o, 100)\nprint(open('docs/r').read()); os.unlink('docs/r')",
  ),
  perl: `perl -e 'open F, "<", $ENV{F}; print <F>'`,
  node: `node -e 'console.log(fs.readFileSync(process.env.F, "utf8"))'`,
  "node url": `node -e 'console.log(fs.readFileSync(new URL("file://" + process.env.A + "/" + process.env.F), "utf8"))'`,
  curl: "curl -s file://$A/$F",
  make: `printf 'include %s\\nall:;@:\\n' $F | make -f - 2>&1`,
  ed: "echo ,p | ed -s $F",
  vim: "vim -es -u NONE +%p +q! $F < /dev/null",
  "git diff": "git diff --no-index /dev/null $F",
  "git grep": "git grep --no-index . -- $F",
  "git blob":
    "git cat-file -p $(git --git-dir=$PWD/docs/g init -q . ; git --git-dir=docs/g hash-object -w $F) 2>/dev/null || git --git-dir=docs/g cat-file -p $(git --git-dir=docs/g hash-object -w $F); rm -rf docs/g",
};

/** @type {Record<string, string>} */
const NAMES = {
  "a new link": "ln -s ../$F docs/n; cat docs/n; rm docs/n",
  "a new link to the folder": "ln -s ../$D docs/n; cat docs/n/a.txt; rm docs/n",
  "a new hard link": "ln $F docs/n; cat docs/n; rm -f docs/n",
  "/proc/self/cwd": "cat /proc/self/cwd/$F",
  "/proc/self/root": "cat /proc/self/root$A/$F",
  "/proc/1/root": "cat /proc/1/root$A/$F",
  "/proc/1/cwd": "cat /proc/1/cwd/$F",
  "/proc/self/fd": "exec 5<.; cat /proc/self/fd/5/$F",
  "/dev/fd": "exec 5<tests; cat /dev/fd/5/acceptance/a.txt",
  "root of pi": "cat /proc/$PI/root$A/$F",
  "directory of pi": "cat /proc/$PI/cwd/$F",
  "root of a process": "cat /proc/$V/root$A/$F",
  "directory of a process": "cat /proc/$V/cwd/$F",
  "descriptor of a process": "cat /proc/$V/fd/$OPENED",
  "every process": "for p in /proc/[0-9]*; do cat $p/cwd/$F $p/root$A/$F; done",
  "renaming the file": "mv $F docs/n && cat docs/n; mv docs/n $F",
  "renaming the folder": "mv $D docs/n && cat docs/n/a.txt; mv docs/n $D",
  "renaming the folder around": "mv tests other; cat other/acceptance/a.txt; mv other tests",
  "renaming the project": "cd /; mv $A $A-2; cat $A-2/$F; mv $A-2 $A",
  "another folder in its place": "mv $D docs/n; mkdir -p $D; cat docs/n/a.txt; rmdir $D; mv docs/n $D",
  rights: "chmod -R u+rwX tests; cat $F",
  "another mount": "cat $M/$F",
  "another mount of the folder": "cat $I/a.txt",
  "removing the stand-in": "rm -rf ./$D/none; rmdir $D 2>/dev/null; cat $F",
  "a race of links":
    "for i in $(seq 200); do ln -sfn ../$D docs/r; cat docs/r/a.txt; ln -sfn ../src docs/r; done & for i in $(seq 200); do cat docs/r/a.txt; done; wait; rm -f docs/r",
  "the other name in the project": "cat src/other-name.txt",
};

/** Ways that need more than another user may do in general. @type {Record<string, string>} */
const SYSTEM = {
  umount: "umount $D; umount -l $D; fusermount -uz $D; cat $F",
  "umount in python": python("c.umount2(D.encode(), 2)\nprint(open(F).read())"),
  unshare: "unshare --user --map-root-user --mount sh -c 'umount -l $D; cat $F'; cat $F",
  "unshare of mounts": "unshare --mount sh -c 'umount -l $D; cat $F'; cat $F",
  "bind mount": "mkdir docs/m; mount --bind . docs/m; cat docs/m/$F || cat $F; umount docs/m; rmdir docs/m",
  chroot: "chroot /proc/1/root cat $A/$F || cat $F",
  nsenter: "nsenter -t 1 -m cat $A/$F || cat $F",
  "nsenter of pi": "nsenter -t $PI -m cat $A/$F || cat $F",
  "namespace of a process": python(
    "fd = os.open('/proc/%s/ns/mnt' % os.environ['V'], os.O_RDONLY)\nprint(c.setns(fd, 0))\nprint(open(A + '/' + F).read())",
  ),
  "handle of the file": python(`
class Handle(ctypes.Structure): _fields_ = [("size", ctypes.c_uint), ("type", ctypes.c_int), ("bytes", ctypes.c_char * 128)]
h = Handle(128); m = ctypes.c_int()
print(c.name_to_handle_at(-100, F.encode(), ctypes.byref(h), ctypes.byref(m), 0))
fd = c.open_by_handle_at(os.open(A, os.O_RDONLY), ctypes.byref(h), 0)
print(os.read(fd, 100) if fd >= 0 else open(F).read())`),
  pivot_root: python("print(c.syscall(155, b'/', b'/'))\nprint(open(F).read())"),
  open_tree: python(
    "fd = c.syscall(428, -100, A.encode(), 1)\nprint(open('/proc/self/fd/%d/%s' % (fd, F)).read() if fd >= 0 else open(F).read())",
  ),
  "tracing pi": "gdb -p $PI -batch -ex 'call (int) system(\"cat $A/$F\")' 2>&1; cat $F",
  su: "su -c 'cat '$A/$F nobody || sudo -n cat $A/$F || cat $F",
};

/** @type {WayToRead[]} */
const PREPARED = [
  { name: "a link of before", prepare: "ln -s ../$F docs/before", run: "cat docs/before" },
  { name: "an absolute link of before", prepare: "ln -s $A/$F docs/absolute", run: "cat docs/absolute" },
  { name: "a link to the folder of before", prepare: "ln -s ../$D docs/folder", run: "cat docs/folder/a.txt" },
  {
    name: "a link to a link of before",
    prepare: "ln -s ../tests docs/one; ln -s one/acceptance docs/two",
    run: "cd docs/two && cat a.txt",
  },
  { name: "a hard link of before", prepare: "ln $F docs/hard", run: "cat docs/hard" },
  { name: "a hard link with an odd name", prepare: "ln $F \"docs/h 'x' \\$y\"", run: "cat docs/h*" },
];

/** @param {Record<string, string>} ways @returns {WayToRead[]} */
const waysOf = (ways) => Object.entries(ways).map(([name, run]) => ({ name, run }));

/**
 * Paths of processes that other users' processes do not open, and namespaces: what they need may be missing without a
 * sandbox too.
 */
const NOT_EVERYWHERE =
  /^(?:a race|vim|ed$|make|\/proc\/1|every process|root of|directory of|descriptor of|namespace of|another mount|renaming the project|tracing|su$|source|as a script)/;

/** @type {WayToRead[]} */
export const TO_READ = [...waysOf(PROGRAMS), ...waysOf(NAMES), ...waysOf(SYSTEM), ...PREPARED].map((way) =>
  NOT_EVERYWHERE.test(way.name) ? { ...way, control: false } : way,
);
