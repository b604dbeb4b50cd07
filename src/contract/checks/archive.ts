// Checks the files of a bulk archive, and what they contain about one protein.
import { createHash } from 'node:crypto';
import { unzipSync } from 'fflate';
import { parseJsonBody } from '../../upstream/http/response-body.ts';
import type { Upstream } from '../../upstream/http/upstream-client.ts';
import { fromWire, wireName } from '../../upstream/renames.ts';
import { type AnswerName, PROMISED } from '../answers.ts';
import { compare, type Drift, keyName } from '../compare.ts';
import { likeness } from '../rename.ts';
import type { Effect } from '../rules.ts';

const FILES = ['structures', 'sequences.fasta', 'cluster_info.json', 'features.json'] as const;
const JSON_FILES: Readonly<Record<string, AnswerName>> = {
  'cluster_info.json': 'clusterInfo',
  'features.json': 'bulkFeatures',
};

const ending = (name: string): string => /\.\w+$/.exec(name)?.[0] ?? '';

/** The file that replaces a missing one under another name, if any. */
function nearest(missing: string, others: readonly string[]): string | undefined {
  const same = others.filter((name) => ending(name) === ending(missing));
  const [best] = same
    .map((name) => ({ name, alike: likeness(name.replace(/\.\w+$/, ''), missing.replace(/\.\w+$/, '')) }))
    .sort((a, b) => b.alike - a.alike);
  return best !== undefined && (best.alike >= 0.4 || same.length === 1) ? best.name : undefined;
}

const compared = (name: AnswerName, body: unknown): Drift[] =>
  compare(PROMISED[name], body, { complete: true }).map((drift) => ({ ...drift, as: name }));

const value = (path: string, expected: string, seen: string, effect?: Effect): Drift => ({
  kind: 'value',
  path,
  as: 'archive',
  expected,
  seen,
  loses: path,
  ...(effect === undefined ? {} : { effect }),
});

const textOf = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();

/** What is missing in the structure of a protein. */
function structureDrifts(file: Uint8Array | undefined): Drift[] {
  const expected = 'a structure of the protein, with its pTM, mean pLDDT and atoms';
  if (file === undefined) return [value('structures', expected, 'none of this protein')];
  const text = textOf(file);
  const scores = [/^REMARK +ptm +([0-9.]{1,12})/m, /^REMARK +mean_plddt +([0-9.]{1,12})/m].map((pattern) =>
    Number(pattern.exec(text)?.[1] ?? Number.NaN),
  );
  if (!/^ATOM {2}/m.test(text)) return [value('structures', expected, 'no atoms')];
  return scores.every((score) => score >= 0 && score <= 1)
    ? []
    : [value('structures', expected, 'no pTM and pLDDT of 0 to 1', 'shown')];
}

/** Whether the sequences list an existing protein with its own sequence, and no unknown one. */
function fastaDrifts(file: Uint8Array | undefined, hash: string): Drift[] {
  const expected = 'the sequences of the proteins that exist, and of no other';
  const records = textOf(file)
    .split('>')
    .slice(1)
    .map((record) => {
      const [head = '', ...lines] = record.split('\n');
      return { hash: head.split('|')[0]?.trim(), sequence: lines.join('').trim() };
    });
  const [own] = records.filter((record) => record.hash === hash);
  if (own === undefined) return [value('sequences.fasta', expected, 'none of a protein that exists')];
  if (createHash('md5').update(own.sequence).digest('hex') !== hash)
    return [value('sequences.fasta', expected, 'another sequence', 'none')];
  return records.length === 1 ? [] : [value('sequences.fasta', expected, 'proteins that were not asked for')];
}

function unzip(bytes: Uint8Array): Readonly<Record<string, Uint8Array>> | undefined {
  try {
    return unzipSync(bytes);
  } catch {
    return undefined;
  }
}

const NO_ZIP: Drift = { kind: 'content', path: 'body', expected: 'a zip archive', seen: 'something else' };

/**
 * Differences in an archive with sequences only, of one protein that exists and one that does not:
 * by this list the gateway knows which proteins exist.
 */
export function sequencesDrifts(
  { settings: { mapping } }: Upstream,
  bytes: Uint8Array,
  hash: string,
): Drift[] {
  const files = unzip(bytes);
  if (files === undefined) return [NO_ZIP];
  const named = Object.entries(files).map(
    ([name, file]) => [wireName(mapping, 'archive', name), file] as const,
  );
  return fastaDrifts(new Map(named).get('sequences.fasta'), hash);
}

/** Differences in an archive of one protein with a structure and with all options. */
export async function archiveDrifts(
  { settings: { mapping } }: Upstream,
  bytes: Uint8Array,
  hash: string,
): Promise<Drift[]> {
  const files = unzip(bytes);
  if (files === undefined) return [NO_ZIP];
  const tops = [...new Set(Object.keys(files).map((name) => name.split('/')[0] ?? name))];
  const seen = new Map(tops.map((top) => [wireName(mapping, 'archive', top), top]));
  const others = tops.filter((top) => !FILES.some((file) => seen.get(file) === top));
  const drifts: Drift[] = [];
  for (const file of FILES) {
    const at = seen.get(file);
    if (at === undefined) {
      const name = nearest(file, others);
      drifts.push({
        kind: name === undefined ? 'member' : 'renamed',
        path: file,
        as: 'archive',
        expected: 'in the archive',
        seen: name === undefined ? 'missing' : `named ${keyName(name)}`,
        loses: file,
        ...(name === undefined ? {} : { name }),
      });
    }
    if (at !== undefined && file === 'structures')
      drifts.push(...structureDrifts(files[`${at}/${hash}.pdb`]));
    if (at !== undefined && file === 'sequences.fasta') drifts.push(...fastaDrifts(files[at], hash));
    const answer = JSON_FILES[file];
    const content = files[at ?? nearest(file, others) ?? file];
    if (answer === undefined || content === undefined) continue;
    try {
      drifts.push(...compared(answer, fromWire(mapping, answer, await parseJsonBody(file, content))));
    } catch {
      drifts.push({ kind: 'content', path: file, expected: 'JSON', seen: 'something else' });
    }
  }
  return drifts;
}
