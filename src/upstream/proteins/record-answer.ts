// The single record of a protein as it came, compressed: the parts that a later field or request
// needs are read from it, so that it is downloaded once.
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { parseAnswer } from '../json/parse-json.ts';
import { WORKER_ABOVE_BYTES } from '../json/worker-pool.ts';
import type { RequiredParts } from './parts.ts';
import { type LoadedRecord, readRecord } from './read-record.ts';
import type { ProteinRecord, RecordAnswer } from './record.ts';
import { needsNothing, topFeatureCount } from './required-parts.ts';

/** The fastest quality; a window of 64 KB takes less memory, and records are hardly larger. */
const BROTLI = {
  [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MIN_QUALITY,
  [constants.BROTLI_PARAM_LGWIN]: 16,
};

/** Compresses an answer; undefined for one that is too large to be read at once. */
export function packAnswer({
  body,
  requestId,
  features,
  retrievedAt,
}: LoadedRecord): RecordAnswer | undefined {
  if (body.byteLength > WORKER_ABOVE_BYTES || features.kind !== 'ranking') return undefined;
  const params = { ...BROTLI, [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength };
  // A copy: the result is the beginning of a larger buffer.
  const packed = Buffer.from(brotliCompressSync(body, { params }));
  return { packed, bytes: body.byteLength, top: features.top, requestId, retrievedAt };
}

/** Whether the answer was asked for all that is needed, so that no new one says more. */
function hasAskedFor({ top }: RecordAnswer, needs: RequiredParts): boolean {
  const { cluster: _, ...own } = needs;
  return !needsNothing(own) && topFeatureCount(own) <= top;
}

/** Reads parts of a record from its answer; undefined where the answer was not asked for them. */
export function unpackRecord(
  hash: string,
  answer: RecordAnswer,
  { fold, ...needs }: RequiredParts,
): ProteinRecord | undefined {
  // A protein that has a structure need not be folded.
  const parts: RequiredParts = fold === true ? { ...needs, structure: true } : needs;
  if (!hasAskedFor(answer, parts)) return undefined;
  const { packed, bytes, top, requestId, retrievedAt } = answer;
  const body = brotliDecompressSync(packed, { chunkSize: bytes + 1, maxOutputLength: bytes });
  const features = { kind: 'ranking', top } as const;
  return readRecord(hash, parts, { raw: parseAnswer(body), requestId, features, retrievedAt });
}
