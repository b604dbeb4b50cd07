// Checks files: those of a bulk archive with what they contain about one protein, and thumbnails.
import { createHash } from 'node:crypto';
import { unzipSync } from 'fflate';
import { readFasta } from '../../upstream/archive/bulk-record.ts';
import { parseJsonBody } from '../../upstream/http/response-body.ts';
import type { Upstream } from '../../upstream/http/upstream-client.ts';
import { archiveName, fromWire } from '../../upstream/renames.ts';
import { type AnswerName, PROMISED } from '../answers.ts';
import { compare, type Drift, keyName } from '../compare.ts';
import type { Effect } from '../rules.ts';
import { closest } from '../shape.ts';

const FILES = ['structures', 'sequences.fasta', 'cluster_info.json', 'features.json'];
const JSON_FILES: Readonly<Record<string, AnswerName>> = {
  'cluster_info.json': 'clusterInfo',
  'features.json': 'bulkFeatures',
};

const ending = (name: string): string => /\.\w+$/.exec(name)?.[0] ?? '';

/** The file that replaces a missing one under another name, if any. */
function nearest(missing: string, others: readonly string[]): string | undefined {
  const extension = ending(missing);
  const stem = (name: string) => name.slice(0, name.length - extension.length);
  const same = others.filter((name) => ending(name) === extension).map(stem);
  const best = closest(stem(missing), same);
  return best !== undefined && (best.alike >= 0.4 || same.length === 1) ? best.name + extension : undefined;
}

const value = (path: string, expected: string, seen: string, effect?: Effect): Drift => {
  const drift = { kind: 'value', path, as: 'archive', expected, seen, loses: path } as const;
  return effect === undefined ? drift : { ...drift, effect };
};

const textOf = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();

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
  const records = [...readFasta(textOf(file))];
  const own = records.find(([of]) => of === hash)?.[1];
  if (own === undefined) return [value('sequences.fasta', expected, 'none of a protein that exists')];
  if (createHash('md5').update(own.sequence).digest('hex') !== hash)
    return [value('sequences.fasta', expected, 'another sequence', 'none')];
  return records.length === 1 ? [] : [value('sequences.fasta', expected, 'proteins that were not asked for')];
}

/** The files of an archive by their paths in the contract's names; undefined where it is no zip. */
function unzip({ settings: { mapping } }: Upstream, bytes: Uint8Array): Map<string, Uint8Array> | undefined {
  try {
    const files = Object.entries(unzipSync(bytes)).map(([path, file]) => {
      const [top = '', ...rest] = path.split('/');
      return [[archiveName(mapping, top), ...rest].join('/'), file] as const;
    });
    return new Map(files);
  } catch {
    return undefined;
  }
}

const NO_ZIP: Drift = { kind: 'content', path: 'body', expected: 'a zip archive', seen: 'something else' };

/** Differences in the list of sequences, by which the gateway knows which proteins exist. */
export function sequencesDrifts(up: Upstream, bytes: Uint8Array, hash: string): Drift[] {
  const files = unzip(up, bytes);
  return files === undefined ? [NO_ZIP] : fastaDrifts(files.get('sequences.fasta'), hash);
}

/** Differences in an archive of one protein with a structure and with all options. */
export async function archiveDrifts(up: Upstream, bytes: Uint8Array, hash: string): Promise<Drift[]> {
  const files = unzip(up, bytes);
  if (files === undefined) return [NO_ZIP];
  const tops = new Set([...files.keys()].map((path) => path.split('/')[0] ?? path));
  const others = [...tops].filter((top) => !FILES.includes(top));
  const drifts: Drift[] = [];
  for (const file of FILES) {
    const name = tops.has(file) ? file : nearest(file, others);
    const missing = { path: file, as: 'archive', expected: 'in the archive', loses: file };
    if (name === undefined) drifts.push({ kind: 'member', ...missing, seen: 'missing' });
    else if (name !== file)
      drifts.push({ kind: 'renamed', ...missing, seen: `named ${keyName(name)}`, name });
    else if (file === 'structures') drifts.push(...structureDrifts(files.get(`structures/${hash}.pdb`)));
    else if (file === 'sequences.fasta') drifts.push(...fastaDrifts(files.get(file), hash));
    const answer = JSON_FILES[file];
    const content = files.get(name ?? file);
    if (answer === undefined || content === undefined) continue;
    try {
      const body = fromWire(up.settings.mapping, answer, await parseJsonBody(file, content));
      const found = compare(PROMISED[answer], body, { complete: true });
      drifts.push(...found.map((drift) => ({ ...drift, as: answer })));
    } catch {
      drifts.push({ kind: 'content', path: file, expected: 'JSON', seen: 'something else' });
    }
  }
  return drifts;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const WIDTH_AT = 16;
const HEIGHT_AT = 20;

export function pngDrifts(bytes: Uint8Array): Drift[] {
  const image = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isPng = image.length > HEIGHT_AT + 4 && image.subarray(0, SIGNATURE.length).equals(SIGNATURE);
  const isWhole = isPng && image.subarray(-12).includes('IEND');
  const hasSize = isPng && image.readUInt32BE(WIDTH_AT) > 0 && image.readUInt32BE(HEIGHT_AT) > 0;
  if (isWhole && hasSize) return [];
  const seen =
    image.length === 0 ? 'nothing' : isPng ? 'a part of one, or one without size' : 'something else';
  return [{ kind: 'content', path: 'body', expected: 'a PNG image', seen }];
}
