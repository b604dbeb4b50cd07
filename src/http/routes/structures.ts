// GET /structures/{hash}.{pdb|cif}: the predicted structure of an Atlas protein, pLDDT on 0 to 100;
// `?plddt=unit` writes it on 0 to 1, `?plddt=upstream` as it came. GET
// /thumbnails/{hash}/{type}.png: its image, immutable for browsers and CDNs.
import type { GatewayContext } from '../../context.ts';
import { createEtag } from '../../etag.ts';
import { atlasStructure, FILE_ENDINGS } from '../../resolvers/atlas/structure.ts';
import { readText } from '../../structure/lazy-text.ts';
import type { PlddtUnit } from '../../structure/plddt-scale.ts';
import type { Upstream } from '../../upstream/http/call.ts';
import { partValue, readPart } from '../../upstream/part.ts';
import { readRecordStructure } from '../../upstream/proteins/read-record.ts';
import type { ProteinRecord } from '../../upstream/proteins/record.ts';
import { THUMBNAIL_TYPES, type Thumbnails } from '../../upstream/reads/thumbnails.ts';
import type { OpenLink } from '../access/signed-links.ts';
import type { Exchange, HttpResponse } from '../exchange.ts';
import { NO_LINK, NOT_MODIFIED, type Parameter, type RouteDescription } from './description.ts';
import { fileResponse, LINK_HEADERS, refuseLink, textResponse } from './responses.ts';
import type { Route } from './route.ts';

/** By the parameter `plddt`; null leaves the upstream's PDB text as it is. */
const UNITS: ReadonlyMap<string, PlddtUnit | null> = new Map([
  ['percent', 'PERCENT'],
  ['unit', 'UNIT'],
  ['upstream', null],
]);
const TYPES = { pdb: 'chemical/x-pdb', cif: 'chemical/x-mmcif' } as const;

/**
 * Says that a file is the same for every caller who may read it.
 *
 * @param response - with its ETag
 * @param seconds - how long it may be stored
 */
const shareFile = (response: HttpResponse, content: Buffer, seconds: number): HttpResponse => ({
  ...response,
  sharing: { seconds, operationName: undefined, dependsOnHost: false, content },
});

const HASH = /^[0-9a-f]{32}$/;

/**
 * The protein of a file. Its structure is that of the single record, which has the lines of the
 * licence, whatever else the gateway has read before; that of an archive where the record has lost
 * its own.
 */
async function loadFile(ctx: GatewayContext, hash: string): Promise<ProteinRecord | null> {
  const found = await ctx.proteins.load(hash, { record: true, sequence: true, ptm: true });
  if (found === null) return null;
  const own = readRecordStructure(readPart(found.single), partValue(found.sequence));
  if (partValue(own) !== undefined) return { ...found, structure: own };
  return ctx.proteins.load(hash, { structure: true, sequence: true, ptm: true });
}

const NO_FILE = { ...NOT_MODIFIED, 400: 'No hash, or a wrong parameter.', 404: 'There is none.' };
const PLDDT: Parameter = {
  description: 'Scale of the confidences: 0 to 100, 0 to 1, or as the service sends them.',
  example: 'percent',
  schema: { enum: [...UNITS.keys()], default: 'percent' },
};

function describeStructures(): Record<string, RouteDescription> {
  const described: Record<string, RouteDescription> = {};
  for (const [ending, type] of Object.entries(TYPES)) {
    const file = { summary: 'The predicted structure of a protein', type, query: { plddt: PLDDT } };
    described[`/structures/{hash}.${ending}`] = { ...file, others: NO_FILE };
    described[`/signed/{signature}/structures/{hash}.${ending}`] = { ...file, others: NO_LINK };
  }
  return described;
}

const noHash = (): HttpResponse => textResponse(400, 'The hash must be 32 hexadecimal characters.');

/**
 * The route.
 *
 * @param open, openLink - the context of a request, with a token or with a signature
 * @param recordSeconds - CACHE_RECORDS_SECONDS
 */
export const structureRoute = (
  open: (exchange: Exchange) => Promise<GatewayContext>,
  openLink: OpenLink,
  recordSeconds: number,
): Route => ({
  path: /^(?:\/signed\/([^/]*))?\/structures\/([^/.]+)\.([a-z]+)$/,
  isPublic: true,
  described: describeStructures(),
  async answer({ exchange, url, parts: [signature, given = '', ending] }) {
    const hash = given.toLowerCase();
    if (!HASH.test(hash)) return noHash();
    if (ending !== FILE_ENDINGS.PDB && ending !== FILE_ENDINGS.MMCIF) {
      return textResponse(404, 'Structures are served as .pdb and .cif.');
    }
    const unit = UNITS.get(url.searchParams.get('plddt') ?? 'percent');
    if (unit === undefined) return textResponse(400, '`plddt` is percent, unit or upstream.');
    const link = openLink(exchange, signature, `/structures/${given}.${ending}`);
    if (typeof link === 'string') return refuseLink(link);
    const protein = await loadFile(link?.ctx ?? (await open(exchange)), hash);
    const structure = protein && readPart(protein.structure);
    if (protein === null || structure === null)
      return textResponse(404, 'There is no such protein, or it has no structure.');
    const { text } = atlasStructure(structure, {
      hash,
      format: ending === 'pdb' ? 'PDB' : 'MMCIF',
      unit: unit ?? undefined,
      ptm: partValue(protein.ptm) ?? null,
      meanPlddt: partValue(protein.meanPlddt) ?? null,
    });
    const content = Buffer.from(readText(text));
    const response = fileResponse(exchange, content, {
      'content-type': `${TYPES[ending]}; charset=utf-8`,
      'content-disposition': `inline; filename="${hash}.${ending}"`,
      // The Atlas is alpha: a structure may be made anew.
      'cache-control': `public, max-age=${recordSeconds}`,
      etag: createEtag(content),
      ...(link === null ? {} : LINK_HEADERS),
    });
    return link === null ? shareFile(response, content, recordSeconds) : response;
  },
});

const YEAR_SECONDS = 31_536_000;

const THUMBNAIL_NAMES: readonly string[] = Object.values(THUMBNAIL_TYPES);

/**
 * The route.
 *
 * @param open - the upstream as this request sees it
 */
export const thumbnailRoute = (
  thumbnails: Thumbnails,
  open: (exchange: Exchange) => Promise<Upstream>,
): Route => ({
  path: /^\/thumbnails\/([^/]+)\/([^/]+)\.png$/,
  isPublic: true,
  described: {
    '/thumbnails/{hash}/{type}.png': {
      summary: 'A picture of the structure of a protein',
      type: 'image/png',
      others: NO_FILE,
    },
  },
  async answer({ exchange, parts: [given = '', type = ''] }) {
    const hash = given.toLowerCase();
    if (!HASH.test(hash)) return noHash();
    if (!THUMBNAIL_NAMES.includes(type))
      return textResponse(
        404,
        `There are thumbnails ${THUMBNAIL_NAMES.map((t) => `${t}.png`).join(' and ')}.`,
      );
    const thumbnail = await thumbnails.get(await open(exchange), hash, type);
    if (thumbnail === null)
      return textResponse(404, 'There is no such protein, or it has no structure to draw.');
    const response = fileResponse(exchange, thumbnail.png, {
      'cache-control': `public, max-age=${YEAR_SECONDS}, immutable`,
      etag: thumbnail.etag,
      'content-type': 'image/png',
      'cross-origin-resource-policy': 'cross-origin',
    });
    return shareFile(response, Buffer.from(thumbnail.png), YEAR_SECONDS);
  },
});
