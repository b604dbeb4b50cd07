// GET /proteins/{protein_hash}/thumbnail/{thumbnail_type} (spec: Atlas API), with immutable caching
// and conditional requests.
import type { Context, Hono } from 'hono';
import type { Colouring } from '../thumbnail/thumbnail.ts';
import { checkHash, type Problems } from './checks.ts';
import type { AtlasContext } from './context.ts';
import { refusal, unprocessable } from './refusals.ts';
import type { AtlasProtein } from './universe-reader.ts';

/** Whether a conditional request already has this very content. */
const matches = (condition: string | undefined, etag: string): boolean =>
  (condition ?? '').split(',').some((one) => ['*', etag, `W/${etag}`].includes(one.trim()));

async function thumbnail(
  c: Context,
  { universe, folding, structures, conventions }: AtlasContext,
  protein: AtlasProtein,
  type: string,
): Promise<Response> {
  if (!folding.standing(protein).hasStructure)
    return refusal(404, `Protein ${protein.hash} has no structure`);
  const percent = protein.cluster === null ? 0 : (universe.cluster(protein.cluster)?.pctCharacterized ?? 0);
  const headers = new Headers({ 'cache-control': 'public, max-age=31536000, immutable' });
  if (conventions.has('thumbnailEtag')) {
    const etag = type === 'plddt' ? `"${protein.hash}-plddt"` : `"${protein.hash}-${percent}"`;
    headers.set('etag', etag);
    if (matches(c.req.header('if-none-match'), etag)) return new Response(null, { status: 304, headers });
  }
  const colouring: Colouring = type === 'plddt' ? { type } : { type: 'pct-characterized', percent };
  const png = await structures.make({ form: 'thumbnail', sequence: protein.sequence, colouring });
  headers.set('content-type', 'image/png');
  headers.set('content-length', String(png.length));
  return new Response(new Uint8Array(png), { headers });
}

const THUMBNAIL_TYPES = ['plddt', 'pct-characterized'];

export function addThumbnailRoutes(app: Hono, context: AtlasContext): void {
  const { universe, wire } = context;
  app.get(`${wire.atlasPrefix}/proteins/:protein_hash/thumbnail/:thumbnail_type`, (c) => {
    const { protein_hash: hash, thumbnail_type: type } = c.req.param();
    const problems: Problems = [];
    checkHash(problems, ['path', 'protein_hash'], hash);
    if (!THUMBNAIL_TYPES.includes(type)) {
      const expected = THUMBNAIL_TYPES.map((one) => `'${one}'`).join(' or ');
      problems.push({
        loc: ['path', 'thumbnail_type'],
        msg: `Input should be ${expected}`,
        type: 'enum',
        input: type,
        ctx: { expected },
      });
    }
    if (problems.length > 0) return unprocessable(problems);
    const protein = universe.protein(hash);
    if (protein === undefined) return refusal(404, `Protein ${hash} not found`);
    return thumbnail(c, context, protein, type);
  });
}
