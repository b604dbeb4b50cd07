// Errors and hints in the code hold nothing that looks like a secret: a message may pass the
// redactor on its way, such as that of the service through the gateway, and must keep its advice.
import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { redact } from '../../src/telemetry/redact.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
/** Not errors: what the schema shows. Pages and command lines pass no redactor. */
const SHOWN = new Set(['description', 'descriptions']);
/** Functions that are given descriptions of fields or enum values. */
const DESCRIBING = new Set(['nonNull', 'enumValues', 'publicNonNull', 'publicNullable']);

/** The text of a literal; what is put into it is a short word. */
function readText(node: ts.Node): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map(({ literal }) => `word${literal.text}`).join('');
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [readText(node.left), readText(node.right)];
    return left === undefined || right === undefined ? undefined : left + right;
  }
  return undefined;
}

/** All sentences of a file that are not descriptions. */
function listSentences(file: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node) && SHOWN.has(node.name.getText())) return;
    if (ts.isCallExpression(node) && DESCRIBING.has(node.expression.getText())) return;
    const text = readText(node);
    if (text === undefined) ts.forEachChild(node, visit);
    else if (/^[A-Z`"].* .* .*[.:]$/s.test(text.trim())) found.push(text);
  };
  visit(ts.createSourceFile(file, readFileSync(ROOT + file, 'utf8'), ts.ScriptTarget.Latest, true));
  return found;
}

const files = ['src', 'sandbox/src'].flatMap((folder) =>
  readdirSync(ROOT + folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/(^|\/)(pages|cli)\/|^main\.ts$/.test(file))
    .map((file) => `${folder}/${file}`),
);
const sentences = files.flatMap((file) => listSentences(file).map((text) => ({ file, text })));

describe('the sentences of errors and hints', () => {
  it('pass the redactor unchanged', () => {
    expect(sentences.length).toBeGreaterThan(400);
    const changed = sentences.filter(({ text }) => redact(text) !== text);
    expect(changed.map(({ file, text }) => `${file}: ${redact(text)}`)).toEqual([]);
  });
});
