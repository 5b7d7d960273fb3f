// The folders of the user's ssh keys: who has them opens a shell elsewhere, and who writes them opens one on this
// machine, that no limits hold in.
import { homedir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";

import { realPath } from "./write-target.js";

/**
 * Returns their paths, of which the last component may be a link or absent. ssh does not look for its folder by `HOME`.
 */
export function keyFolders() {
  const homes = [homedir, () => userInfo().homedir].flatMap((home) => {
    try {
      const path = home();
      return isAbsolute(path) ? [realPath(path)] : [];
    } catch {
      return []; // There is no such user, or the folder cannot be reached.
    }
  });
  return [...new Set(homes)].map((home) => join(home, ".ssh"));
}
