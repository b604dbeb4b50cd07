// The structure of an Atlas protein as a PDB or mmCIF file. Its address needs no upstream call.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { builder } from '../../schema/builder.ts';
import { PlddtScale, type PlddtScaleName } from '../../schema/plddt.ts';
import { Protein, type ProteinRef } from '../../schema/protein.ts';
import {
  type LoadedStructure,
  Structure,
  StructureFormat,
  type StructureShape,
} from '../../schema/structure.ts';
import { writeAtlasPdb } from '../../structure/atlas-pdb.ts';
import { LazyText, readBytes, readText } from '../../structure/lazy-text.ts';
import { parsePdb } from '../../structure/pdb.ts';
import { pdbToMmcif } from '../../structure/pdb-to-mmcif.ts';
import type { PlddtUnit } from '../../structure/plddt-scale.ts';
import { UpstreamError } from '../../upstream/errors.ts';
import { partValue, readPart } from '../../upstream/part.ts';
import type { Structure as StructureRecord } from '../../upstream/proteins/structure.ts';
import { RECORD } from '../costs.ts';
import { selectsFileText } from './look-ahead.ts';

export const FILE_ENDINGS = { PDB: 'pdb', MMCIF: 'cif' } as const;

export interface AtlasStructure {
  readonly hash: string;
  readonly format: keyof typeof FILE_ENDINGS;
  /** Scale of pLDDT; undefined leaves the upstream's PDB text as it is. */
  readonly unit: PlddtUnit | undefined;
  readonly ptm: number | null;
  readonly meanPlddt: number | null;
}

/** The PDB file; that of an archive is made when it is written. */
function pdbText(text: StructureRecord['text'], file: AtlasStructure): string | LazyText {
  const { hash, ptm, meanPlddt, unit } = file;
  if (unit === undefined) return text;
  const write = (): string => writeAtlasPdb(readBytes(text), { hash, ptm, meanPlddt, unit });
  return typeof text === 'string' ? write() : new LazyText(text.size, write);
}

/**
 * The structure of a protein as a file.
 *
 * @throws UpstreamError UPSTREAM_DRIFT for one that is not that of its sequence, or holds no atom
 */
export function atlasStructure(structure: StructureRecord, file: AtlasStructure): LoadedStructure {
  const { text, missing, fault } = structure;
  if (fault !== null) throw fault;
  if (file.format === 'PDB')
    return {
      text: pdbText(text, file),
      // Parsing takes longer than writing, and few select the number.
      get atomCount() {
        return parsePdb(readText(text)).atomCount;
      },
    };
  // The service writes 0 to 1.
  const plddtUnit = file.unit ?? 'UNIT';
  const pdb = readText(pdbText(text, { ...file, unit: plddtUnit }));
  const written = pdbToMmcif(pdb, { id: file.hash, plddtUnit }, missing);
  if (written.ok) return { text: written.text, atomCount: written.atomCount };
  throw new UpstreamError(`The structure that the upstream gave cannot be read: ${written.reason}`, {
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
const signedUrl = ({ services, publicUrl, principal }: GatewayContext, path: string, query: string): string =>
  `${publicUrl}${services.links.seal(path, { principal, url: null })}${query}`;

function structureFile(
  ctx: GatewayContext,
  protein: ProteinRef,
  args: StructureArgs,
  info: GraphQLResolveInfo,
): StructureShape | null {
  const { hash } = protein;
  const format = args.format ?? 'PDB';
  const unit = args.plddtScale ?? 'PERCENT';
  const query = unit === 'PERCENT' ? '' : `?plddt=${unit.toLowerCase()}`;
  const path = `/structures/${hash}.${FILE_ENDINGS[format]}`;
  // With only the address selected nothing is loaded; the address answers 404 where there is no
  // structure.
  const structure = selectsFileText(info) ? readPart(protein.structure) : undefined;
  if (structure === null) return null;
  let loaded: LoadedStructure | undefined;
  return {
    format,
    url: `${ctx.publicUrl}${path}${query}`,
    signedUrl: () => signedUrl(ctx, path, query),
    load() {
      if (structure === undefined) throw new Error('The look-ahead did not ask for the structure.');
      const scores = { ptm: partValue(protein.ptm) ?? null, meanPlddt: partValue(protein.meanPlddt) ?? null };
      loaded ??= atlasStructure(structure, { hash, format, unit, ...scores });
      return loaded;
    },
  };
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
    resolve: (protein, args, ctx, info) => structureFile(ctx, protein, args, info),
  }),
);
