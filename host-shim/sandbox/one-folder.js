// A command line outside of pi that may write one folder.
import { confinedLine } from "./command-line.js";
import { sessionFolder } from "./session-folder.js";

/**
 * Returns a confined command line that may write a folder and nothing else.
 *
 * @param {string} line without NUL
 * @param {string} folder
 * @param {{ cwd: string, temporary: string, network: boolean, readOnly?: string[] }} places `temporary` is not below
 *   the folder
 */
export function lineInFolder(line, folder, { cwd, temporary, network, readOnly = [] }) {
  const { standIns } = sessionFolder(folder, lineInFolder);
  return confinedLine(line, {
    writable: [folder],
    readOnly,
    network,
    cwd,
    temporary,
    hidden: [],
    fixed: [],
    unreadable: [],
    kept: [],
    standIns,
  });
}
