// Files and pages that a process makes once: kept with what they are compressed to, and answered
// with an ETag.
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { createEtag } from '../../etag.ts';
import { fileResponse } from './responses.ts';

export interface StaticFile {
  readonly content: string | Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** Quality 5 takes a fifth of the time of quality 9, for five percent more bytes. */
const brotli = (bytes: Uint8Array) =>
  promisify(brotliCompress)(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength },
  });
const COMPRESS = {
  br: brotli,
  gzip: (bytes: Uint8Array) => promisify(gzip)(bytes),
  identity: async (bytes: Uint8Array) => bytes,
};

type Encoding = keyof typeof COMPRESS;

/** The best encoding that the client takes; `q=0` refuses one. */
function encodingFor(request: Request): Encoding {
  const header = request.headers.get('accept-encoding') ?? '';
  const takes = (name: string): boolean =>
    header
      .split(',')
      .some((item) => item.trim().split(';')[0]?.trim() === name && !/;\s*q=0(\.0*)?\s*$/.test(item));
  return takes('br') ? 'br' : takes('gzip') ? 'gzip' : 'identity';
}

/** A file with what it is compressed to. */
interface CachedFile {
  readonly headers: StaticFile['headers'];
  readonly etag: string;
  /** Compressed when first asked for. */
  encoded(encoding: Encoding): Promise<Uint8Array<ArrayBuffer>>;
}

async function createCachedFile(making: StaticFile | Promise<StaticFile>): Promise<CachedFile> {
  const { content, headers } = await making;
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const encoded = new Map<Encoding, Promise<Uint8Array<ArrayBuffer>>>();
  return {
    headers,
    etag: createEtag(bytes),
    encoded(encoding) {
      const compressing =
        encoded.get(encoding) ?? COMPRESS[encoding](bytes).then((result) => new Uint8Array(result));
      encoded.set(encoding, compressing);
      return compressing;
    },
  };
}

/**
 * Answers with a file.
 *
 * @param name - under which it is kept
 * @param make - called for the first request that wants the file
 * @param headers - of this answer, besides those of the file
 */
export type ServeFile = (
  request: Request,
  name: string,
  make: () => StaticFile | Promise<StaticFile>,
  headers?: Readonly<Record<string, string>>,
) => Promise<Response>;

export function createFileCache(): ServeFile {
  const files = new Map<string, Promise<CachedFile>>();
  const create = (name: string, make: Parameters<ServeFile>[2]): Promise<CachedFile> => {
    const creating = createCachedFile(make());
    files.set(name, creating);
    // One that cannot be made now may be later.
    creating.catch(() => files.delete(name));
    return creating;
  };
  return async (request, name, make, headers = {}) => {
    const file = await (files.get(name) ?? create(name, make));
    const encoding = encodingFor(request);
    const isPlain = encoding === 'identity';
    return fileResponse(request, await file.encoded(encoding), {
      ...file.headers,
      ...headers,
      // A strong tag names one sequence of bytes, so each encoding has its own.
      etag: isPlain ? file.etag : file.etag.replace(/"$/, `-${encoding}"`),
      vary: 'accept, accept-encoding',
      ...(isPlain ? {} : { 'content-encoding': encoding }),
    });
  };
}
