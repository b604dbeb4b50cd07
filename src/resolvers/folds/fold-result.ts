// FoldResult, the result of a task, downloaded once in a request when a field needs it. Scalar
// scores come from the store once they were read.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import type { FieldCost } from '../../execution/query-cost.ts';
import { builder } from '../../schema/builder.ts';
import { nonNull } from '../../schema/field-options.ts';
import { Plddt, type PlddtShape } from '../../schema/plddt.ts';
import { badInput } from '../../schema/scalars.ts';
import {
  type LoadedStructure,
  Structure,
  StructureFormat,
  type StructureShape,
} from '../../schema/structure.ts';
import type { TaskShape } from '../../schema/task.ts';
import type { TaskScores } from '../../store/ledger/ledger.ts';
import { missingResult } from '../../upstream/folds/fold-results.ts';
import { checkedPart, type FoldResultHandle } from '../../upstream/folds/open-fold-result.ts';
import { selectsFileText } from '../atlas/load-protein.ts';
import { FILE_ENDINGS } from '../atlas/structure.ts';
import { ChainPairIptm, FoldEmbeddings, FoldedChain, PredictedAlignedError } from './fold-parts.ts';
import { taskFilePath } from './task-shape.ts';

async function foldOf(ctx: GatewayContext, { taskId }: TaskShape): Promise<FoldResultHandle> {
  const fold = await ctx.folds.open(taskId);
  if (fold === null) throw missingResult();
  return fold;
}

const summaryOf = async (ctx: GatewayContext, task: TaskShape) => (await foldOf(ctx, task)).summary;

/** @throws UpstreamError UPSTREAM_DRIFT where List tells of a result that Status does not give */
export async function scoresOfResult(ctx: GatewayContext, taskId: string): Promise<TaskScores> {
  const scores = await ctx.folds.scores(taskId);
  if (scores === null) throw missingResult();
  return scores;
}

const addressOf = (ctx: GatewayContext, { taskId }: TaskShape, file: string): string =>
  `${ctx.publicUrl}${taskFilePath(taskId, file)}`;

/** An address that needs no token; null where the service keeps the result at none. */
async function signedAddressOf(
  ctx: GatewayContext,
  { taskId }: TaskShape,
  file: string,
): Promise<string | null> {
  const url = await ctx.folds.url(taskId);
  const path = taskFilePath(taskId, file);
  const { links } = ctx.services;
  if (url === null) return null;
  return `${ctx.publicUrl}${path}?signature=${links.seal(path, { principal: ctx.principal, url })}`;
}

/**
 * The mean pLDDT, 0 to 1, of scores of a result that is there. Where they have none the result says why.
 *
 * @throws UpstreamError UPSTREAM_DRIFT when its rows fit no token or are on another scale
 */
export async function meanPlddtOf(
  ctx: GatewayContext,
  task: TaskShape,
  { meanPlddt }: TaskScores,
): Promise<number | null> {
  if (meanPlddt !== null) return meanPlddt;
  const { meanPlddt: read, misfits } = await summaryOf(ctx, task);
  return checkedPart(read, misfits.plddt);
}

async function plddtOf(ctx: GatewayContext, task: TaskShape): Promise<PlddtShape | null> {
  const mean = await meanPlddtOf(ctx, task, await scoresOfResult(ctx, task.taskId));
  if (mean === null) return null;
  return { mean, unit: async () => (await (await foldOf(ctx, task)).plddt()) ?? [] };
}

/** @throws UpstreamError UPSTREAM_DRIFT; GraphQLError with the reason where the format cannot hold it */
async function loadStructure(
  fold: FoldResultHandle,
  format: StructureShape['format'],
): Promise<LoadedStructure> {
  const file = checkedPart(
    await (format === 'PDB' ? fold.pdb() : fold.mmcif()),
    fold.summary.misfits.structure,
  );
  if (file.ok) return file;
  throw badInput(format === 'PDB' ? `${file.reason} Ask for MMCIF.` : file.reason);
}

async function structureOf(
  ctx: GatewayContext,
  task: TaskShape,
  format: StructureShape['format'],
  info: GraphQLResolveInfo,
): Promise<StructureShape | null> {
  const file = `structure.${FILE_ENDINGS[format]}`;
  // With only the address selected nothing is downloaded; the address answers 404 where there is no
  // structure.
  if (selectsFileText(info)) {
    const { atomCount, misfits } = await summaryOf(ctx, task);
    if (atomCount === 0 && misfits.structure === null) return null;
  }
  let loading: Promise<LoadedStructure> | undefined;
  return {
    format,
    url: addressOf(ctx, task, file),
    signedUrl: () => signedAddressOf(ctx, task, file),
    load: () => {
      loading ??= foldOf(ctx, task).then((fold) => loadStructure(fold, format));
      return loading;
    },
  };
}

/** Fields that share the download of the result. */
const DOWNLOAD: FieldCost = { shared: { download: 1 } };

export const FoldResult = builder.objectRef<TaskShape>('FoldResult').implement({
  description: 'The prediction of a task: scores, confidences, structure.',
  fields: (t) => ({
    resultUrl: t.field({
      type: 'URL',
      nullable: false,
      description:
        'Address of the result JSON at the gateway. It does not expire before the result; selecting it ' +
        'costs nothing, downloading it needs your token.',
      resolve: (task, _, ctx) => addressOf(ctx, task, 'result.json'),
    }),
    signedUrl: t.field({
      type: 'URL',
      description:
        'Address of the result JSON at the gateway that opens for 15 minutes without a token, from any site; ' +
        'null where the upstream sends the result inside its answer. One Status call.',
      resolve: (task, _, ctx) => signedAddressOf(ctx, task, 'result.json'),
    }),
    model: t.string({
      cost: DOWNLOAD,
      description: 'The model that folded it, such as "foldmodel2-2026-05-cutoff-2025".',
      resolve: async (task, _, ctx) => (await summaryOf(ctx, task)).model,
    }),
    ptm: t.float({
      cost: DOWNLOAD,
      description: 'Predicted TM-score of the whole complex, 0 to 1, such as 0.87.',
      resolve: async ({ taskId }, _, ctx) => (await scoresOfResult(ctx, taskId)).ptm,
    }),
    iptm: t.float({
      cost: DOWNLOAD,
      description: 'Predicted TM-score between chains, 0 to 1, such as 0.62; null for a single chain.',
      resolve: async ({ taskId }, _, ctx) => (await scoresOfResult(ctx, taskId)).iptm,
    }),
    plddt: t.field({
      cost: DOWNLOAD,
      type: Plddt,
      description: 'Confidence of each token. The gateway stores the mean; the values are in the result.',
      resolve: (task, _, ctx) => plddtOf(ctx, task),
    }),
    pae: t.field({
      cost: DOWNLOAD,
      type: PredictedAlignedError,
      description: 'Error between tokens; null unless you set includePae.',
      resolve: async (task, _, ctx) => {
        const fold = await foldOf(ctx, task);
        const { pae, misfits } = fold.summary;
        const fitting = checkedPart(pae, misfits.pae);
        return fitting === null ? null : { ...fitting, fold };
      },
    }),
    chainPairs: t.field({
      cost: DOWNLOAD,
      ...nonNull('ipTM of each ordered pair of chains, 0 to 1; empty unless you set includePairChainsIptm.'),
      type: [ChainPairIptm],
      resolve: async (task, _, ctx) => {
        const { chainPairs, misfits } = await summaryOf(ctx, task);
        return [...checkedPart(chainPairs, misfits.chainPairs)];
      },
    }),
    chains: t.field({
      cost: DOWNLOAD,
      ...nonNull('The chains, in the order of their tokens.'),
      type: [FoldedChain],
      resolve: async (task, _, ctx) => {
        const { chains, misfits } = await summaryOf(ctx, task);
        return checkedPart(chains, misfits.chains).map((chain) => ({ ...chain, plddtMisfit: misfits.plddt }));
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
      resolve: (task, { format }, ctx, info) => structureOf(ctx, task, format ?? 'MMCIF', info),
    }),
    embeddings: t.field({
      cost: DOWNLOAD,
      type: FoldEmbeddings,
      description: 'Embeddings; null unless you set includeEmbeddings.',
      resolve: async (task, _, ctx) => {
        const { embeddings: found, misfits } = await summaryOf(ctx, task);
        const embeddings = checkedPart(found, misfits.embeddings);
        return embeddings === null
          ? null
          : {
              ...embeddings,
              url: addressOf(ctx, task, 'embeddings.npz'),
              signedUrl: () => signedAddressOf(ctx, task, 'embeddings.npz'),
            };
      },
    }),
    warnings: t.stringList({
      cost: DOWNLOAD,
      ...nonNull("The upstream's warnings about the result."),
      resolve: async (task, _, ctx) => [...(await summaryOf(ctx, task)).warnings],
    }),
    raw: t.field({
      cost: DOWNLOAD,
      type: 'JSON',
      description: 'The result JSON, or its part at a dotted path; null where there is nothing.',
      args: { path: t.arg.string({ description: 'Dotted path, such as "complex.metadata.chain_lookup".' }) },
      resolve: async (task, { path }, ctx) => (await foldOf(ctx, task)).raw(path ?? undefined),
    }),
  }),
});
