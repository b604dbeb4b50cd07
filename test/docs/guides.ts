// The guides as tests read them: the README and docs/*.md, their fenced blocks and what is said
// about those.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Block {
  /** The word after the fence; empty when there is none. */
  readonly language: string;
  readonly text: string;
  /** Why it is not run, as the comment above it says. */
  readonly reason: string | undefined;
}

const FENCED = /(?:^<!-- not run: (.+?) -->\n+)?^```([^\n]*)\n([\s\S]*?)^```$/gm;

export interface GuideText {
  /** Path from the root, such as `docs/clients.md`. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

/** Reads a guide. @param path - from the root */
export function readGuide(path: string): GuideText {
  const text = readFileSync(`${ROOT}${path}`, 'utf8');
  const blocks = [...text.matchAll(FENCED)].map(([, reason, language = '', body = '']) => ({
    language,
    text: body,
    reason,
  }));
  return { path, text, blocks };
}

/** All guides. */
export const guides: readonly GuideText[] = [
  'README.md',
  'examples/README.md',
  ...readdirSync(`${ROOT}docs`)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
].map(readGuide);
