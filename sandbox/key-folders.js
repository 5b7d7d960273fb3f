// The folders of the user's ssh keys: a command that reads the keys can open a shell on another machine, and a command
// that writes there a shell on this machine, both without limits.
import { homedir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";

import { refuseOpenable } from "./ways.js";
import { unlessFails } from "./plain.js";
import { realPath } from "./write-target.js";

/** Returns the paths, whose last part may be a link or absent. ssh does not look for its folder by `HOME`. */
export function keyFolders() {
  const homes = [homedir, () => userInfo().homedir].flatMap((home) => {
    const path = unlessFails(home); // The user may not exist.
    if (path === undefined || !isAbsolute(path)) return [];
    try {
      return [realPath(path)];
    } catch (error) {
      refuseOpenable(error, path);
      return []; // The folder cannot be reached.
    }
  });
  return [...new Set(homes)].map((home) => join(home, ".ssh"));
}
