// Resolvers of FoldResult. Scalar scores come from the store once they were read; everything else
// from the result, which a request downloads once.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import type { FieldCost } from '../../execution/query-cost.ts';
import { builder } from '../../schema/builder.ts';
import {
  ChainPairIptm,
  FoldEmbeddings,
  FoldedChain,
  FoldResult,
  type FoldResultShape,
  PredictedAlignedError,
} from '../../schema/fold-result.ts';
import { Plddt, type PlddtShape } from '../../schema/plddt.ts';
import { Protein } from '../../schema/protein.ts';
import { badInput } from '../../schema/scalars.ts';
import {
  type LoadedStructure,
  Structure,
  StructureFormat,
  type StructureShape,
} from '../../schema/structure.ts';
import { UpstreamError } from '../../upstream/errors.ts';
import type { FoldResultHandle } from '../../upstream/folds/open-fold-result.ts';
import { signedUrl } from '../../upstream/http/download.ts';
import { drifted } from '../../upstream/http/validate-response.ts';
import { FILE_ENDINGS } from '../../upstream/reads/structure-file.ts';
import { findProtein } from '../atlas/protein.ts';
import { requiredPartsOf, selectsFileText } from '../atlas/protein-parts.ts';
import { proteinLink } from '../costs.ts';
import { taskFilePath } from './task-shape.ts';

export const gone = (): UpstreamError =>
  drifted('status', '$.response', 'the task is done, and there is no result', true);

/**
 * A part of a result.
 *
 * @throws UpstreamError UPSTREAM_DRIFT with the reason when its rows fit no token or its scores are
 * outside 0 to 1
 */
function fittingPart<T>(part: T, misfit: string | null): T {
  if (misfit === null) return part;
  throw new UpstreamError(misfit, { operation: 'download', code: 'UPSTREAM_DRIFT', retryable: false });
}

/** Downloads the result of a task. */
export async function foldOf(ctx: GatewayContext, taskId: string): Promise<FoldResultHandle> {
  const fold = await ctx.folds.open(taskId);
  if (fold === null) throw gone();
  return fold;
}

const summaryOf = async (ctx: GatewayContext, { task }: FoldResultShape) =>
  (await foldOf(ctx, task.taskId)).summary;

const scoresOf = (ctx: GatewayContext, { task }: FoldResultShape) => ctx.folds.scores(task.taskId);

const addressOf = (ctx: GatewayContext, { task }: FoldResultShape, file: string): string =>
  `${ctx.publicUrl}${taskFilePath(task.taskId, file)}`;

/** An address that needs no token; null where the service keeps the result at none. */
async function signedAddressOf(
  ctx: GatewayContext,
  { task }: FoldResultShape,
  file: string,
): Promise<string | null> {
  const url = await ctx.folds.url(task.taskId);
  const path = taskFilePath(task.taskId, file);
  const { links } = ctx.services;
  if (url === null) return null;
  return `${ctx.publicUrl}${path}?signature=${links.seal(path, { principal: ctx.principal, url })}`;
}

async function urlOf(ctx: GatewayContext, result: FoldResultShape): Promise<string> {
  const { taskId } = result.task;
  const url = await ctx.folds.url(taskId);
  if (url !== null) return signedUrl(ctx.upstream, url).href;
  if ((await ctx.folds.inline(taskId)) === null) throw gone();
  return addressOf(ctx, result, 'result.json');
}

async function plddtOf(ctx: GatewayContext, result: FoldResultShape): Promise<PlddtShape | null> {
  const mean = (await scoresOf(ctx, result))?.meanPlddt ?? null;
  if (mean === null) return fittingPart(null, (await summaryOf(ctx, result)).misfits.plddt);
  return { mean, unit: async () => (await (await foldOf(ctx, result.task.taskId)).plddt()) ?? [] };
}

/**
 * The text of a structure file.
 *
 * @throws GraphQLError with the reason where the format cannot hold it
 */
async function loadStructure(
  fold: FoldResultHandle,
  format: StructureShape['format'],
): Promise<LoadedStructure> {
  const file = await (format === 'PDB' ? fold.pdb() : fold.mmcif());
  if (file.ok) return file;
  throw badInput(format === 'PDB' ? `${file.reason} Ask for MMCIF.` : file.reason);
}

async function structureOf(
  ctx: GatewayContext,
  result: FoldResultShape,
  asked: StructureShape['format'] | null | undefined,
  info: GraphQLResolveInfo,
): Promise<StructureShape | null> {
  const format = asked ?? 'MMCIF';
  const { taskId } = result.task;
  const file = `structure.${FILE_ENDINGS[format]}`;
  // With only the address selected nothing is downloaded; the address answers 404 where there is no
  // structure.
  if (selectsFileText(info) && (await summaryOf(ctx, result)).tokenCount === 0) return null;
  let loading: Promise<LoadedStructure> | undefined;
  return {
    format,
    url: addressOf(ctx, result, file),
    signedUrl: () => signedAddressOf(ctx, result, file),
    load: () => {
      loading ??= foldOf(ctx, taskId).then((fold) => loadStructure(fold, format));
      return loading;
    },
  };
}

/** Fields that share the download of the result. */
const DOWNLOAD: FieldCost = { shared: { download: 1 } };

builder.objectFields(FoldResult, (t) => ({
  resultUrl: t.field({
    type: 'URL',
    nullable: false,
    description:
      'Address of the result JSON at the gateway. It does not expire before the result; selecting it ' +
      'costs nothing, downloading it needs your token.',
    resolve: (result, _, ctx) => addressOf(ctx, result, 'result.json'),
  }),
  url: t.field({
    type: 'URL',
    nullable: false,
    deprecationReason: 'Use `signedUrl`. Removed after 2027-05-31.',
    description:
      "Address that the upstream signed, valid for a short time; the gateway's where the upstream sent " +
      'the result inside its answer. One Status call.',
    resolve: (result, _, ctx) => urlOf(ctx, result),
  }),
  gatewayUrl: t.field({
    type: 'URL',
    nullable: false,
    deprecationReason: 'Use `resultUrl`. Removed after 2027-05-31.',
    description: 'The same as `resultUrl`.',
    resolve: (result, _, ctx) => addressOf(ctx, result, 'result.json'),
  }),
  signedUrl: t.field({
    type: 'URL',
    description:
      'Address of the result JSON at the gateway that opens for 15 minutes without a token, from any site, and ' +
      'no longer than the address that the upstream signed. Null where the upstream sends the result inside ' +
      'its answer. One Status call.',
    resolve: (result, _, ctx) => signedAddressOf(ctx, result, 'result.json'),
  }),
  model: t.string({
    cost: DOWNLOAD,
    description: 'The model that folded it, such as "foldmodel2-2026-05-cutoff-2025".',
    resolve: async (result, _, ctx) => (await summaryOf(ctx, result)).model,
  }),
  ptm: t.float({
    cost: DOWNLOAD,
    description: 'Predicted TM-score of the whole complex, 0 to 1, such as 0.87.',
    resolve: async (result, _, ctx) => (await scoresOf(ctx, result))?.ptm,
  }),
  iptm: t.float({
    cost: DOWNLOAD,
    description: 'Predicted TM-score between chains, 0 to 1, such as 0.62; null for a single chain.',
    resolve: async (result, _, ctx) => (await scoresOf(ctx, result))?.iptm,
  }),
  plddt: t.field({
    cost: DOWNLOAD,
    type: Plddt,
    description: 'Confidence of each token. The gateway stores the mean; the values are in the result.',
    resolve: (result, _, ctx) => plddtOf(ctx, result),
  }),
  pae: t.field({
    cost: DOWNLOAD,
    type: PredictedAlignedError,
    description: 'Error between tokens; null unless you set includePae.',
    resolve: async (result, _, ctx) => {
      const { pae, misfits } = await summaryOf(ctx, result);
      const fitting = fittingPart(pae, misfits.pae);
      return fitting === null ? null : { ...fitting, taskId: result.task.taskId };
    },
  }),
  chainPairs: t.field({
    cost: DOWNLOAD,
    type: [ChainPairIptm],
    nullable: { list: false, items: false },
    description: 'ipTM of each ordered pair of chains, 0 to 1; empty unless you set includePairChainsIptm.',
    resolve: async (result, _, ctx) => {
      const { chainPairs, misfits } = await summaryOf(ctx, result);
      return [...fittingPart(chainPairs, misfits.chainPairs)];
    },
  }),
  chains: t.field({
    cost: DOWNLOAD,
    type: [FoldedChain],
    nullable: { list: false, items: false },
    description: 'The chains, in the order of their tokens.',
    resolve: async (result, _, ctx) => [...(await summaryOf(ctx, result)).chains],
  }),
  structure: t.field({
    cost: DOWNLOAD,
    type: Structure,
    description:
      'The structure as a file, pLDDT (0 to 100) as B-factor. Null with an error where PDB cannot hold ' +
      'it: too many atoms, or long chain ids.',
    args: {
      format: t.arg({ type: StructureFormat, defaultValue: 'MMCIF', description: 'MMCIF holds everything.' }),
    },
    resolve: (result, { format }, ctx, info) => structureOf(ctx, result, format, info),
  }),
  embeddings: t.field({
    cost: DOWNLOAD,
    type: FoldEmbeddings,
    description: 'Embeddings; null unless you set includeEmbeddings.',
    resolve: async (result, _, ctx) => {
      const { embeddings: found, misfits } = await summaryOf(ctx, result);
      const embeddings = fittingPart(found, misfits.embeddings);
      return embeddings === null
        ? null
        : {
            ...embeddings,
            url: addressOf(ctx, result, 'embeddings.npz'),
            signedUrl: () => signedAddressOf(ctx, result, 'embeddings.npz'),
          };
    },
  }),
  warnings: t.stringList({
    cost: DOWNLOAD,
    nullable: { list: false, items: false },
    description: "The upstream's warnings about the result.",
    resolve: async (result, _, ctx) => [...(await summaryOf(ctx, result)).warnings],
  }),
  raw: t.field({
    cost: DOWNLOAD,
    type: 'JSON',
    description: 'The result JSON, or its part at a dotted path; null where there is nothing.',
    args: { path: t.arg.string({ description: 'Dotted path, such as "complex.metadata.chain_lookup".' }) },
    resolve: async ({ task }, { path }, ctx) => (await foldOf(ctx, task.taskId)).raw(path ?? undefined),
  }),
}));

builder.objectFields(FoldedChain, (t) => ({
  protein: t.field({
    type: Protein,
    cost: proteinLink,
    description:
      'Its protein in the Atlas; null when the Atlas does not have it, and for other kinds of chains.',
    resolve: ({ proteinHash }, _, ctx, info) =>
      proteinHash === null ? null : findProtein(ctx, proteinHash, requiredPartsOf(info)),
  }),
}));
