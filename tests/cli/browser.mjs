// Drives Chromium through its DevTools protocol.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { onExit } from "../pi/harness/on-exit.mjs";

/** Time for the browser to answer, in milliseconds. */
const PATIENCE = 180_000;

/**
 * @typedef {{ method: string, params: any }} Event
 *
 * @typedef {object} View
 * @property {number} width in CSS pixels
 * @property {"light" | "dark"} scheme
 * @property {number} [height]
 * @property {number} [scale] pixels of a picture for each CSS pixel
 *
 * @typedef {object} Page
 * @property {Event[]} events all events since the page was made
 * @property {(view: View) => Promise<void>} resize
 * @property {(expression: string) => Promise<any>} evaluate
 * @property {(options?: { height?: number, format?: string, quality?: number }) => Promise<Buffer>} picture the top of
 *   the page, of the height of the view or of another; a PNG by default
 * @property {() => Promise<Buffer>} print a PDF
 */

/** Starts Chromium without a window. */
export async function startBrowser() {
  const folder = mkdtempSync(join(tmpdir(), "pi-workflows-browser-"));
  const parameters = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    `--user-data-dir=${folder}`,
    "--remote-debugging-pipe",
    "about:blank",
  ];
  const child = spawn("chromium", parameters, {
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    env: { ...process.env, HOME: folder, TZ: "UTC" },
  });
  const forget = onExit(() => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const [input, output] = [
    /** @type {import("node:stream").Writable} */ (child.stdio[3]),
    /** @type {import("node:stream").Readable} */ (child.stdio[4]),
  ];
  /** @type {Map<number, { resolve: (result: any) => void, reject: (error: Error) => void }>} */
  const asked = new Map();
  /** @type {Map<string, (event: Event) => void>} */
  const listeners = new Map();
  const fail = (/** @type {Error} */ error) => {
    for (const { reject } of asked.values()) reject(error);
    asked.clear();
  };
  child.once("error", fail);
  child.once("exit", (status) => fail(new Error(`Chromium ended with ${status}.`)));
  input.on("error", () => {});
  let rest = "";
  output.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
    const messages = (rest + text).split("\0");
    rest = messages.pop() ?? "";
    for (const message of messages) {
      const { id, result, error, method, params, sessionId } = JSON.parse(message);
      if (id === undefined) listeners.get(sessionId)?.({ method, params });
      else if (error) asked.get(id)?.reject(new Error(`${error.message} ${error.data ?? ""}`));
      else asked.get(id)?.resolve(result);
      asked.delete(id);
    }
  });
  let last = 0;
  /** @param {string} method @param {object} [params] @param {string} [sessionId] @returns {Promise<any>} */
  const send = (method, params = {}, sessionId) =>
    new Promise((resolve, reject) => {
      const id = (last += 1);
      const timer = setTimeout(() => reject(new Error(`Chromium does not answer ${method}.`)), PATIENCE);
      asked.set(id, {
        resolve: (result) => (clearTimeout(timer), resolve(result)),
        reject: (error) => (clearTimeout(timer), reject(error)),
      });
      input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });

  /** Opens a page. @param {string} url @param {View} view @returns {Promise<Page>} */
  async function open(url, view) {
    const { targetId } = await send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
    /** @type {Event[]} */
    const events = [];
    /** @type {() => void} */
    let loaded = () => {};
    const load = new Promise((resolve) => (loaded = () => resolve(undefined)));
    listeners.set(sessionId, (event) => {
      events.push(event);
      if (event.method === "Page.loadEventFired") loaded();
    });
    const ask = (/** @type {string} */ method, /** @type {object} */ params = {}) => send(method, params, sessionId);
    for (const domain of ["Page", "Network", "Runtime", "Log"]) await ask(`${domain}.enable`);
    const resize = async (/** @type {View} */ { width, scheme, height = 800, scale = 1 }) => {
      await ask("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: scale, mobile: width < 500 });
      await ask("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    };
    await resize(view);
    await ask("Page.navigate", { url });
    await load;
    const evaluate = async (/** @type {string} */ expression) => {
      const { result, exceptionDetails } = await ask("Runtime.evaluate", {
        expression,
        returnByValue: true,
        awaitPromise: true,
      });
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value;
    };
    const picture = async (
      /** @type {{ height?: number, format?: string, quality?: number }} */ { height, ...options } = {},
    ) => {
      const { cssContentSize, cssLayoutViewport } = await ask("Page.getLayoutMetrics");
      const size = {
        width: cssContentSize.width,
        height: Math.min(height ?? cssLayoutViewport.clientHeight, cssContentSize.height),
      };
      const whole = size.height > cssLayoutViewport.clientHeight;
      const { data } = await ask("Page.captureScreenshot", {
        ...options,
        ...(whole && { captureBeyondViewport: true, clip: { x: 0, y: 0, ...size, scale: 1 } }),
      });
      return Buffer.from(data, "base64");
    };
    const print = async () =>
      Buffer.from((await ask("Page.printToPDF", { printBackground: false, preferCSSPageSize: true })).data, "base64");
    return { events, resize, evaluate, picture, print };
  }

  async function close() {
    const ended = new Promise((resolve) =>
      child.exitCode === null && child.signalCode === null ? child.once("exit", resolve) : resolve(undefined),
    );
    await send("Browser.close").catch(() => child.kill("SIGKILL"));
    await ended;
    forget();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }

  return { open, close };
}
