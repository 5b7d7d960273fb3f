// Opens the session of pi in which a child works, with no right that its parent's session has not.
import { closeSync, constants, lstatSync, openSync, readSync, realpathSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";

import { messageOf } from "./calls.js";
import { childUi } from "./child-ui.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */
/** @typedef {import("@earendil-works/pi-coding-agent").AgentSession} AgentSession */
/** @typedef {import("@earendil-works/pi-coding-agent").SessionManager} SessionManager */
/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionFactory} ExtensionFactory */
/** @typedef {import("./interface.js").Child} ChildStart */

/**
 * The parts of a child's session.
 *
 * @typedef {object} Parent
 * @property {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi
 * @property {typeof import("@earendil-works/pi-coding-agent")} codingAgent
 * @property {Context} context that of the session
 * @property {string} folder the package's own folder: its extension is made for the child by `factory`
 * @property {string} name the package's name
 * @property {ExtensionFactory} factory
 * @property {import("./turns.js").Turns} turns those of the dialogs
 */

/** The path of an extension that is no file: one of pi's own, or the child's own. */
const OF_PI = /^(?:<|builtin:)/;

/** The maximum length of the first line of a session file, in bytes. */
const MAX_HEADER = 64 * 1024;

/**
 * Opens the session of a child. Its extensions are bound: they have handled the start of the session.
 *
 * @param {Parent} parent
 * @param {ChildStart} child
 * @param {AbortSignal} signal closes its dialogs
 * @returns {Promise<AgentSession>}
 */
export async function openChildSession(parent, child, signal) {
  const { pi, codingAgent, context, turns } = parent;
  const { cwd, sessionManager: own, mode, hasUI } = context;
  const services = await servicesOf(parent);
  const missing = notLoaded(parent, services.resourceLoader.getExtensions());
  if (missing.length > 0) {
    throw new Error(
      `These extensions, whose rules hold in this session, cannot be loaded for a child: ${missing.join(", ")}`,
    );
  }
  const { sessionManager, isNew } = sessionOf(codingAgent, own, cwd, child.session);
  if (isNew)
    for (const { customType, data } of child.entries) sessionManager.appendCustomEntry(customType, JSON.parse(data));
  const { session } = await codingAgent.createAgentSession({
    ...services,
    sessionManager,
    model: modelOf(context, child.model),
    thinkingLevel: child.thinking === undefined || child.thinking === "other" ? pi.getThinkingLevel() : child.thinking,
    // Only these can be active: those that the session allows.
    tools: pi.getAllTools().map(({ name }) => name),
  });
  try {
    const tools = child.tools ?? pi.getActiveTools();
    session.setActiveToolsByName(tools);
    keepInactive(session, services.resourceLoader.getExtensions().runtime, tools);
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
    session.dispose();
    throw error;
  }
}

/**
 * Keeps tools inactive that are not active in the parent's session when an extension registers one: pi then activates
 * all that a session allows.
 *
 * @param {AgentSession} session
 * @param {import("@earendil-works/pi-coding-agent").LoadExtensionsResult["runtime"]} runtime
 * @param {string[]} tools those that are active in the parent's session
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

/**
 * Ends a child's session: its extensions handle the end, and nothing of it goes on.
 * @param {AgentSession} session
 */
export async function closeChildSession(session) {
  try {
    await session.extensionRunner.emit({ type: "session_shutdown", reason: "quit" });
  } catch {
    // An extension that fails at the end keeps nothing open.
  }
  session.dispose();
}

/**
 * The services of pi for a child: as pi makes them for the session, with the extensions of the user, of the project as
 * far as it is trusted now, and of the command line.
 *
 * @param {Parent} parent
 */
async function servicesOf({ codingAgent, context, folder, name, factory }) {
  const { cwd } = context;
  const agentDir = codingAgent.getAgentDir();
  const projectTrusted = context.isProjectTrusted();
  const settingsManager = codingAgent.SettingsManager.create(cwd, agentDir, { projectTrusted });
  // pi gives extensions its registry of models only. It is a view of this object, which has the keys of the session
  // too.
  const { runtime: modelRuntime } = /** @type {{ runtime?: any }} */ (/** @type {unknown} */ (context.modelRegistry));
  if (!modelRuntime) throw new Error("this version of pi does not share its models with children");
  const given = codingAgent.parseArgs(process.argv.slice(2));
  const paths = (/** @type {string[] | undefined} */ values) =>
    values?.map((value) => (isLocal(value) ? resolve(cwd, value) : value));
  const services = await codingAgent.createAgentSessionServices({
    cwd,
    agentDir,
    settingsManager,
    modelRuntime,
    extensionFlagValues: given.unknownFlags,
    resourceLoaderOptions: {
      additionalExtensionPaths: paths(given.extensions),
      additionalSkillPaths: paths(given.skills),
      additionalPromptTemplatePaths: paths(given.promptTemplates),
      noExtensions: given.noExtensions,
      noSkills: given.noSkills,
      noPromptTemplates: given.noPromptTemplates,
      noThemes: true,
      noContextFiles: given.noContextFiles,
      systemPrompt: given.systemPrompt,
      appendSystemPrompt: given.appendSystemPrompt,
      extensionFactories: [{ name, factory }],
      extensionsOverride: (loaded) => {
        const extensions = loaded.extensions.filter(
          ({ path, resolvedPath }) => ![path, resolvedPath].some((file) => isWithin(folder, file)),
        );
        return { ...loaded, extensions };
      },
    },
  });
  // Themes and diagnostics are of no use here.
  const { resourceLoader } = services;
  return { cwd, agentDir, settingsManager, modelRuntime, resourceLoader };
}

/**
 * The extensions that a child lacks: those that could not be loaded for it, and those that the session is known to
 * have.
 *
 * @param {Parent} parent
 * @param {import("@earendil-works/pi-coding-agent").LoadExtensionsResult} loaded
 */
function notLoaded({ pi, folder }, { extensions, errors }) {
  const has = new Set(extensions.flatMap(({ path, resolvedPath }) => [real(path), real(resolvedPath)]));
  const known = [...pi.getAllTools(), ...pi.getCommands()].filter(({ sourceInfo }) => sourceInfo !== undefined);
  const sources = known
    .filter((/** @type {any} */ { source }) => source === undefined || source === "extension")
    .map(({ sourceInfo: { path } }) => path);
  const isOther = (/** @type {string} */ path) => !OF_PI.test(path) && !isWithin(folder, path);
  // One that is loaded may have an error too: a name that another has taken, as in the session.
  const failed = errors
    .filter(({ path }) => isOther(path) && !has.has(real(path)))
    .map(({ path, error }) => `${path} (${error})`);
  return [...new Set([...failed, ...sources.filter((path) => isOther(path) && !has.has(real(path)))])];
}

/**
 * @param {Context} context
 * @param {import("./interface.js").Model | undefined} wanted
 */
function modelOf({ modelRegistry, model }, wanted) {
  if (!wanted) return model;
  const found = modelRegistry.find(wanted.provider, wanted.id);
  if (!found || !modelRegistry.hasConfiguredAuth(found))
    throw new Error(`the model ${wanted.provider}/${wanted.id} cannot be used`);
  return found;
}

/**
 * Returns a session for a child: an earlier one of this session that can be opened, or else a new one. They lie in a
 * folder beside the file of this session, so that pi takes none of them for the newest session of the project.
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
      // A new one takes its place.
    }
  }
  return { sessionManager: SessionManager.create(cwd, folder, { parentSession: file }), isNew: true };
}

/**
 * Returns true if a file is the session of a child of the session in `parent`.
 *
 * @param {string} parent
 * @param {string} folder that of the sessions of its children
 * @param {string} file
 */
export function isChildOf(parent, folder, file) {
  try {
    if (
      dirname(file) !== folder ||
      realpathSync(folder) !== join(realpathSync(dirname(folder)), folder.slice(dirname(folder).length + 1)) ||
      !lstatSync(file).isFile()
    )
      return false;
    const { type, parentSession } = JSON.parse(firstLine(file));
    return type === "session" && parentSession === parent;
  } catch {
    return false;
  }
}

/** @param {string} file */
function firstLine(file) {
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const buffer = Buffer.alloc(MAX_HEADER);
    const text = buffer.toString("utf8", 0, readSync(descriptor, buffer, 0, MAX_HEADER, 0));
    return text.slice(0, text.indexOf("\n"));
  } finally {
    closeSync(descriptor);
  }
}

/** @param {string} source of an extension, on pi's command line */
function isLocal(source) {
  return !/^(?:npm|git|github|https?|ssh):/.test(source);
}

/** @param {string} folder @param {string} file */
function isWithin(folder, file) {
  return `${real(file)}${sep}`.startsWith(real(folder).replace(/[/\\]?$/, sep));
}

/** @param {string} path */
function real(path) {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The message of an error at the start of a child. @param {unknown} error */
export function whyNotStarted(error) {
  return `it could not be started: ${messageOf(error)}`;
}
