import { makeSandbox } from "./sandbox.mjs";
import { startModel } from "./scripted-model.mjs";

/**
 * Starts a scripted model and a sandbox whose pi uses it. After the test the model, the sandbox and every pi in it are
 * closed.
 *
 * @param {import("node:test").TestContext} t
 * @param {Parameters<typeof startModel>[0]} script
 * @param {Omit<import("./sandbox.mjs").SandboxOptions, "model">} [options]
 */
export async function stage(t, script, options) {
  const model = await startModel(script);
  const sandbox = makeSandbox({ ...options, model });
  t.after(async () => {
    await sandbox.dispose();
    await model.close();
  });
  return { model, sandbox };
}
