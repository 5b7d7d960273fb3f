// The file with the whole output of a command line. It is written while the command line runs: the output that this
// process had received before a kill is in the file.
import { closeSync, writeSync } from "node:fs";

import { messageOf } from "./plain.js";
import { worded } from "./untrusted-files.js";

/** The maximum size of the file in bytes, with the note at the end of output that is longer. */
export const MAX = 10_000_000;

/** The room for the note, in bytes. */
const NOTE = 100;

/** The path of the file, or the reason why it lacks output. @typedef {{ tag: "ok", val: string } | { tag: "err", val: string }} Written */

export class OutputFile {
  #create;
  /** @type {{ descriptor: number, path: string } | undefined} */
  #file;
  #size = 0;
  #closed = false;
  /** The reason why the file lacks output. @type {string | undefined} */
  #failure;

  /** @param {() => { descriptor: number, path: string }} create is called when there is output */
  constructor(create) {
    this.#create = create;
  }

  /** True if nothing more is written. */
  get isFull() {
    return this.#closed || this.#failure !== undefined || this.#size >= MAX - NOTE;
  }

  /** @param {Buffer} data */
  add(data) {
    if (data.length === 0 || this.isFull) return;
    try {
      this.#file ??= this.#create();
      const { path } = this.#file;
      worded(path, () => this.#write(data.subarray(0, MAX - NOTE - this.#size)));
    } catch (error) {
      this.#failure = messageOf(error);
    }
  }

  /** @param {Buffer} data */
  #write(data) {
    if (!this.#file) return;
    for (let written = 0; written < data.length;) {
      const length = writeSync(this.#file.descriptor, data, written, data.length - written);
      written += length;
      this.#size += length;
    }
  }

  /**
   * Closes the file, and returns its path, or the reason why the file lacks output; `undefined` if there was no output.
   * Later output is ignored.
   * @param {number} total the size of the output in bytes
   * @returns {Written | undefined}
   */
  close(total) {
    const file = this.#file;
    try {
      if (file && this.#failure === undefined && total > this.#size) {
        worded(file.path, () => this.#write(Buffer.from(`\n[${total - this.#size} more bytes]\n`)));
      }
    } catch (error) {
      this.#failure = messageOf(error);
    }
    this.#closed = true;
    if (file) closeSync(file.descriptor);
    if (this.#failure !== undefined) return { tag: "err", val: this.#failure };
    return file && { tag: "ok", val: file.path };
  }
}
