// Which places TypeScript's own language service renames together, as lines that `bench.rename --data` reads.
//
//   node bench/typescript_truth.mjs ROOT COUNT SEED > truth.jsonl
//
// TypeScript comes from the node_modules of the folder it is run in: `npm install typescript@5` there first.
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";

const ts = createRequire(path.join(process.cwd(), "package.json"))("typescript");
const root = path.resolve(process.argv[2]);
const count = Number(process.argv[3] ?? 100);
let state = Number(process.argv[4] ?? 1);

function random() {
  // Good enough to choose by, and the same everywhere.
  state = (state * 1103515245 + 12345) % 2147483648;
  return state / 2147483648;
}

function files(folder) {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((one) => {
    const full = path.join(folder, one.name);
    if (one.isDirectory()) return one.name === "node_modules" ? [] : files(full);
    return /\.tsx?$/.test(one.name) && !one.name.endsWith(".d.ts") ? [full] : [];
  });
}

const config = ts.findConfigFile(root, ts.sys.fileExists);
const options = config
  ? ts.parseJsonConfigFileContent(ts.readConfigFile(config, ts.sys.readFile).config, ts.sys, path.dirname(config)).options
  : { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, target: ts.ScriptTarget.ES2022, strict: true };
const names = files(root).sort();
const host = {
  getScriptFileNames: () => names,
  getScriptVersion: () => "1",
  getScriptSnapshot: (name) => (fs.existsSync(name) ? ts.ScriptSnapshot.fromString(fs.readFileSync(name, "utf8")) : undefined),
  getCurrentDirectory: () => root,
  getCompilationSettings: () => ({ ...options, allowJs: false, noEmit: true }),
  getDefaultLibFileName: (chosen) => ts.getDefaultLibFilePath(chosen),
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
  readDirectory: ts.sys.readDirectory,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
};
const service = ts.createLanguageService(host, ts.createDocumentRegistry());
const program = service.getProgram();
const inside = (file) => !path.relative(root, file).startsWith("..");

const kinds = new Map([
  [ts.SyntaxKind.FunctionDeclaration, "function"],
  [ts.SyntaxKind.ClassDeclaration, "class"],
  [ts.SyntaxKind.InterfaceDeclaration, "interface"],
  [ts.SyntaxKind.TypeAliasDeclaration, "type"],
  [ts.SyntaxKind.EnumDeclaration, "enum"],
  [ts.SyntaxKind.MethodDeclaration, "method"],
  [ts.SyntaxKind.PropertyDeclaration, "attr"],
  [ts.SyntaxKind.VariableDeclaration, "variable"],
  [ts.SyntaxKind.Parameter, "parameter"],
]);
const found = new Map();
for (const name of names) {
  const source = program.getSourceFile(name);
  const visit = (node) => {
    const kind = kinds.get(node.kind);
    if (kind && node.name && ts.isIdentifier(node.name)) {
      const top = node.parent.kind === ts.SyntaxKind.SourceFile || node.parent?.parent?.parent?.kind === ts.SyntaxKind.SourceFile;
      const said = kind === "variable" && top ? "constant" : kind;
      if (!found.has(said)) found.set(said, []);
      found.get(said).push([name, node.name.getStart(source), node.name.text]);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}

function place(file, at) {
  const { line, character } = program.getSourceFile(file).getLineAndCharacterOfPosition(at);
  return [path.relative(root, file), line, character];
}

const comments = new Map();
function isCode(file, at) {
  // The service renames in `{@link name}` and `@param name` too; those are the documentation sweep's.
  if (!comments.has(file)) {
    const text = program.getSourceFile(file).text;
    const spans = [];
    const look = (node) => {
      for (const one of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []) spans.push([one.pos, one.end]);
      for (const one of ts.getTrailingCommentRanges(text, node.getEnd()) ?? []) spans.push([one.pos, one.end]);
      node.getChildren(program.getSourceFile(file)).forEach(look);
    };
    look(program.getSourceFile(file));
    comments.set(file, spans);
  }
  return !comments.get(file).some(([start, end]) => start <= at && at < end);
}

const checker = program.getTypeChecker();
const preferences = { providePrefixAndSuffixTextForRename: true };

const merging = new Set([
  ts.SyntaxKind.FunctionDeclaration,
  ts.SyntaxKind.ClassDeclaration,
  ts.SyntaxKind.InterfaceDeclaration,
  ts.SyntaxKind.TypeAliasDeclaration,
  ts.SyntaxKind.EnumDeclaration,
  ts.SyntaxKind.ModuleDeclaration,
  ts.SyntaxKind.VariableDeclaration,
  ts.SyntaxKind.BindingElement,
]);

function nodeAt(file, at) {
  let found = program.getSourceFile(file);
  for (let next = found; next; ) {
    found = next;
    next = undefined;
    ts.forEachChild(found, (one) => {
      if (!next && one.getStart(program.getSourceFile(file)) <= at && at < one.getEnd()) next = one;
    });
  }
  return found;
}

function furtherOn(file, at) {
  // Where the service stops and the name goes on: it gives `export { name }` an alias for whoever imports it from there,
  // and of what one symbol means as a type and as a value it renames only the one that was pointed at.
  const node = nodeAt(file, at);
  if (!ts.isIdentifier(node)) return [];
  if (ts.isExportSpecifier(node.parent)) return node.parent.propertyName ? [] : [[file, at]];
  if (!merging.has(node.parent.kind) || node.parent.name !== node) return [];
  // What `{ name }` takes out of an object is called like a property, which has a name of its own.
  if (ts.isBindingElement(node.parent) && !node.parent.propertyName) return [];
  const declared = checker.getSymbolAtLocation(node)?.declarations ?? [];
  return declared.filter((one) => merging.has(one.kind) && ts.isIdentifier(one.name)).map((one) => [one.getSourceFile().fileName, one.name.getStart()]);
}

function together(file, at) {
  const waiting = [[file, at]];
  const asked = new Set();
  const places = new Map();
  while (waiting.length) {
    const [path_, offset] = waiting.pop();
    if (asked.has(`${path_}:${offset}`) || !inside(path_)) continue;
    asked.add(`${path_}:${offset}`);
    for (const one of service.findRenameLocations(path_, offset, false, false, preferences) ?? []) {
      const key = `${one.fileName}:${one.textSpan.start}`;
      if (places.has(key)) continue;
      places.set(key, one);
      if (inside(one.fileName)) waiting.push(...furtherOn(one.fileName, one.textSpan.start));
    }
  }
  return [...places.values()];
}

for (const [kind, all] of [...found].sort()) {
  for (let index = all.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [all[index], all[other]] = [all[other], all[index]];
  }
  let made = 0;
  for (const [file, at, name] of all) {
    if (made >= count) break;
    if (!service.getRenameInfo(file, at, {}).canRename) continue;
    const places = together(file, at);
    if (!places.length || places.some((one) => !inside(one.fileName))) continue;
    const [where, line, col] = place(file, at);
    const certain = places.filter((one) => isCode(one.fileName, one.textSpan.start)).map((one) => place(one.fileName, one.textSpan.start));
    const row = { id: `${where}:${line}:${col}`, kind, name, qualname: name, file: where, line, col, certain, disputed: [] };
    process.stdout.write(JSON.stringify(row) + "\n");
    made++;
  }
}
