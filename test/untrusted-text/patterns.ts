// Every regular expression of the gateway's source, and texts that are made to slow each of them down: strings that it matches, with a
// part of them repeated and the end spoiled.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A regular expression and where it stands. */
export interface Pattern {
  readonly place: string;
  readonly pattern: RegExp;
}

/** Patterns with an unbounded run; others take a bounded time at each character. */
const isUnbounded = ({ source }: RegExp): boolean => /[*+]|\{\d+,\}/.test(source);

/** `new RegExp(…)`, which this file cannot evaluate. */
export interface Unread {
  readonly place: string;
  readonly text: string;
}

/** Reads the patterns of src. */
export function readPatterns(): { readonly patterns: Pattern[]; readonly unread: Unread[] } {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'src/*.ts'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const files = listed.split('\n').filter((file) => file !== '');
  const patterns: Pattern[] = [];
  const unread: Unread[] = [];
  for (const file of files) {
    const source = ts.createSourceFile(
      file,
      readFileSync(`${ROOT}/${file}`, 'utf8'),
      ts.ScriptTarget.Latest,
      true,
    );
    const walk = (node: ts.Node): void => {
      const place = () => `${file}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf('/');
        const pattern = new RegExp(node.text.slice(1, end), node.text.slice(end + 1));
        if (isUnbounded(pattern)) patterns.push({ place: place(), pattern });
      }
      if (ts.isNewExpression(node) && node.expression.getText() === 'RegExp')
        unread.push({ place: place(), text: node.getText() });
      ts.forEachChild(node, walk);
    };
    walk(source);
  }
  return { patterns, unread };
}

const CLASSES: Readonly<Record<string, string>> = {
  s: ' ',
  d: '1',
  w: 'a',
  S: 'a',
  n: '\n',
  r: '\r',
  t: '\t',
  x: '',
};

/** What is left of each alternative of a pattern without its operators: one character for each class, each run once. */
function skeletons({ source }: RegExp): string[] {
  const found = [''];
  const add = (text: string) => found.push(`${found.pop() ?? ''}${text}`);
  const tokens = /\\(.)|\[\^?((?:\\.|[^\]])*)\]|\(\?<?[:=!]|\{[\d,]+\}|([()*+?^$|])|([\s\S])/g;
  for (const [token, escaped, members, operator, plain] of source.matchAll(tokens)) {
    if (operator === '|') found.push('');
    else if (escaped !== undefined) add(escaped === 'b' ? '' : (CLASSES[escaped] ?? escaped));
    else if (members !== undefined) {
      const [, first = '', letter = ''] = /^(\\?)(.?)/.exec(members) ?? [];
      if (token.startsWith('[^')) add('x');
      else add(first === '' ? letter : (CLASSES[letter] ?? letter));
    } else if (plain !== undefined) add(plain === '.' ? 'x' : plain);
  }
  return found;
}

/** Strings that a pattern matches, as far as fast-check can make them. */
function matchesOf(pattern: RegExp): string[] {
  try {
    return fc.sample(fc.stringMatching(new RegExp(pattern.source, pattern.flags.replace(/[gyd]/g, ''))), {
      numRuns: 2,
      seed: 7,
    });
  } catch {
    return [];
  }
}

/** What may spoil an end. */
const ENDS = ['\u0000', '\n!', ' x'];
const LONGEST = 18;

/** Texts of about `length` characters that a pattern nearly matches, again and again. */
export function* hostileTexts(pattern: RegExp, length: number): Generator<string> {
  const whole = skeletons(pattern);
  const bases = [...whole, ...matchesOf(pattern), ' ', '\n'].map((text) => text.slice(0, LONGEST));
  const seen = new Set<string>();
  for (const base of bases) {
    for (let from = 0; from < base.length; from += 1) {
      const before = base.slice(0, from);
      for (let to = from + 1; to <= base.length; to += 1) {
        const part = base.slice(from, to);
        const key = `${before}\u0001${part}`;
        if (seen.has(key)) continue;
        seen.add(key);
        const run = before + part.repeat(Math.ceil(length / part.length));
        for (const end of ENDS) yield run + end;
      }
    }
  }
}
