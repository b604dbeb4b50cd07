// FoldResult, the result of a task: downloaded once in a request when a field needs it. Scalar
// scores come from the ledger once they were read.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../../context.ts';
import { builder } from '../../../schema/builder.ts';
import { nonNull } from '../../../schema/field-options.ts';
import { Plddt, type PlddtShape } from '../../../schema/plddt.ts';
import type { FieldCost } from '../../../schema/query-cost.ts';
import { badInput } from '../../../schema/scalars.ts';
import {
  type LoadedStructure,
  Structure,
  StructureFormat,
  type StructureShape,
} from '../../../schema/structure.ts';
import type { TaskShape } from '../../../schema/task.ts';
import type { DeclaredBond } from '../../../structure/fold/declared-bonds.ts';
import { writeFoldFile } from '../../../structure/fold/files.ts';
import { readRaw } from '../../../structure/fold/raw.ts';
import type { FoldingResult } from '../../../structure/fold/result.ts';
import { checkPart } from '../../../upstream/folds/fold-errors.ts';
import { selectsFileText } from '../../atlas/look-ahead.ts';
import { FILE_ENDINGS } from '../../atlas/structure.ts';
import { findItem, listDeclaredBonds } from '../tasks/task-shape.ts';
import { FoldEmbeddings, loadEmbeddings } from './fold-embeddings.ts';
import { ChainPair, FoldedChain } from './folded-chain.ts';
import { fileUrl, loadFold, loadMeanPlddt, loadScores, signFileUrl } from './load-fold.ts';
import { loadPae, PredictedAlignedError } from './predicted-aligned-error.ts';
import { listFiles } from './task-files.ts';

async function loadPlddt(ctx: GatewayContext, task: TaskShape): Promise<PlddtShape | null> {
  const mean = await loadMeanPlddt(ctx, task, await loadScores(ctx, task));
  return mean === null ? null : { mean, unit: async () => (await loadFold(ctx, task)).plddt.slots };
}

/**
 * @throws UpstreamError UPSTREAM_DRIFT; GraphQLError with the reason when the format cannot hold it
 */
function writeStructure(
  fold: FoldingResult,
  format: StructureShape['format'],
  bonds: readonly DeclaredBond[],
): LoadedStructure {
  const file = writeFoldFile(fold, format, bonds);
  checkPart(file, fold.misfits.structure);
  if (file.ok) return file;
  throw badInput(format === 'PDB' ? `${file.reason} Ask for MMCIF.` : file.reason);
}

async function loadStructure(
  ctx: GatewayContext,
  task: TaskShape,
  format: StructureShape['format'],
  info: GraphQLResolveInfo,
): Promise<StructureShape | null> {
  const file = `structure.${FILE_ENDINGS[format]}`;
  // With only the address selected nothing is downloaded; it answers 404 when there is no
  // structure.
  if (selectsFileText(info)) {
    const { atomCount, misfits } = await loadFold(ctx, task);
    if (atomCount === 0 && misfits.structure === null) return null;
  }
  let written: Promise<LoadedStructure> | undefined;
  return {
    format,
    url: fileUrl(ctx, task, file),
    signedUrl: () => signFileUrl(ctx, task, file),
    load() {
      written ??= Promise.all([loadFold(ctx, task), findItem(ctx, task)]).then(([fold, item]) =>
        writeStructure(fold, format, listDeclaredBonds(item)),
      );
      return written;
    },
  };
}

/** Fields that share the download of the result. */
const DOWNLOAD: FieldCost = { shared: { download: 1 } };

interface FoldFileShape {
  readonly task: TaskShape;
  readonly name: string;
}

const FoldFile = builder.objectRef<FoldFileShape>('FoldFile').implement({
  description: 'A file of a folded task at the gateway.',
  fields: (t) => ({
    name: t.exposeString('name', nonNull('Its name, such as "confidences.json".')),
    url: t.field({
      ...nonNull('Its address, which needs your token.'),
      type: 'URL',
      resolve: ({ task, name }, _, ctx) => fileUrl(ctx, task, name),
    }),
    signedUrl: t.field({
      type: 'URL',
      description:
        'Its address that opens for 15 minutes without a token, from any site; null where the upstream ' +
        'sends the result inside its answer. One Status call for all files.',
      resolve: ({ task, name }, _, ctx) => signFileUrl(ctx, task, name),
    }),
  }),
});

export const FoldResult = builder.objectRef<TaskShape>('FoldResult').implement({
  description: 'The prediction of a task: scores, confidences, structure.',
  fields: (t) => ({
    resultUrl: t.field({
      type: 'URL',
      nullable: false,
      description:
        'Address of the result JSON at the gateway. It does not expire before the result; selecting it ' +
        'costs nothing, downloading it needs your token.',
      resolve: (task, _, ctx) => fileUrl(ctx, task, 'result.json'),
    }),
    signedUrl: t.field({
      type: 'URL',
      description:
        'Address of the result JSON at the gateway that opens for 15 minutes without a token, from any site; ' +
        'null where the upstream sends the result inside its answer. One Status call.',
      resolve: (task, _, ctx) => signFileUrl(ctx, task, 'result.json'),
    }),
    files: t.field({
      cost: DOWNLOAD,
      semanticNonNull: true,
      description:
        'The files that the gateway can make of this result: the JSON, structures, confidences as AlphaFold 3 ' +
        'writes them, errors of a single chain as AlphaFold DB has them, embeddings. Null only with an error.',
      type: [FoldFile],
      resolve: async (task, _, ctx) =>
        listFiles(await loadFold(ctx, task)).map(({ name }) => ({ task, name })),
    }),
    model: t.string({
      cost: DOWNLOAD,
      description: 'The model that folded it, such as "foldmodel2-2026-05-cutoff-2025".',
      resolve: async (task, _, ctx) => (await loadFold(ctx, task)).model,
    }),
    ptm: t.float({
      cost: DOWNLOAD,
      description: 'Predicted TM-score of the whole complex, 0 to 1, such as 0.87.',
      resolve: async (task, _, ctx) => (await loadScores(ctx, task)).ptm,
    }),
    iptm: t.float({
      cost: DOWNLOAD,
      description: 'Predicted TM-score between chains, 0 to 1, such as 0.62; null for a single chain.',
      resolve: async (task, _, ctx) => (await loadScores(ctx, task)).iptm,
    }),
    plddt: t.field({
      cost: DOWNLOAD,
      type: Plddt,
      description: 'Confidence of each token. The gateway stores the mean; the values are in the result.',
      resolve: (task, _, ctx) => loadPlddt(ctx, task),
    }),
    pae: t.field({
      cost: DOWNLOAD,
      type: PredictedAlignedError,
      description: 'Error between tokens; null unless you set includePae.',
      resolve: (task, _, ctx) => loadPae(ctx, task),
    }),
    chainPairs: t.field({
      cost: DOWNLOAD,
      ...nonNull(
        'Scores of each ordered pair of chains that has any. ipSAE, pDockQ2, LIS and errors need includePae, ' +
          'ipTM and the pair of a chain with itself includePairChainsIptm.',
      ),
      type: [ChainPair],
      resolve: async (task, _, ctx) => {
        const { chainPairs, misfits } = await loadFold(ctx, task);
        const paeMisfit = misfits.pae;
        return checkPart(chainPairs, misfits.chainPairs).map((pair) => ({ ...pair, paeMisfit }));
      },
    }),
    chains: t.field({
      cost: DOWNLOAD,
      ...nonNull('The chains, in the order of their tokens.'),
      type: [FoldedChain],
      resolve: async (task, _, ctx) => {
        const { chains, misfits } = await loadFold(ctx, task);
        return checkPart(chains, misfits.chains).map((chain) => ({ ...chain, plddtMisfit: misfits.plddt }));
      },
    }),
    structure: t.field({
      cost: DOWNLOAD,
      type: Structure,
      description:
        'The structure as a file, pLDDT (0 to 100) as B-factor. Null with an error where PDB cannot hold ' +
        'it: too many atoms, or long chain ids.',
      args: {
        format: t.arg({
          type: StructureFormat,
          defaultValue: 'MMCIF',
          description: 'MMCIF holds everything.',
        }),
      },
      resolve: (task, { format }, ctx, info) => loadStructure(ctx, task, format ?? 'MMCIF', info),
    }),
    embeddings: t.field({
      cost: DOWNLOAD,
      type: FoldEmbeddings,
      description: 'Embeddings; null unless you set includeEmbeddings.',
      resolve: (task, _, ctx) => loadEmbeddings(ctx, task),
    }),
    warnings: t.stringList({
      cost: DOWNLOAD,
      ...nonNull("The upstream's warnings about the result."),
      resolve: async (task, _, ctx) => (await loadFold(ctx, task)).warnings,
    }),
    raw: t.field({
      cost: { ...DOWNLOAD, values: 10_000 },
      type: 'JSON',
      description: 'The result JSON, or its part at a dotted path; null where there is nothing.',
      args: { path: t.arg.string({ description: 'Dotted path, such as "complex.metadata.chain_lookup".' }) },
      resolve: async (task, { path }, ctx) => readRaw((await loadFold(ctx, task)).raw, path ?? undefined),
    }),
  }),
});
