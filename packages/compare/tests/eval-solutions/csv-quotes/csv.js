/** Parses one line of CSV into its fields. */
export function parseLine(line) {
  const fields = [];
  const field = /\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))(,|$)/gy;
  for (let end = ","; end === ","; ) {
    const [, quoted, plain, next] = field.exec(line);
    fields.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'));
    end = next;
  }
  return fields;
}

/** Parses a text with a line of headings into records. */
export function parse(text) {
  const [head, ...lines] = text.split("\n").filter((line) => line !== "");
  const names = parseLine(head);
  return lines.map((line) => Object.fromEntries(parseLine(line).map((field, index) => [names[index], field])));
}
