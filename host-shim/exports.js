// The exports of the loader for the command line, imported as `#loader`.
export { isAtLeast } from "./blocked-status.js";
export { SHARED_CLAIM, changeClaim, claim, noteOf, sharedClaim } from "./claims.js";
export { fieldOf, filesBelow, packageRoots } from "./files.js";
export { isName } from "./folders.js";
export { utcOffset, zoneOffset } from "./local-time.js";
export { instantiator, readManifest } from "./manifest.js";
export { installedPackages, ownPackage, packageIn, projectSettings, readText } from "./packages.js";
export { count, isOfAgent, noUsage, timeOf, usageOf } from "./usage.js";

/** @typedef {import("./interface.js").Usage} Usage */
/** @typedef {import("./files.js").PackageGrant} PackageGrant */
/** @typedef {import("./packages.js").Installed} Installed */
/** @typedef {import("./packages.js").PackageSource} PackageSource */
