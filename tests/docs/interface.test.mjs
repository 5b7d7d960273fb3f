// docs/interface.md lists all members of pi's extension interface: compared with pi's type declarations in all tested
// versions, with wit/extension.wit and with the shim.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import ts from "typescript";

import { EVENTS, eventName } from "../../host-shim/events.js";
import { LONG } from "../pi/harness/extent.mjs";
import { PI_VERSIONS, REPO, piCli } from "../pi/harness/pi.mjs";

/** The sections of the page besides "Events": declarations of pi. */
const DECLARATIONS = [
  ...["ExtensionAPI", "ExtensionContext", "ExtensionToolContext", "ExtensionCommandContext", "ReplacedSessionContext"],
  ...["ExtensionUIContext", "ReadonlySessionManager"],
];
const EVENT_SECTION = "Events";
const STATES = ["mirrored", "partly", "not yet", "not needed", "not possible"];

/** Names of members, by section. @typedef {Map<string, Set<string>>} Members */
/** @typedef {{ section: string, member: string, state: string, text: string, since: string }} Row */

const PAGE = readFileSync(join(REPO, "docs/interface.md"), "utf8");
const ITEMS = witItems(readFileSync(join(REPO, "wit/extension.wit"), "utf8"));
const OF_VERSIONS = new Map(PI_VERSIONS.map((version) => [version, membersOf(version)]));

/** @param {string} path */
function parse(path) {
  return ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);
}

/** The folder with pi's declarations. @param {string} version */
function declarationsOf(version) {
  return join(dirname(piCli(version)[1]), "../core");
}

/**
 * Returns the members of pi's declarations.
 * @param {string} version
 * @returns {Members}
 */
function membersOf(version) {
  /** @type {Members} */
  const members = new Map();
  const inherits = new Set(["ExtensionContext"]);
  for (const statement of parse(join(declarationsOf(version), "extensions/types.d.ts")).statements) {
    if (!ts.isInterfaceDeclaration(statement)) continue;
    const name = statement.name.text;
    const bases =
      statement.heritageClauses?.flatMap(({ types }) => types.map((type) => type.expression.getText())) ?? [];
    if (bases.some((base) => inherits.has(base))) inherits.add(name);
    if (!DECLARATIONS.includes(name) && !inherits.has(name)) continue;
    members.set(name, new Set(statement.members.map((member) => nameOf(member.name))));
    if (name === "ExtensionAPI") members.set(EVENT_SECTION, new Set(statement.members.flatMap(eventOf)));
  }
  members.set(
    "ReadonlySessionManager",
    pickedMembers(parse(join(declarationsOf(version), "session-manager.d.ts")), "ReadonlySessionManager"),
  );
  return members;
}

/** @param {ts.PropertyName | undefined} name */
function nameOf(name) {
  assert.ok(name && ts.isIdentifier(name), "a member without a plain name");
  return name.text;
}

/** Returns the event of an overload of `on`. @param {ts.TypeElement} member */
function eventOf(member) {
  if (!ts.isMethodSignature(member) || nameOf(member.name) !== "on") return [];
  const type = member.parameters[0].type;
  assert.ok(type && ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal), "an event without a name");
  return [type.literal.text];
}

/**
 * Returns the members of a type `Pick<…, "a" | "b">`.
 *
 * @param {ts.SourceFile} file
 * @param {string} name
 */
function pickedMembers(file, name) {
  const alias = file.statements.find(
    (statement) => ts.isTypeAliasDeclaration(statement) && statement.name.text === name,
  );
  assert.ok(alias && ts.isTypeAliasDeclaration(alias) && ts.isTypeReferenceNode(alias.type), `${name} is no type`);
  const keys = alias.type.typeArguments?.[1];
  assert.ok(alias.type.typeName.getText() === "Pick" && keys && ts.isUnionTypeNode(keys), `${name} is no Pick`);
  return new Set(
    keys.types.map((key) => {
      assert.ok(ts.isLiteralTypeNode(key) && ts.isStringLiteral(key.literal));
      return key.literal.text;
    }),
  );
}

/**
 * Returns the items of a WIT package: `interface.item`, and `interface.type.part` for the cases and fields of a type.
 *
 * @param {string} wit
 * @returns {Map<string, string>} the kind of each item: "func", "part", or the keyword of a type
 */
function witItems(wit) {
  /** @type {Map<string, string>} */
  const items = new Map();
  const tokens = wit.replace(/\/\/.*$/gm, "").match(/->|[\w-]+|[^\s\w]/g) ?? [];
  /** The names of the blocks around the token. @type {(string | undefined)[]} */
  const blocks = [];
  /** The tokens of the current declaration. @type {string[]} */
  let declaration = [];
  /** The number of open brackets in it. */
  let brackets = 0;
  const end = () => {
    const [first, second, third] = declaration;
    const [inInterface, inType] = blocks;
    if (inType) items.set(`${inInterface}.${inType}.${first}`, "part");
    else if (inInterface && second === ":") items.set(`${inInterface}.${first}`, third);
    else if (inInterface && first === "type") items.set(`${inInterface}.${second}`, first);
    declaration = [];
  };
  for (const token of tokens) {
    if (token === "{") {
      const [kind, name] = declaration;
      // The names that `use` and a world list are items of other interfaces.
      const isItem = kind !== "use" && kind !== "world";
      if (isItem && blocks[0]) items.set(`${blocks[0]}.${name}`, kind);
      blocks.push(isItem ? name : undefined);
      declaration = [];
    } else if (token === "}" || (brackets === 0 && (token === "," || token === ";"))) {
      if (declaration.length > 0) end();
      if (token === "}") blocks.pop();
    } else {
      if (token === "(" || token === "<") brackets += 1;
      if (token === ")" || token === ">") brackets -= 1;
      declaration.push(token);
    }
  }
  return items;
}

/** Returns the rows of the page's tables of members. @param {string} page @returns {Row[]} */
function rowsOf(page) {
  return page
    .split(/^## /m)
    .slice(1)
    .flatMap((part) => {
      const section = part.slice(0, part.indexOf("\n")).replaceAll("`", "");
      if (![...DECLARATIONS, EVENT_SECTION].includes(section)) return [];
      return [...part.matchAll(/^\| `(\w+)` \|(.*)\|$/gm)].map(([, member, rest]) => {
        const cells = rest.split("|").map((cell) => cell.trim());
        assert.equal(cells.length, 3, `${section}, ${member}: not four cells`);
        return { section, member, state: cells[0], text: cells[1], since: cells[2] };
      });
    });
}

/** Returns the items of the interface that a text names. @param {string} text */
function itemsIn(text) {
  const interfaces = new Set([...ITEMS.keys()].map((item) => item.split(".")[0]));
  const spans = [...text.matchAll(/`([^`\n]+)`/g)].map(([, span]) => span);
  return spans.filter((span) => /^[a-z-]+(\.[a-z-]+)+$/.test(span) && interfaces.has(span.split(".")[0]));
}

/**
 * Returns the faults of a page.
 *
 * @param {string} page
 * @param {Map<string, Members>} versions
 */
function faults(page, versions) {
  const rows = rowsOf(page);
  const known = rows.map(({ section, member }) => `${section}, ${member}`);
  const found = known
    .filter((name, index) => known.indexOf(name) !== index)
    .map((name) => `${name}: twice in the table`);
  for (const [version, sections] of versions) {
    for (const [section, members] of sections) {
      for (const member of members) {
        const name = `${section}, ${member}`;
        if (!known.includes(name)) found.push(`${name}: of pi ${version}, missing in the table`);
      }
    }
  }
  for (const { section, member, state, text, since } of rows) {
    const name = `${section}, ${member}`;
    const having = [...versions]
      .filter(([, sections]) => sections.get(section)?.has(member))
      .map(([version]) => version);
    const isInNewest = having.join() === [...versions.keys()].slice(0, having.length).join();
    const expected = having.length === versions.size ? "" : isInNewest ? having.at(-1) : having.join(", ");
    if (having.length === 0) found.push(`${name}: in no version of pi`);
    else if (since !== expected) found.push(`${name}: since "${expected}", not "${since}"`);
    if (!STATES.includes(state)) found.push(`${name}: unknown state "${state}"`);
    const items = itemsIn(text);
    if ((state === "mirrored" || state === "partly") && items.length === 0) found.push(`${name}: ${state} by no item`);
    if (state.startsWith("not ") && state !== "not yet" && text === "") found.push(`${name}: no reason`);
  }
  return [
    ...found,
    ...itemsIn(page)
      .filter((item) => !ITEMS.has(item))
      .map((item) => `${item} is not in wit/extension.wit`),
  ];
}

test("docs/interface.md lists every member of pi's extension interface, in each tested version", () => {
  assert.ok(PI_VERSIONS.length > 1);
  for (const [version, sections] of OF_VERSIONS) {
    const sizes = [...sections].map(([, { size }]) => size);
    assert.ok(
      sizes.every((size) => size > 0) && sizes.reduce((sum, size) => sum + size, 0) > 130,
      `pi ${version}: ${sizes}`,
    );
  }
  assert.deepEqual(faults(PAGE, OF_VERSIONS), []);
});

test("a fault of the tables is reported", () => {
  /** @type {[from: string | RegExp, to: string, fault: RegExp][]} */
  const changes = [
    [/^\| `appendEntry` .*\n/m, "", /^ExtensionAPI, appendEntry: of pi .*, missing in the table$/],
    [/^\| `context` .*\n/m, "", /^Events, context: of pi .*, missing in the table$/],
    ["| `getTree` |", "| `getTrees` |", /^ReadonlySessionManager, getTrees: in no version of pi$/],
    ["`context.cwd` | |", "`context.folder` | |", /^context\.folder is not in wit/],
    ["`guest.event.agent-start` | |", "`guest.event.agent-begin` | |", /^guest\.event\.agent-begin is not in wit/],
    ["`api.append-entry` | |", "| |", /^ExtensionAPI, appendEntry: mirrored by no item$/],
    [
      "| `getSettings` | not yet | Needs a grant: the settings are the user's. | 1.5.2 |",
      "| `getSettings` | not yet | | |",
      /^ExtensionAPI, getSettings: since/,
    ],
    ["| `notify` | mirrored |", "| `notify` | done |", /^ExtensionUIContext, notify: unknown state/],
    ["| `reload` | not needed | The user reloads extensions.", "| `reload` | not needed |", /: no reason$/],
  ];
  for (const [from, to, fault] of changes) {
    const changed = PAGE.replace(from, to);
    assert.notEqual(changed, PAGE, String(from));
    const reported = faults(changed, OF_VERSIONS);
    assert.ok(
      reported.some((line) => fault.test(line)),
      `${fault}\n${reported.join("\n")}`,
    );
  }
});

test("docs/interface.md names every function of wit/extension.wit, and every event", () => {
  const named = new Set(itemsIn(PAGE));
  const all = [...ITEMS]
    .filter(([item, kind]) => kind === "func" || /^guest\.(event|event-outcome|request)\../.test(item))
    .map(([item]) => item);
  assert.ok(all.length > 70, String(all.length));
  assert.deepEqual(
    all.filter((item) => !named.has(item) && item !== "guest.event-outcome.none"),
    [],
  );
  assert.equal(ITEMS.get("types.tool-call.parent"), "part");
  assert.equal(ITEMS.get("types.json"), "type");
});

test("the shim uses every mirrored member, and of the others those that are mirrored in part", LONG, () => {
  const used = usedByTheShim();
  assert.ok(used.size > 40, [...used].join("\n"));
  for (const { section, member, state, text } of rowsOf(PAGE)) {
    const name = `${section}, ${member}`;
    const mayBeUsed = state === "mirrored" || state === "partly" || text.startsWith("The host uses it");
    assert.ok(
      used.has(name) ? mayBeUsed : state !== "mirrored",
      `${name}: ${state}; used by the shim: ${used.has(name)}`,
    );
    if (section !== EVENT_SECTION || !Object.hasOwn(EVENTS, member)) continue;
    const [kind] = itemsIn(text)
      .filter((item) => item.startsWith("guest.event."))
      .map((item) => item.slice("guest.event.".length));
    assert.equal(eventName(kind), member);
  }
});

/** Returns the members of pi's declarations that the code of the shim names. */
function usedByTheShim() {
  const { config } = ts.readConfigFile(join(REPO, "tsconfig.json"), ts.sys.readFile);
  const { options, fileNames } = ts.parseJsonConfigFileContent(
    { ...config, include: ["host-shim/**/*.js"], exclude: ["host-shim/component"] },
    ts.sys,
    REPO,
  );
  const program = ts.createProgram(fileNames, options);
  const checker = program.getTypeChecker();
  /** @type {Set<string>} */
  const used = new Set(Object.keys(EVENTS).map((name) => `${EVENT_SECTION}, ${name}`));
  const add = (/** @type {ts.Symbol | undefined} */ symbol) => {
    for (const { parent } of symbol?.declarations ?? []) {
      const owner = (ts.isInterfaceDeclaration(parent) || ts.isClassDeclaration(parent)) && parent.name?.text;
      const section = owner === "SessionManager" ? "ReadonlySessionManager" : owner;
      if (section && symbol && DECLARATIONS.includes(section)) used.add(`${section}, ${symbol.name}`);
    }
  };
  const visit = (/** @type {ts.Node} */ node) => {
    if (ts.isPropertyAccessExpression(node)) add(checker.getSymbolAtLocation(node.name));
    if (ts.isObjectBindingPattern(node)) {
      const type = checker.getTypeAtLocation(node);
      for (const { name, propertyName } of node.elements) add(type.getProperty((propertyName ?? name).getText()));
    }
    if (
      ts.isCallExpression(node) &&
      node.expression.getText().endsWith("pi.on") &&
      node.arguments[0] &&
      ts.isStringLiteral(node.arguments[0])
    ) {
      used.add(`${EVENT_SECTION}, ${node.arguments[0].text}`);
    }
    ts.forEachChild(node, visit);
  };
  for (const name of fileNames) visit(/** @type {ts.SourceFile} */ (program.getSourceFile(name)));
  return used;
}
