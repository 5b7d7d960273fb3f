// Takes the pictures of the documentation, in Chromium: the beginnings of the report of a sample run and of a sample
// comparison.
//
//   node scripts/picture.mjs
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { reportHtml } from "../cli/runs/html/page.js";
import { comparisonHtml } from "../packages/compare/html.js";
import { startBrowser } from "../tests/cli/browser.mjs";
import { comparison } from "../packages/compare/tests/comparison-samples.mjs";
import { ordinary } from "../tests/cli/report-samples.mjs";
import { REPO } from "../tests/pi/harness/pi.mjs";

process.env.TZ = "UTC";
const folder = mkdtempSync(join(tmpdir(), "pi-workflows-picture-"));
const browser = await startBrowser();
try {
  await take("report", reportHtml(ordinary()), "figure");
  await take("comparison", comparisonHtml(comparison()), "#pairs ~ ul");
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}

/**
 * Takes the picture of a page, to the end of an element.
 * @param {string} name
 * @param {string} source
 * @param {string} last
 */
async function take(name, source, last) {
  const file = join(folder, `${name}.html`);
  writeFileSync(file, source);
  const page = await browser.open(pathToFileURL(file).href, { width: 900, scheme: "light" });
  const height = await page.evaluate(
    `Math.ceil(document.querySelector('${last}').getBoundingClientRect().bottom) + 10`,
  );
  const picture = await page.picture({ height, format: "webp", quality: 75 });
  writeFileSync(join(REPO, `docs/${name}.webp`), picture);
  console.log(`docs/${name}.webp: ${picture.length} bytes`);
}
