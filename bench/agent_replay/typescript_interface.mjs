// Exported names of a module on stdin with their signatures, as TypeScript parses them; the folder with it is given.
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";

const ts = createRequire(path.join(path.resolve(process.argv[2]), "package.json"))("typescript");
const source = ts.createSourceFile("module.tsx", fs.readFileSync(0, "utf8"), ts.ScriptTarget.Latest, true);
const found = {};
const modifiers = (node) => (ts.canHaveModifiers(node) ? (ts.getModifiers(node) ?? []) : []);
const has = (node, kind) => modifiers(node).some((modifier) => modifier.kind === kind);
const head = (node) => (node.body ? source.text.slice(node.getStart(), node.body.getStart()) : node.getText()).replace(/\s+/g, " ");
const add = (name, text) => (found[name] = (found[name] ?? "") + text);

function members(node) {
  for (const member of node.members) {
    const hidden = has(member, ts.SyntaxKind.PrivateKeyword) || !member.name || ts.isPrivateIdentifier(member.name);
    if (hidden) continue;
    const initializer = member.initializer;
    const arrow = initializer && ts.isArrowFunction(initializer);
    add(member.name.getText(), arrow ? source.text.slice(member.getStart(), initializer.body.getStart()) : initializer ? `: ${member.type?.getText()}` : head(member));
  }
}

const listed = new Set();
for (const node of source.statements) {
  if (ts.isExportDeclaration(node) && !node.moduleSpecifier && node.exportClause && ts.isNamedExports(node.exportClause))
    node.exportClause.elements.forEach((element) => listed.add((element.propertyName ?? element.name).text));
  if (ts.isExportAssignment(node)) listed.add(node.expression.getText());
}
for (const node of source.statements) {
  const name = node.name?.text;
  if (ts.isVariableStatement(node)) {
    for (const each of node.declarationList.declarations) {
      if (!has(node, ts.SyntaxKind.ExportKeyword) && !listed.has(each.name.getText())) continue;
      const value = each.initializer;
      const arrow = value && (ts.isArrowFunction(value) || ts.isFunctionExpression(value));
      add(each.name.getText(), arrow ? source.text.slice(each.getStart(), value.body.getStart()).replace(/\s+/g, " ") : `: ${each.type?.getText()}`);
    }
  } else if (name && (has(node, ts.SyntaxKind.ExportKeyword) || listed.has(name))) {
    if (ts.isClassDeclaration(node)) {
      add(name, (node.heritageClauses ?? []).map((clause) => clause.getText()).join(" "));
      members(node);
    } else if (ts.isInterfaceDeclaration(node)) {
      add(name, (node.heritageClauses ?? []).map((clause) => clause.getText()).join(" "));
      members(node);
    } else add(name, head(node));
  }
}
process.stdout.write(JSON.stringify(found));
