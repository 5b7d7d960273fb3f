// The change that the workflow `review` of the package shows to its reviewers, in repositories of all kinds.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { REPO } from "../pi/harness/pi.mjs";

const WORKFLOW = join(REPO, "workflows/review");
/** The file of the whole list, as the summary of its step names it. */
const WHOLE = ".pi/workflow-runs/0/all-1.log";

/** A folder with helpers. @param {import("node:test").TestContext} t */
function place(t) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "review-")));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const env = { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: "1" };
  const git = (/** @type {string[]} */ ...args) => {
    const settings = ["user.name=x", "user.email=x@x", "init.defaultBranch=main", "protocol.file.allow=always"];
    return execFileSync("git", [...settings.flatMap((setting) => ["-c", setting]), ...args], {
      cwd: root,
      env,
      stdio: "pipe",
      encoding: "utf8",
    }).trim();
  };
  const write = (/** @type {Record<string, string | Buffer>} */ files) => {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), content);
    }
  };
  const commit = (/** @type {Record<string, string | Buffer>} */ files, at = ".") => {
    write(Object.fromEntries(Object.entries(files).map(([name, content]) => [join(at, name), content])));
    git("-C", at, "add", "--all");
    git("-C", at, "commit", "-qm", "x", "--allow-empty");
    return git("-C", at, "rev-parse", "HEAD");
  };
  /**
   * Runs the steps up to the one that fails, as the workflow does.
   * @param {string} of
   * @param {string} [at]
   * @param {object} [more]
   * @returns {{ failed?: string, base?: string, how?: string, list?: string, files?: string, diff?: string }}
   */
  const review = (of, at = ".", more = {}) => {
    const run = (/** @type {string} */ step, values = {}) => {
      const line = `. "$dir/scripts/change.sh" && ${step}`;
      assert.ok(readFileSync(join(WORKFLOW, "workflow.yaml"), "utf8").includes(`run: ${line}\n`), step);
      const given = { ...env, ...more, dir: WORKFLOW, of, ...values };
      return spawnSync("bash", ["-c", line], { cwd: join(root, at), env: given, encoding: "utf8" });
    };
    const failed = (/** @type {ReturnType<typeof run>} */ { stdout, stderr }) => ({ failed: stderr.trim(), stdout });
    const first = run("base");
    if (first.status !== 0) return failed(first);
    const { base, how } = JSON.parse(first.stdout);
    const list = run("whole", { base });
    if (list.status !== 0) return { ...failed(list), base, how };
    const LIST = `… (9 bytes before; all of it: ${WHOLE})\nx`;
    const [files, diff] = [run("files", { base, how, list: LIST }), run("diff_all", { base })];
    assert.deepEqual([files.status, files.stderr, diff.status, diff.stderr], [0, "", 0, ""]);
    return { base, how, list: list.stdout, files: files.stdout, diff: diff.stdout };
  };
  return { root, git, write, commit, review };
}

suite("the change that is reviewed", { concurrency: 2 }, () => {
  test("begins where the branches parted, whatever came to the other one since", (t) => {
    const { git, commit, write, review } = place(t);
    git("init", "-q");
    const parted = commit({ a: "1\n" });
    git("branch", "feature");
    commit({ theirs: "2\n" });
    git("checkout", "-q", "feature");
    commit({ mine: "3\n" });
    write({ a: "1\n4\n", "new file": "5\n" });
    const { base, how, files = "", diff = "" } = review("main");
    assert.deepEqual([base, how], [parted, "merge-base"]);
    assert.match(
      files,
      new RegExp(`^Paths begin at \`.\`, your folder\\.\nIt begins where HEAD and main parted, at ${parted}`),
    );
    assert.match(files, /\nnot tracked, to be read: new file\n1\t0\ta\n1\t0\tmine\n/);
    assert.match(diff, /\n\+4\n[^]*\n\+3\n$/);
    assert.doesNotMatch(files + diff, /theirs/);
    assert.match(String(review("HEAD~9").failed), /^fatal: [^\n]*: no commit HEAD~9 here: git log shows/);
    const named = "no commit: write of=refs/heads/--output=evil for a branch whose name begins with -";
    assert.equal(review("--output=evil").failed, named);
    git("tag", "main", "main");
    const { base: ofBoth } = review("main");
    assert.equal(ofBoth, parted, "a branch and a tag of one name");
    git("tag", "--delete", "main");
    git("checkout", "-q", "--orphan", "apart");
    commit({ theirs: "other\n" });
    const apart = review("main");
    assert.equal(apart.how, "unrelated");
    assert.match(String(apart.files), /HEAD and main have no commit in common, so they are compared directly/);
    git("checkout", "-q", "--force", "main");
    assert.equal(review("feature~1").how, "same");
    assert.equal(review("main").failed, "no change since main");
  });

  test("is everything before the first commit, but not in a shallow clone", (t) => {
    const { git, commit, write, review, root } = place(t);
    assert.match(String(review("HEAD~1").failed), /^fatal: not a git repository [^\n]*: start pi in a folder of one/);
    git("init", "-q", "one");
    write({ "one/a": "1\n" });
    git("-C", "one", "add", "a");
    const none = review("HEAD~1", "one");
    assert.deepEqual([none.how, /\n\+1\n$/.test(String(none.diff))], ["empty", true]);
    commit({ a: "1\n" }, "one");
    const first = review("HEAD~1", "one");
    assert.match(String(first.files), /There is no commit before it: all files are new\.\n/);
    assert.match(String(review("HEAD~2", "one").failed), /no commit HEAD~2 here/);
    commit({ b: "2\n" }, "one");
    git("clone", "-q", "--depth", "1", `file://${root}/one`, "shallow");
    assert.match(
      String(review("HEAD~1", "shallow").failed),
      /^fatal: [^\n]*HEAD~1 here, as this clone is shallow: run git fetch --unshallow/,
    );
    git("-C", "one", "branch", "topic");
    git("clone", "-q", `file://${root}/one`, "clone");
    assert.match(String(review("topic", "clone").failed), /no commit topic here: write of=origin\/topic$/);
    const foreign = review("HEAD~1", "one", { GIT_TEST_ASSUME_DIFFERENT_OWNER: "1" });
    const add = `git config --global --add safe.directory ${root}/one`;
    assert.equal(foreign.failed, `fatal: detected dubious ownership in repository at '${root}/one': ${add}`);
    assert.match(String(review("HEAD~1", "one/.git").failed), /must be run in a work tree/);
  });

  test("hides nothing: names, attributes, marks in the index, submodules", (t) => {
    const { git, commit, write, review, root } = place(t);
    git("init", "-q");
    const png = Buffer.from([0x89, 0, 1, 2]);
    const odd = { "ä ö.txt": "1\n", "new\nline": "1\n", "[a]*.js": "1\n", "-x": "1\n" };
    commit({
      ...odd,
      "hid.js": "1\n",
      marked: "1\n",
      "ta\tb": "1\n",
      sparse: "1\n",
      "pic.png": png,
      "sub/deep/x": "1\n",
    });
    write({
      ".gitattributes": "hid.js -diff\n*.png binary\n[[]* -diff\n",
      "hid.js": "1\nevil\n",
      "[a]*.js": "1\nodd\n",
    });
    write({ "ä ö.txt": "2\n", "new\nline": "2\n", "-x": "2\n", "pic.png": Buffer.from([0x89, 0, 1, 3]) });
    git("update-index", "--assume-unchanged", "marked", "ta\tb");
    git("update-index", "--skip-worktree", "sparse");
    write({ marked: "sneaky\n", sparse: "sneaky\n", "ta\tb": "sneaky\n" });
    git("config", "diff.external", "false");
    git("config", "diff.relative", "true");
    const { files = "", diff = "" } = review("HEAD", "sub/deep");
    assert.match(files, /^Paths begin at `\.\.\/\.\.`, seen from your folder: read `\.\.\/\.\.\/PATH`\.\n/);
    assert.match(files, /\(-diff\) keep these texts out of git's diff[^\n]*:\n- \[a\]\*\.js\n- hid\.js\n/);
    assert.match(files, /does not look at these files[^\n]*:\n- marked\n- sparse\n- ta\tb\n/);
    assert.match(files, /\n1\t1\tä ö\.txt\n/);
    assert.match(diff, /^diff --git a\/\[a\]\*\.js [^]*\n\+odd\n[^]*\n\+evil\n/);
    assert.equal(diff.match(/^\+2$/gm)?.length, 3, diff);
    assert.match(diff, /\nBinary files a\/pic\.png and b\/pic\.png differ\n/);
    git("init", "-q", "outer");
    git("init", "-q", "inner");
    commit({ m: "1\n" }, "inner");
    git("-C", "outer", "submodule", "add", "-q", `${root}/inner`, "module");
    commit({}, "outer");
    const inner = commit({ m: "2\n" }, "outer/module");
    git("config", "-f", "outer/.gitmodules", "submodule.module.ignore", "all");
    assert.match(String(review("HEAD", "outer").diff), new RegExp(`\n\\+Subproject commit ${inner}\n`));
    assert.match(String(review("HEAD~1", "outer/module").diff), /\n\+2\n$/);
    git("-C", "inner", "worktree", "add", "-q", "../tree");
    write({ "tree/m": "3\n" });
    assert.match(String(review("HEAD", "tree").diff), /\n\+3\n$/);
  });

  test("has its files whole up to 300, and then as folders with their numbers and the path of the whole list", (t) => {
    const { git, commit, write, review } = place(t);
    git("init", "-q");
    commit({});
    const some = (/** @type {number} */ count, folder = "many/of/them") =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`${folder}/f${index}`, "1\n"]));
    write(some(300));
    assert.equal(review("HEAD").files?.match(/^not tracked, to be read: many\/of\/them\/f\d+$/gm)?.length, 300);
    write(some(20, "few"));
    const many = review("HEAD").files ?? "";
    const folders = `\n320 files, all of them in ${WHOLE.replaceAll(".", "\\.")}\\. Their folders:\n300\tmany/of/them/\n20\tfew/\n$`;
    assert.match(many, new RegExp(folders));
    assert.equal(review("HEAD").list?.split("\n").length, 321);
    for (let index = 0; index < 200; index += 1) write({ [`packages/p${index}/src/x`]: "1\n" });
    assert.match(String(review("HEAD").files), /\n200\tpackages\/\n/);
  });
});
