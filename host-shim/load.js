// Loads a component that exports `pi:extension/guest` as a pi extension.
//
// Invariant: this folder is independent of any particular extension. It loads every component that implements the world
// of `wit/extension.wit`.
//
// The parts, and who calls whom:
//
//    pi ── index.ts ─── load.js            manifest.js: reads the manifest, compiles the component
//     │                    │
//     │                    ▼
//     ├─ events ───▶ extension.js          adds the handlers, provides the imports, owns the other parts
//     │                │   events.js           pi's events to the interface's, outcomes to results
//     │                │   confinement.js      carries out the outcome `confine`, for the file tools by file-tools.js;
//     │                │                       last-handler.js: behind the handlers of all extensions
//     │                ▼
//     ├─ tools.js ─────┤                   the guest's tools, and the calls that run; argument-text.js: none with
//     │                │                   incomplete arguments
//     ├─ commands.js ──┤                   the guest's commands; joined-prompt.js: none that pi has joined with
//     │                │                   another text runs
//     ├─ renderers.js ─┤                   its messages and entries, drawn by drawing.js
//     ├─ timers.js ────┤
//     │                ▼
//     │             calls.js               one call at a time, with its context of pi
//     │                │
//     │                ▼
//     │             guest.js               the instance: started again after a trap, switched off after three
//     │                │
//     │                ▼
//     │          the component             exports of `pi:extension/guest`
//     │                │
//     │                ▼                   its imports:
//     │◀─ api ─────── extension.js (registrations), actions.js, view.js, models.js
//     │◀─ context ─── context.js, models.js, model-failure.js
//     │◀─ session ─── session.js, usage.js, branch-entries.js; claims.js: which process works on the session
//     │◀─ ui ──────── ui.js, terminal-watch.js, blocked-status.js
//     │   files ───── files.js, snapshot.js, packages.js: what the manifest grants
//     │   store ───── store.js
//     │   timers ──── timers.js; agent-output.js: when the agent is silent; clock.js: skipped time
//     │   programs ── programs.js
//     │   folders ─── folders.js: what the manifest grants
//     │◀─ children ── children/: child agents, each an Extension in a session of its own
//     │
//     │             an outcome `pending` of a tool or a command goes to
//     └◀─────────── requests.js            which shows dialogs.js or runs a command line, and resumes the guest;
//                        shell.js          pi's shell, with the settings as at the session's start
//                        turns.js          one dialog and one command after another, also those of children;
//                                          dialog-turns.js: of all extensions, where pi loses dialogs
//
// Below all of them: interface.js (version and types), json.js, messages.js, local-time.js, and pi-session.js: the way to
// pi's session. The package `#sandbox` (sandbox/) confines calls, runs command lines and opens files; it knows nothing of
// this folder. exports.js is what the command line (cli/) gets of this folder.
import { Extension } from "./extension.js";
import { instantiator, readManifest, readRegistrations } from "./manifest.js";

/**
 * pi's own packages, passed in by the module that pi loads.
 * @typedef {object} Host
 * @property {typeof import("@earendil-works/pi-coding-agent")} codingAgent
 * @property {typeof import("@earendil-works/pi-tui")} tui
 * @property {() => undefined} [evaluation] a value of its own for each evaluation of that module by pi
 */

/**
 * Creates the extension of a package.
 * @param {URL} manifestUrl the package's `package.json`
 * @param {Host} host
 * @returns {import("@earendil-works/pi-coding-agent").ExtensionFactory}
 */
export function load(manifestUrl, host) {
  const evaluation = () => undefined;
  return (pi) => {
    const manifest = readManifest(manifestUrl);
    const extension = new Extension(pi, { ...host, evaluation }, manifest, instantiator(manifestUrl, manifest));
    extension.start(readRegistrations(manifestUrl, manifest));
  };
}
