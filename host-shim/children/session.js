// Opens the session of pi in which a child works. The session is made of the parts of the parent's session, and of
// nothing that came to the disk later.
import { closeSync, readSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { messageOf, untrusted } from "#sandbox";

import { shareUserSettings } from "../shell.js";
import { EVALUATION } from "./origin.js";
import { childUi } from "./ui.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */
/** @typedef {import("@earendil-works/pi-coding-agent").AgentSession} AgentSession */
/** @typedef {import("@earendil-works/pi-coding-agent").SessionManager} SessionManager */
/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionFactory} ExtensionFactory */
/** @typedef {import("@earendil-works/pi-coding-agent").LoadExtensionsResult} Extensions */
/** @typedef {import("../interface.js").Child} ChildStart */
/** @typedef {import("./origin.js").Loaded} Loaded */

/**
 * The parts of a child's session.
 *
 * @typedef {object} Parent
 * @property {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi
 * @property {typeof import("@earendil-works/pi-coding-agent")} codingAgent
 * @property {Context} context the context of the parent's session
 * @property {import("./origin.js").Origin | undefined} origin the origin of the parent's session
 * @property {(message: string) => void} tell shows a warning to the user
 * @property {string} name the package's name
 * @property {ExtensionFactory} factory
 * @property {import("../turns.js").Turns} turns the turns of the dialogs
 */

/** The path of an extension that is no file: one of pi's own, or of the program that embeds pi. */
const NO_FILE = /^(?:<|builtin:)/;

/**
 * The events by which an extension decides about tool calls. In a child the functions of the session handle these
 * events, with their state in the session.
 */
const GUARDED = new Set(["tool_call", "tool_result"]);

/** The maximum time for which extensions can delay the end of a child's session, in milliseconds. */
const CLOSING = 4000;

/** The maximum length of the first line of a session file, in bytes. */
const MAX_HEADER = 64 * 1024;

/**
 * Opens the session of a child. Its extensions are bound: they have handled the start of the session.
 *
 * @param {Parent} parent
 * @param {ChildStart} child
 * @param {AbortSignal} signal closes the dialogs of the child
 * @returns {Promise<AgentSession>}
 */
export async function openChildSession(parent, child, signal) {
  const { pi, codingAgent, context, turns, origin } = parent;
  const { cwd, sessionManager: own, mode, hasUI } = context;
  if (!origin) throw new Error("this version of pi does not show what the session was made of");
  const changed = origin.toTell();
  if (changed !== undefined) parent.tell(changed);
  const model = modelOf(context, child.model);
  const modelRuntime = modelRuntimeOf(context);
  const { sessionManager, isNew } = sessionOf(codingAgent, own, cwd, child.session);
  if (isNew)
    for (const { customType, data } of child.entries) sessionManager.appendCustomEntry(customType, JSON.parse(data));
  const settingsManager = codingAgent.SettingsManager.inMemory(origin.settings, {
    projectTrusted: context.isProjectTrusted(),
  });
  shareUserSettings(settingsManager, origin.session.settingsManager);
  // The last step that can fail: an extension may start processes, which end with the session.
  const extensions = await extensionsOf(parent, origin, signal);
  const { session } = await codingAgent.createAgentSession({
    cwd,
    agentDir: codingAgent.getAgentDir(),
    settingsManager,
    modelRuntime,
    resourceLoader: resourcesOf(origin, extensions),
    sessionManager,
    model,
    thinkingLevel: child.thinking === undefined || child.thinking === "other" ? pi.getThinkingLevel() : child.thinking,
    // Only the tools that the session allows can be active.
    tools: pi.getAllTools().map(({ name }) => name),
  });
  try {
    const tools = child.tools ?? pi.getActiveTools();
    session.setActiveToolsByName(tools);
    keepInactive(session, extensions.runtime, tools);
    keepModels(extensions.runtime);
    const waitForIdle = () => session.waitForIdle();
    const cancelled = async () => ({ cancelled: true });
    await session.bindExtensions({
      uiContext: hasUI ? childUi(context, child.label, turns, signal) : undefined,
      mode,
      commandContextActions: {
        waitForIdle,
        newSession: cancelled,
        fork: cancelled,
        navigateTree: cancelled,
        switchSession: cancelled,
        reload: async () => {},
      },
      abortHandler: () => void session.abort(),
      shutdownHandler: () => {},
      onError: () => {},
    });
    return session;
  } catch (error) {
    await closeChildSession(session);
    throw error;
  }
}

/**
 * Keeps tools inactive that are not active in the parent's session: when an extension registers a tool, pi activates
 * all tools that a session allows.
 *
 * @param {AgentSession} session
 * @param {Extensions["runtime"]} runtime
 * @param {string[]} tools the active tools of the parent's session
 */
function keepInactive(session, runtime, tools) {
  const refresh = runtime.refreshTools;
  runtime.refreshTools = () => {
    const before = session.getActiveToolNames();
    const known = session.getAllTools().map(({ name }) => name);
    refresh();
    const isActive = (/** @type {string} */ name) => (known.includes(name) ? before : tools).includes(name);
    session.setActiveToolsByName(session.getActiveToolNames().filter(isActive));
  };
}

/** Ends a child's session: its extensions handle the end, and all its work stops. @param {AgentSession} session */
export async function closeChildSession(session) {
  await atMost(CLOSING, session.extensionRunner.emit({ type: "session_shutdown", reason: "quit" }));
  session.dispose();
}

/**
 * Ends extensions that belong to no session: each extension gets the end of a session, and its work stops.
 *
 * @param {Loaded[]} extensions
 * @param {Context} context
 */
async function endExtensions(extensions, { cwd, mode }) {
  const ends = extensions
    .filter(({ path }) => !NO_FILE.test(path))
    .flatMap(({ handlers }) => handlers.get("session_shutdown") ?? []);
  const context = { cwd, mode, hasUI: false };
  const ended = ends.map(async (end) => end({ type: "session_shutdown", reason: "quit" }, context));
  await atMost(CLOSING, Promise.allSettled(ended));
}

/**
 * Waits for the end of extensions. An extension that fails or does not return delays nothing.
 *
 * @param {number} time in milliseconds
 * @param {Promise<unknown>} ending
 */
async function atMost(time, ending) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, time)));
  await Promise.race([ending.catch(() => {}), late]);
  clearTimeout(timer);
}

/**
 * Keeps the models of the session, which a child shares: a copy of an extension changes no model.
 * @param {Extensions["runtime"]} runtime
 */
function keepModels(runtime) {
  const names = [
    ...["registerProvider", "registerNativeProvider", "unregisterProvider"],
    ...["registerVirtualModel", "unregisterVirtualModel"],
  ];
  Object.assign(runtime, Object.fromEntries(names.map((name) => [name, () => {}])));
}

/**
 * The models of the session. pi gives extensions its registry of models only, which is a view of this object. The
 * object has the keys of the session too.
 *
 * @param {Context} context
 */
function modelRuntimeOf({ modelRegistry }) {
  const { runtime } = /** @type {{ runtime?: any }} */ (/** @type {unknown} */ (modelRegistry));
  if (!runtime) throw new Error("this version of pi does not share its models with children");
  return runtime;
}

/**
 * The texts that pi read for the session, of which a child reads none again. The bodies of skills are read when they
 * are used, as in the session.
 *
 * @param {import("./origin.js").Origin} origin
 * @param {Extensions} extensions
 * @returns {import("@earendil-works/pi-coding-agent").ResourceLoader}
 */
function resourcesOf({ session: { resourceLoader: of } }, extensions) {
  const [{ skills }, { prompts }, { agentsFiles }] = [of.getSkills(), of.getPrompts(), of.getAgentsFiles()];
  const [systemPrompt, appendix] = [of.getSystemPrompt(), [...of.getAppendSystemPrompt()]];
  return {
    getExtensions: () => extensions,
    getSkills: () => ({ skills, diagnostics: [] }),
    getPrompts: () => ({ prompts, diagnostics: [] }),
    getThemes: () => ({ themes: [], diagnostics: [] }),
    getAgentsFiles: () => ({ agentsFiles }),
    getSystemPrompt: () => systemPrompt,
    getSystemPromptSource: () => undefined,
    getAppendSystemPrompt: () => appendix,
    getAppendSystemPromptSources: () => [],
    extendResources: () => {},
    reload: async () => {},
  };
}

/**
 * The extensions of a child: a copy of each extension of the session that is a file, and behind the copies the child's
 * own extension. A copy gives its tools, and its handlers of all events that are not in `GUARDED`.
 *
 * @param {Parent} parent
 * @param {import("./origin.js").Origin} origin
 * @param {AbortSignal} signal
 * @returns {Promise<Extensions>}
 */
async function extensionsOf(parent, { session, own, others }, signal) {
  const paths = others.map(({ resolvedPath }) => resolvedPath).filter((path) => !NO_FILE.test(path));
  if (paths.length > 0 && !(await isHeld(parent, own)))
    throw new Error("pi does not hold the extensions of this session as it loaded them; /reload loads them again");
  const { name, factory } = parent;
  const loaded = await load(parent, paths, [{ name, factory }]);
  const copies = new Map(loaded.extensions.map((extension) => [extension.resolvedPath, extension]));
  const missing = paths.filter((path) => !copies.has(path));
  if (missing.length > 0) {
    await endExtensions(loaded.extensions, parent.context);
    const why = missing.map((path) => `${path} (${loaded.errors.find((error) => error.path === path)?.error})`);
    throw new Error(
      `These extensions, whose rules hold in this session, cannot be loaded for a child: ${why.join(", ")}`,
    );
  }
  const { runtime } = loaded;
  for (const [flag, value] of session.resourceLoader.getExtensions().runtime.flagValues)
    runtime.flagValues.set(flag, value);
  // The session has the same registrations.
  for (const kind of ["Provider", "NativeProvider", "VirtualModel"])
    /** @type {any} */ (runtime)[`pending${kind}Registrations`] = [];
  const guarded = others.map((other) => guardedBy(other, copies.get(other.resolvedPath) ?? bare(other), signal));
  return { ...loaded, extensions: [...guarded, ...loaded.extensions.filter(({ path }) => NO_FILE.test(path))] };
}

/**
 * Returns true if pi still has the extensions of this session as it loaded them, and reads none of them again. pi has
 * all of the extensions or none.
 *
 * @param {Parent} parent
 * @param {Loaded | undefined} own this extension, as pi has loaded it
 */
async function isHeld(parent, own) {
  if (!own || NO_FILE.test(own.resolvedPath)) return false;
  const { extensions } = await load(parent, [own.resolvedPath], []);
  return extensions[0]?.messageRenderers.get(EVALUATION) === own.messageRenderers.get(EVALUATION);
}

/**
 * Has pi make extensions of these paths. Nothing is resolved, installed or searched for.
 *
 * @param {Parent} parent
 * @param {string[]} paths
 * @param {{ name: string, factory: ExtensionFactory }[]} extensionFactories
 */
async function load({ codingAgent, context: { cwd } }, paths, extensionFactories) {
  const { DefaultResourceLoader, SettingsManager, getAgentDir } = codingAgent;
  const loader = new DefaultResourceLoader({
    cwd,
    agentDir: getAgentDir(),
    settingsManager: SettingsManager.inMemory(),
    additionalExtensionPaths: paths,
    noExtensions: true,
    noSkills: true,
    noPromptTemplates: true,
    noThemes: true,
    noContextFiles: true,
    systemPrompt: "",
    appendSystemPrompt: [],
    extensionFactories,
  });
  // The package manager would install packages, and search folders that have replaced files.
  if (!("packageManager" in loader)) throw new Error("this version of pi searches for extensions by itself");
  const none = { extensions: [], skills: [], prompts: [], themes: [] };
  const metadata = { source: "cli", scope: "temporary", origin: "top-level" };
  const extensions = paths.map((path) => ({ path, enabled: true, metadata }));
  Object.assign(loader, {
    packageManager: { resolve: async () => none, resolveExtensionSources: async () => ({ ...none, extensions }) },
  });
  await loader.reload();
  return loader.getExtensions();
}

/**
 * Lets the functions of the session's extension decide about the tool calls of a child, also functions that the
 * extension adds later. A function that does not return does not hold up a child that is aborted.
 *
 * @param {Loaded} of
 * @param {Loaded} copy
 * @param {AbortSignal} signal
 */
function guardedBy(of, copy, signal) {
  const { handlers } = copy;
  const get = handlers.get.bind(handlers);
  handlers.get = (name) =>
    GUARDED.has(name) ? of.handlers.get(name)?.map((handler) => unlessAborted(handler, signal)) : get(name);
  return copy;
}

/**
 * An extension without tools and handlers.
 *
 * @param {Loaded} of
 * @returns {Loaded}
 */
function bare({ path, resolvedPath, sourceInfo }) {
  const names = ["handlers", "tools", "messageRenderers", "entryRenderers", "commands", "flags", "shortcuts"];
  const maps = Object.fromEntries(names.map((name) => [name, new Map()]));
  return /** @type {Loaded} */ (/** @type {unknown} */ ({ path, resolvedPath, sourceInfo, ...maps }));
}

/**
 * @param {(...parameters: any[]) => unknown} handler
 * @param {AbortSignal} signal
 * @returns {(...parameters: any[]) => Promise<any>}
 */
function unlessAborted(handler, signal) {
  return (...parameters) =>
    new Promise((resolve, reject) => {
      const end = () => reject(new Error("The call was aborted."));
      if (signal.aborted) return end();
      signal.addEventListener("abort", end, { once: true });
      const done = Promise.resolve(handler(...parameters)).finally(() => signal.removeEventListener("abort", end));
      done.then(resolve, reject);
    });
}

/** @param {Context} context @param {import("../interface.js").Model | undefined} wanted */
function modelOf({ modelRegistry, model }, wanted) {
  if (!wanted) return model;
  const found = modelRegistry.find(wanted.provider, wanted.id);
  if (!found || !modelRegistry.hasConfiguredAuth(found))
    throw new Error(`the model ${wanted.provider}/${wanted.id} cannot be used`);
  return found;
}

/**
 * Returns a session for a child: an earlier one of this session that can be opened, or else a new one. The sessions of
 * children lie in a folder beside the file of this session, so none is the newest session of the project for pi.
 *
 * @param {typeof import("@earendil-works/pi-coding-agent")} codingAgent
 * @param {Context["sessionManager"]} own
 * @param {string} cwd
 * @param {string | undefined} earlier
 * @returns {{ sessionManager: SessionManager, isNew: boolean }}
 */
function sessionOf({ SessionManager }, own, cwd, earlier) {
  const file = own.getSessionFile();
  if (!file) return { sessionManager: SessionManager.inMemory(cwd), isNew: true };
  const folder = join(dirname(file), `${file.slice(dirname(file).length + 1).replace(/\.jsonl$/, "")}.children`);
  if (earlier !== undefined && isChildOf(file, folder, earlier)) {
    try {
      return { sessionManager: SessionManager.open(earlier, folder, cwd), isNew: false };
    } catch {
      // A new session takes the place of this one.
    }
  }
  return { sessionManager: SessionManager.create(cwd, folder, { parentSession: file }), isNew: true };
}

/**
 * Returns true if a file is the session of a child of the session in `parent`.
 *
 * @param {string} parent
 * @param {string} folder the folder of the sessions of its children
 * @param {string} file
 */
export function isChildOf(parent, folder, file) {
  try {
    if (dirname(file) !== folder || dirname(folder) !== dirname(parent)) return false;
    const { type, parentSession } = JSON.parse(firstLine(dirname(parent), `${basename(folder)}/${basename(file)}`));
    return type === "session" && parentSession === parent;
  } catch {
    return false;
  }
}

/** @param {string} root @param {string} path */
function firstLine(root, path) {
  const descriptor = untrusted.openFile(root, path);
  try {
    const buffer = Buffer.alloc(MAX_HEADER);
    const text = buffer.toString("utf8", 0, readSync(descriptor, buffer, 0, MAX_HEADER, 0));
    return text.slice(0, text.indexOf("\n"));
  } finally {
    closeSync(descriptor);
  }
}

/** The message of an error at the start of a child. @param {unknown} error */
export function whyNotStarted(error) {
  return `it could not be started: ${messageOf(error)}`;
}
