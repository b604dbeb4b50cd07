// The structure of an Atlas protein as a PDB or mmCIF file, and its thumbnail. Their addresses need
// no upstream call.

import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { builder, enumValues } from '../../schema/builder.ts';
import { publicNonNull } from '../../schema/field-options.ts';
import { PlddtScale, type PlddtScaleName } from '../../schema/plddt.ts';
import { Protein } from '../../schema/protein.ts';
import { LARGE_VALUE } from '../../schema/query-cost.ts';
import {
  type LoadedStructure,
  Structure,
  StructureFormat,
  type StructureShape,
} from '../../schema/structure.ts';
import { type LazyText, lazyText, readText } from '../../structure/lazy-text.ts';
import { parsePdb } from '../../structure/pdb.ts';
import { writePdbHead } from '../../structure/pdb-head.ts';
import { pdbToMmcif } from '../../structure/pdb-to-mmcif.ts';
import { type PlddtUnit, scalePlddtInPdb } from '../../structure/plddt-scale.ts';
import { UpstreamError } from '../../upstream/errors.ts';
import type { CheckedStructure } from '../../upstream/proteins/checked-structure.ts';
import { hasCoordinates, type StructureData } from '../../upstream/proteins/protein-data.ts';
import { THUMBNAIL_TYPES } from '../../upstream/reads/cached-reads.ts';
import { RECORD } from '../costs.ts';
import {
  fromProtein,
  loadStructure,
  type MaybePromise,
  mapMaybePromise,
  STRUCTURE,
  selectsFileText,
} from './load-protein.ts';

export const FILE_ENDINGS = { PDB: 'pdb', MMCIF: 'cif' } as const;

export interface AtlasStructure {
  readonly hash: string;
  readonly format: keyof typeof FILE_ENDINGS;
  /** Scale of pLDDT; undefined leaves the upstream's PDB text as it is. */
  readonly unit: PlddtUnit | undefined;
}

/** A class: V8 would retain an object with an own getter, and the text, until a full collection. */
class PdbFile {
  readonly text: string | LazyText;
  private readonly structure: Pick<StructureData, 'pdb'>;

  constructor(text: string | LazyText, structure: Pick<StructureData, 'pdb'>) {
    this.text = text;
    this.structure = structure;
  }
  get atomCount(): number {
    return parsePdb(this.structure.pdb).atomCount;
  }
}

/** What a file is made of. */
type FileSource = Pick<StructureData, 'pdb' | 'file' | 'ptm' | 'meanPlddt'>;

/** The PDB file; where the text is packed, it is unpacked when it is written. */
function pdbText(structure: FileSource, hash: string, unit: PlddtUnit | undefined): string | LazyText {
  const packed = structure.file?.();
  if (unit === undefined) return packed ?? structure.pdb;
  const write = (pdb: Uint8Array): Uint8Array => {
    const { ptm, meanPlddt } = structure;
    return writePdbHead(scalePlddtInPdb(pdb, unit), { hash, ptm, meanPlddt, unit });
  };
  if (packed === undefined) return Buffer.from(write(Buffer.from(structure.pdb))).toString();
  return lazyText({ size: packed.size, bytes: () => write(packed.bytes()) });
}

/**
 * The text of the file and the number of its atoms, which is counted lazily.
 *
 * @param structure - the PDB text, possibly packed
 * @throws UpstreamError UPSTREAM_DRIFT when the text holds no atom
 */
export function atlasStructure(
  { structure, missing }: Pick<CheckedStructure, 'structure' | 'missing'>,
  { hash, format, unit }: AtlasStructure,
): { readonly text: string | LazyText; readonly atomCount: number } {
  if (format === 'PDB') return new PdbFile(pdbText(structure, hash, unit), structure);
  // The service writes 0 to 1.
  const plddtUnit = unit ?? 'UNIT';
  const file = pdbToMmcif(readText(pdbText(structure, hash, plddtUnit)), { id: hash, plddtUnit }, missing);
  if (file.ok) return { text: file.text, atomCount: file.atomCount };
  throw new UpstreamError(`The structure that the upstream gave cannot be read: ${file.reason}`, {
    operation: 'protein',
    code: 'UPSTREAM_DRIFT',
    retryable: false,
  });
}

interface StructureArgs {
  readonly format?: AtlasStructure['format'] | null | undefined;
  readonly plddtScale?: PlddtScaleName | null | undefined;
}

/** An address that needs no token: what it opens is the same for every caller. */
function signedUrl({ services, publicUrl, principal }: GatewayContext, path: string, query: string): string {
  const signature = services.links.seal(path, { principal, url: null });
  return `${publicUrl}${path}${query}${query === '' ? '?' : '&'}signature=${signature}`;
}

function structureOf(
  ctx: GatewayContext,
  hash: string,
  args: StructureArgs,
  info: GraphQLResolveInfo,
): MaybePromise<StructureShape | null> {
  const format = args.format ?? 'PDB';
  const unit = args.plddtScale ?? 'PERCENT';
  const query = unit === 'PERCENT' ? '' : `?plddt=${unit.toLowerCase()}`;
  const path = `/structures/${hash}.${FILE_ENDINGS[format]}`;
  let loaded: MaybePromise<LoadedStructure> | undefined;
  const shape: StructureShape = {
    format,
    url: `${ctx.publicUrl}${path}${query}`,
    signedUrl: () => signedUrl(ctx, path, query),
    load: () => {
      loaded ??= mapMaybePromise(loadStructure(ctx, hash), (checked) => {
        if (checked === null) throw new Error('A structure was lost after it was found.');
        return atlasStructure(checked, { hash, format, unit });
      });
      return loaded;
    },
  };
  // With only the address selected nothing is loaded; the address answers 404 where there is no
  // structure.
  if (!selectsFileText(info)) return shape;
  return fromProtein(ctx, hash, STRUCTURE, (data) =>
    data?.structure == null || !hasCoordinates(data.structure) ? null : shape,
  );
}

builder.objectField(Protein, 'structure', (t) =>
  t.field({
    public: 'record',
    type: Structure,
    cost: (_, { names }) => (names.has('text') || names.has('atomCount') ? RECORD : {}),
    description:
      'The predicted structure; null where there is none (700 residues and more are not folded). With ' +
      'neither `text` nor `atomCount` nothing is loaded: it is not null, and its address answers 404.',
    args: {
      format: t.arg({
        type: StructureFormat,
        defaultValue: 'PDB',
        description: 'PDB from the upstream, or mmCIF that the gateway makes from it.',
      }),
      plddtScale: t.arg({
        type: PlddtScale,
        defaultValue: 'PERCENT',
        description:
          'Scale of pLDDT in the file, in B-factors, remarks and metrics: most viewers expect PERCENT.',
      }),
    },
    resolve: ({ hash }, args, ctx, info) => structureOf(ctx, hash, args, info),
  }),
);

const ThumbnailType = builder.enumType('ThumbnailType', {
  description: 'The colours of a thumbnail.',
  values: enumValues({
    PLDDT: 'By confidence of the prediction, in the usual four colours.',
    PCT_CHARACTERIZED: 'By the share of the cluster that has characterised domains.',
  }),
});

interface ThumbnailRef {
  readonly hash: string;
  readonly type: typeof ThumbnailType.$inferType;
}

const imageOf = (ctx: GatewayContext, { hash, type }: ThumbnailRef) =>
  ctx.services.thumbnails.get(ctx.upstream, hash, THUMBNAIL_TYPES[type]);

const Thumbnail = builder.objectRef<ThumbnailRef>('Thumbnail').implement({
  description:
    'A picture of a structure. `url` costs nothing, and responses can be cached for ever; the other ' +
    'fields load the image.',
  fields: (t) => ({
    url: t.field({
      public: 'record',
      type: 'URL',
      nullable: false,
      description: 'Address of the PNG at the gateway. It never changes; 404 where there is no structure.',
      resolve: ({ hash, type }, _, ctx) => `${ctx.publicUrl}/thumbnails/${hash}/${THUMBNAIL_TYPES[type]}.png`,
    }),
    contentType: t.string({ ...publicNonNull('record', 'Always "image/png".'), resolve: () => 'image/png' }),
    sizeBytes: t.int({
      public: 'record',
      cost: { shared: { image: 1 } },
      description: 'Size of the file in bytes, such as 48213; null where there is no structure.',
      resolve: async (thumbnail, _, ctx) => (await imageOf(ctx, thumbnail))?.png.byteLength,
    }),
    base64: t.string({
      public: 'record',
      cost: { shared: { image: 1 }, ...LARGE_VALUE },
      description: 'The file as base64, for `data:image/png;base64,` URLs; null where there is no structure.',
      resolve: async (thumbnail, _, ctx) => (await imageOf(ctx, thumbnail))?.png.toString('base64'),
    }),
  }),
});

builder.objectField(Protein, 'thumbnail', (t) =>
  t.field({
    ...publicNonNull('record', 'A picture of the structure.'),
    type: Thumbnail,
    args: {
      type: t.arg({ type: ThumbnailType, defaultValue: 'PLDDT', description: 'Colours of the picture.' }),
    },
    resolve: ({ hash }, { type }) => ({ hash, type: type ?? 'PLDDT' }),
  }),
);
