// Temporary folders for one pi: the agent directory, the user's home and a project, isolated from the machine's own.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { onExit } from "./on-exit.mjs";
import { NODE } from "./pi.mjs";

/**
 * File maps go from a relative path with `/` to the text of the file.
 *
 * @typedef {object} SandboxOptions
 * @property {{ baseUrl: string }} [model] a started scripted model, made pi's default model `scripted/scripted`
 * @property {Record<string, unknown>} [modelConfig] merged into the model's entry, say `{ contextWindow: 8000 }`
 * @property {Record<string, unknown>} [settings] merged over agent/settings.json; retries are off unless set here
 * @property {boolean} [builtin] the workflows of the package are there
 * @property {Pace} [pace] other bounds of automatic continuation
 * @property {Record<string, string>} [globalFiles] below agent/workflows/
 * @property {Record<string, string>} [projectFiles] below project/.pi/workflows/
 * @property {Record<string, string>} [files] below project/
 *
 * @typedef {Partial<Record<"delay_seconds" | "max_per_phase" | "max_idle" | "max_repeats", number>>} Pace
 * @typedef {ReturnType<typeof makeSandbox>} Sandbox
 */

const SETTINGS = {
  quietStartup: true,
  enableInstallTelemetry: false,
  enableAnalytics: false,
  retry: { enabled: false },
};

/** Returns the user's settings with these limits, and without the workflows of the package. @param {string} limits fields as YAML */
export const settingsWith = (limits) => `builtin: false\nlimits:\n${limits.replace(/^(?=.)/gm, "  ")}`;

/** @param {SandboxOptions} [options] */
export function makeSandbox({ model, modelConfig, settings, builtin, pace, globalFiles, projectFiles, files } = {}) {
  // The real path: pi prints it, and the temporary folder may be a symlink.
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pi-test-")));
  const sandbox = {
    root,
    agent: join(root, "agent"),
    home: join(root, "home"),
    project: join(root, "project"),
    /** The whole environment of pi in this sandbox: no API keys or settings of the user who runs the tests. */
    env: () => ({
      // For programs with `#!/usr/bin/env node` that pi starts.
      PATH: [dirname(NODE), process.env.PATH].join(delimiter),
      HOME: sandbox.home,
      TERM: "xterm-256color",
      LANG: "C.UTF-8",
      PI_CODING_AGENT_DIR: sandbox.agent,
    }),
    /** Writes files into the project after the start, as a user would while pi runs. */
    writeFiles: (/** @type {Record<string, string>} */ more) => writeAll(sandbox.project, more),
    /** Stores other bounds of automatic continuation, for sessions that begin later. @param {Pace} pace */
    setPace: (pace) => sandbox.store({ pace: paceText(pace) }),
    /** Writes the store of the component. @param {Record<string, string>} values */
    store: (values) => writeAll(sandbox.agent, { "extension-data/pi-workflows.json": json(values) }),
    /** Registers a function that `dispose` calls before it removes the folder; each pi registers its `close`. */
    adopt: (/** @type {() => Promise<unknown>} */ close) => closers.push(close),
    async dispose() {
      await Promise.all(closers.splice(0).map((close) => close()));
      forget();
      remove();
    },
  };
  /** @type {(() => Promise<unknown>)[]} */
  const closers = [];
  // Retries while a child process of pi still writes.
  const remove = () => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  const forget = onExit(remove);
  for (const folder of [sandbox.agent, sandbox.home, sandbox.project]) mkdirSync(folder);
  const chosen = model ? { defaultProvider: "scripted", defaultModel: "scripted" } : {};
  writeAll(sandbox.agent, { "settings.json": json({ ...SETTINGS, ...chosen, ...settings }) });
  if (model) writeAll(sandbox.agent, { "models.json": json(modelsJson(model, modelConfig)) });
  writeAll(join(sandbox.agent, "workflows"), builtin ? {} : { "settings.yaml": "builtin: false\n" });
  writeAll(join(sandbox.agent, "workflows"), globalFiles);
  writeAll(join(sandbox.project, ".pi/workflows"), projectFiles);
  writeAll(sandbox.project, files);
  if (pace) sandbox.setPace(pace);
  return sandbox;
}

/** The bounds as the component reads them. @param {Pace} pace */
export const paceText = ({ delay_seconds = 3, max_per_phase = 10, max_idle = 3, max_repeats = 20 }) =>
  [delay_seconds, max_per_phase, max_idle, max_repeats].join(" ");

/**
 * @param {{ baseUrl: string }} model
 * @param {Record<string, unknown>} [config]
 */
function modelsJson({ baseUrl }, config) {
  const model = { id: "scripted", contextWindow: 128_000, maxTokens: 16_384, ...config };
  return { providers: { scripted: { baseUrl, api: "openai-completions", apiKey: "scripted", models: [model] } } };
}

/**
 * @param {string} folder
 * @param {Record<string, string>} [files]
 */
function writeAll(folder, files = {}) {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** @param {unknown} value */
function json(value) {
  return JSON.stringify(value, null, 2);
}
