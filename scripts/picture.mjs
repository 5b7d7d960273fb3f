// Takes the picture of the HTML report in the documentation: the beginning of the report of a sample run, in Chromium.
//
//   node scripts/picture.mjs
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { reportHtml } from "../cli/runs/html/report.js";
import { startBrowser } from "../tests/cli/browser.mjs";
import { ordinary } from "../tests/cli/report-samples.mjs";
import { REPO } from "../tests/pi/harness/pi.mjs";

process.env.TZ = "UTC";
const folder = mkdtempSync(join(tmpdir(), "pi-workflows-picture-"));
const browser = await startBrowser();
try {
  const file = join(folder, "report.html");
  writeFileSync(file, reportHtml(ordinary()));
  const page = await browser.open(pathToFileURL(file).href, { width: 900, scheme: "light" });
  const height = await page.evaluate("Math.ceil(document.querySelector('figure').getBoundingClientRect().bottom) + 10");
  const picture = await page.picture({ height, format: "webp", quality: 80 });
  writeFileSync(join(REPO, "docs/report.webp"), picture);
  console.log(`docs/report.webp: ${picture.length} bytes`);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
