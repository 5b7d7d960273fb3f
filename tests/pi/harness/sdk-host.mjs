// A program that embeds pi by its SDK: it starts a workflow in a session with an extension, allows what is asked, and
// prints the session's entries and what the extension told, as JSON.
//
//   node sdk-host.mjs TASK COMMAND PI EXTENSION STORE    PI is the folder of pi's package
//
// STORE is `files`, `memory`, or `unbound`: the newest session of the files, whose start no extension is told.
import { pathToFileURL } from "node:url";

const [task, command, home, extension, store] = process.argv.slice(2);
/** @type {typeof import("@earendil-works/pi-coding-agent")} */
const pi = await import(pathToFileURL(`${home}/dist/index.js`).href);
const cwd = process.cwd();
const agentDir = pi.getAgentDir();
const settingsManager = pi.SettingsManager.create(cwd, agentDir);
const additionalExtensionPaths = [extension];
const resourceLoader = new pi.DefaultResourceLoader({ cwd, agentDir, settingsManager, additionalExtensionPaths });
await resourceLoader.reload();
const { errors } = resourceLoader.getExtensions();
if (errors.length > 0) throw new Error(errors.map(({ error }) => error).join("\n"));

const { SessionManager } = pi;
const stores = {
  files: SessionManager.create,
  memory: SessionManager.inMemory,
  unbound: SessionManager.continueRecent,
};
const sessionManager = stores[/** @type {keyof typeof stores} */ (store)].call(SessionManager, cwd);
const { session } = await pi.createAgentSession({ cwd, agentDir, settingsManager, resourceLoader, sessionManager });
/** @type {string[]} */
const told = [];
const uiContext = /** @type {any} */ ({
  select: async (/** @type {string} */ _title, /** @type {string[]} */ options) =>
    options.find((option) => option.startsWith("Yes")),
  notify: (/** @type {string} */ text) => void told.push(text),
  setStatus: () => {},
  setWidget: () => {},
  setTitle: () => {},
});
if (store !== "unbound") await session.bindExtensions({ uiContext, onError: ({ error }) => void told.push(error) });
await session.prompt(`${command} ${task}`);
console.log(JSON.stringify({ told, entries: sessionManager.getEntries() }));
session.dispose();
