// Files and pages that a process makes once. Their compressed forms are cached as well, and each
// answer has an ETag.
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { createEtag } from '../../etag.ts';
import type { Exchange, HttpResponse } from '../exchange.ts';
import { fileResponse } from './responses.ts';

export interface StaticFile {
  readonly content: string | Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

const compress = promisify(gzip);

/** Whether the client takes gzip; `q=0` refuses it. */
const acceptsGzip = ({ headers }: Exchange): boolean =>
  String(headers['accept-encoding'] ?? '')
    .split(',')
    .some((item) => item.trim().split(';')[0]?.trim() === 'gzip' && !/;\s*q=0(\.0*)?\s*$/.test(item));

/** A file with its compressed form. */
interface CachedFile {
  readonly headers: StaticFile['headers'];
  readonly etag: string;
  readonly content: Uint8Array;
  readonly compressed: Uint8Array;
}

async function createCachedFile(making: StaticFile | Promise<StaticFile>): Promise<CachedFile> {
  const { content, headers } = await making;
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return { headers, etag: createEtag(bytes), content: bytes, compressed: await compress(bytes) };
}

/**
 * Answers with a file.
 *
 * @param name - its key in the cache
 * @param make - called for the first request that wants the file
 * @param headers - of this answer, besides those of the file
 */
export type ServeFile = (
  exchange: Exchange,
  name: string,
  make: () => StaticFile | Promise<StaticFile>,
  headers?: Readonly<Record<string, string>>,
) => Promise<HttpResponse>;

export function createFileCache(): ServeFile {
  const files = new Map<string, Promise<CachedFile>>();
  const create = (name: string, make: Parameters<ServeFile>[2]): Promise<CachedFile> => {
    const creating = createCachedFile(make());
    files.set(name, creating);
    // One that cannot be made now may be later.
    creating.catch(() => files.delete(name));
    return creating;
  };
  return async (exchange, name, make, headers = {}) => {
    const file = await (files.get(name) ?? create(name, make));
    const isCompressed = acceptsGzip(exchange);
    return fileResponse(exchange, isCompressed ? file.compressed : file.content, {
      ...file.headers,
      ...headers,
      // A strong tag names one sequence of bytes, so each encoding has its own.
      etag: isCompressed ? file.etag.replace(/"$/, '-gzip"') : file.etag,
      vary: 'accept, accept-encoding',
      ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
    });
  };
}
