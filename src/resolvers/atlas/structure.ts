// The structure of an Atlas protein as a PDB or mmCIF file. Its address needs no upstream call.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { builder } from '../../schema/builder.ts';
import { PlddtScale, type PlddtScaleName } from '../../schema/plddt.ts';
import { Protein } from '../../schema/protein.ts';
import {
  type LoadedStructure,
  Structure,
  StructureFormat,
  type StructureShape,
} from '../../schema/structure.ts';
import { hasCoordinates, type PresentProtein } from '../../upstream/proteins/protein-data.ts';
import type { RequiredParts } from '../../upstream/proteins/required-parts.ts';
import { type AtlasStructure, atlasStructure, FILE_ENDINGS } from '../../upstream/reads/structure-file.ts';
import { RECORD } from '../costs.ts';
import { fromProtein, type MaybePromise } from '../maybe-promise.ts';
import { selectsFileText } from './protein-parts.ts';

const STRUCTURE: RequiredParts = { structure: true };

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
  const scale = args.plddtScale ?? 'PERCENT';
  const unit = scale === 'UPSTREAM' ? undefined : scale;
  const query = scale === 'PERCENT' ? '' : `?plddt=${scale.toLowerCase()}`;
  const path = `/structures/${hash}.${FILE_ENDINGS[format]}`;
  let loaded: MaybePromise<LoadedStructure> | undefined;
  const load = (): MaybePromise<LoadedStructure> =>
    fromProtein(ctx, hash, STRUCTURE, (data) =>
      atlasStructure(data?.structure ?? { pdb: '' }, { hash, format, unit }),
    );
  const shape: StructureShape = {
    format,
    url: `${ctx.publicUrl}${path}${query}`,
    signedUrl: () => signedUrl(ctx, path, query),
    load: () => {
      loaded ??= load();
      return loaded;
    },
  };
  const shapeOf = (data: PresentProtein | null | undefined): StructureShape | null => {
    if (data === null || data?.structure === null) return null;
    return data?.structure !== undefined && !hasCoordinates(data.structure) ? null : shape;
  };
  // With only the address selected nothing is loaded; the address answers 404 where there is no
  // structure.
  return selectsFileText(info)
    ? fromProtein(ctx, hash, STRUCTURE, shapeOf)
    : shapeOf(ctx.proteins.peek(hash));
}

builder.objectField(Protein, 'structure', (t) =>
  t.field({
    public: 'record',
    type: Structure,
    cost: (_, { names }) => (names.has('text') || names.has('atomCount') ? RECORD : {}),
    description:
      'The predicted structure; null where there is none (700 residues and more are not folded). If ' +
      'you select only `url` and `format`, nothing is loaded, and the address answers 404 where there ' +
      'is no structure.',
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
