// Whether the files of a bulk archive are those that are promised, and what they say of one protein. It makes no call.
import { unzipSync } from 'fflate';
import { jsonOf } from '../upstream/answer-body.ts';
import { compare, type Drift, keyName } from '../upstream/contract/compare.ts';
import { type AnswerName, PROMISED } from '../upstream/contract/operations.ts';
import { likeness } from '../upstream/contract/rename.ts';
import type { Upstream } from '../upstream/http.ts';
import { fromWire, wireName } from '../upstream/mapping/rules.ts';

const FILES = ['structures', 'sequences.fasta', 'cluster_info.json', 'features.json'] as const;
const JSON_FILES: Readonly<Record<string, AnswerName>> = {
  'cluster_info.json': 'clusterInfo',
  'features.json': 'bulkFeatures',
};

const ending = (name: string): string => /\.\w+$/.exec(name)?.[0] ?? '';

/** The file that is missing under its own name and may be there under another one. */
function nearest(missing: string, others: readonly string[]): string | undefined {
  const same = others.filter((name) => ending(name) === ending(missing));
  const [best] = same
    .map((name) => ({ name, alike: likeness(name.replace(/\.\w+$/, ''), missing.replace(/\.\w+$/, '')) }))
    .sort((a, b) => b.alike - a.alike);
  return best !== undefined && (best.alike >= 0.4 || same.length === 1) ? best.name : undefined;
}

const compared = (name: AnswerName, body: unknown): Drift[] =>
  compare(PROMISED[name], body, { complete: true }).map((drift) => ({ ...drift, as: name }));

/** What differs within an archive of one protein that was asked for with everything. */
export async function archiveDrifts(
  { settings: { mapping } }: Upstream,
  bytes: Uint8Array,
): Promise<Drift[]> {
  let files: Readonly<Record<string, Uint8Array>>;
  try {
    files = unzipSync(bytes);
  } catch {
    return [{ kind: 'content', path: 'body', expected: 'a zip archive', seen: 'something else' }];
  }
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
    const answer = JSON_FILES[file];
    const content = files[at ?? nearest(file, others) ?? file];
    if (answer === undefined || content === undefined) continue;
    try {
      drifts.push(...compared(answer, fromWire(mapping, answer, await jsonOf(file, content))));
    } catch {
      drifts.push({ kind: 'content', path: file, expected: 'JSON', seen: 'something else' });
    }
  }
  return drifts;
}
