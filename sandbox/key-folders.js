// The folders of the user's ssh keys: a command that reads the keys can open a shell on another machine, and a command
// that writes there a shell on this machine, both without limits.
import { homedir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";

import { realPath } from "./write-target.js";

/** Returns the paths, whose last part may be a link or absent. ssh does not look for its folder by `HOME`. */
export function keyFolders() {
  const homes = [homedir, () => userInfo().homedir].flatMap((home) => {
    try {
      const path = home();
      return isAbsolute(path) ? [realPath(path)] : [];
    } catch {
      return []; // The user does not exist, or the folder cannot be reached.
    }
  });
  return [...new Set(homes)].map((home) => join(home, ".ssh"));
}
