/** Parses one line of CSV into its fields. */
export function parseLine(line) {
  return line.split(",").map((field) => field.trim());
}

/** Parses a text with a line of headings into records. */
export function parse(text) {
  const [head, ...lines] = text.split("\n").filter((line) => line !== "");
  const names = parseLine(head);
  return lines.map((line) => Object.fromEntries(parseLine(line).map((field, index) => [names[index], field])));
}
