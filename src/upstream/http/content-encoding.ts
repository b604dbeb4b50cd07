// Decompresses bodies. The gateway asks for none, but a proxy or a store may send them compressed.
import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  gunzip,
  inflate,
} from 'node:zlib';
import type { UpstreamResponse } from './upstream-client.ts';

interface Codec {
  readonly decode: (bytes: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>;
  readonly createDecoder: () => Transform;
}

const CODECS: ReadonlyMap<string, Codec> = new Map([
  ['gzip', { decode: promisify(gunzip), createDecoder: createGunzip }],
  ['deflate', { decode: promisify(inflate), createDecoder: createInflate }],
  ['br', { decode: promisify(brotliDecompress), createDecoder: createBrotliDecompress }],
]);

/** The codec of a body; undefined for one that can be read as it is. */
export function findCodec({ headers }: Pick<UpstreamResponse, 'headers'>): Codec | undefined {
  const encoding = headers['content-encoding'];
  return encoding === undefined ? undefined : CODECS.get(String(encoding).trim().toLowerCase());
}
