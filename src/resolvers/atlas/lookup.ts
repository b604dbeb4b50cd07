// lookup: a mix of identifiers. All identifiers are resolved first, so that
// their proteins share one bulk call for each 500.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { excerpt } from '../../plain-text.ts';
import { builder, enumValues } from '../../schema/builder.ts';
import { publicNonNull, publicNullable } from '../../schema/field-options.ts';
import { Problem, type ProblemShape } from '../../schema/problem.ts';
import { Protein, type ProteinRef } from '../../schema/protein.ts';
import { badInput } from '../../schema/scalars.ts';
import type { LoadResult } from '../../upstream/proteins/known-proteins.ts';
import { bulkCalls, countDistinct } from '../costs.ts';
import { selectedFields } from '../selection.ts';
import { requiredPartsBelow, withoutNames } from './look-ahead.ts';
import { type Resolved, resolveIdentifiers, resolvingCalls } from './resolve-identifiers.ts';

const MAX_IDS = 5000;

const quoteRequested = (id: string, { status }: Outcome): string =>
  status === 'NOT_AN_IDENTIFIER' ? excerpt(id) : id;

const LookupStatus = builder.enumType('LookupStatus', {
  description: 'Whether an identifier led to a protein, or why not; also the column `status` of tables.',
  values: enumValues({
    FOUND: 'The Atlas has the protein.',
    NOT_IN_ATLAS: 'The identifier is right, and the Atlas does not have its protein.',
    NO_SUCH_ENTRY: 'There is no UniProt entry with this accession or name; a sandbox lacks most of them.',
    NOT_AN_IDENTIFIER: 'The text names no protein; `problem` says what to type.',
    UNAVAILABLE: 'The upstream failed, so that nothing is known; ask again.',
  }),
});

/** One result: the id, and the protein or the reason why there is none. */
interface LookupRef {
  readonly requested: string;
  readonly status: typeof LookupStatus.$inferType;
  readonly protein?: ProteinRef;
  readonly problem?: ProblemShape;
  /** The error of the field that `failsAt` names; thrown also when only `problem` is selected. */
  readonly failure?: unknown;
  readonly failsAt: 'protein' | 'problem';
}

const ProteinLookup = builder.objectRef<LookupRef>('ProteinLookup').implement({
  description: 'One result for each id, in your order, duplicates included.',
  fields: (t) => ({
    requested: t.exposeString(
      'requested',
      publicNonNull(
        'record',
        'The id that you gave, such as "P01308"; text that is none is cut after 200 characters.',
      ),
    ),
    status: t.expose('status', {
      ...publicNonNull('record', 'Whether there is a protein, or why not.'),
      type: LookupStatus,
    }),
    protein: t.field({
      ...publicNullable('record', 'The protein; null where `problem` says why there is none.'),
      type: Protein,
      resolve: ({ protein, failure }) => {
        if (failure !== undefined) throw failure;
        return protein;
      },
    }),
    problem: t.field({
      public: 'record',
      type: Problem,
      description:
        'Why there is no protein: NotFound when it does not exist, InvalidInput when the id is not an ' +
        'identifier. Null when there is a protein, and when the service failed: an error then stands ' +
        'at `protein`, or here if you did not select `protein`.',
      resolve: ({ problem, failure, failsAt }) => {
        if (failure !== undefined && failsAt === 'problem') throw failure;
        return problem;
      },
    }),
  }),
});

/** The result for an identifier, without the parts that the query decides. */
type Outcome = Omit<LookupRef, 'requested' | 'failsAt'>;

/**
 * The result for a resolved identifier.
 *
 * @param proteins - by hash: null, or the failure, of one that could not be loaded
 * @param notInAtlas - the problem of a protein that does not exist
 */
function toOutcome(
  resolved: Resolved,
  proteins: ReadonlyMap<string, LoadResult>,
  notInAtlas: ProblemShape,
): Outcome {
  if ('problem' in resolved) {
    const { problem } = resolved;
    return { status: problem.kind === 'InvalidInput' ? 'NOT_AN_IDENTIFIER' : 'NO_SUCH_ENTRY', problem };
  }
  if ('failure' in resolved) return { status: 'UNAVAILABLE', failure: resolved.failure };
  const found = proteins.get(resolved.hash) ?? null;
  if (found instanceof Error) return { status: 'UNAVAILABLE', failure: found };
  return found === null
    ? { status: 'NOT_IN_ATLAS', problem: notInAtlas }
    : { status: 'FOUND', protein: { ...found, entry: resolved.entry } };
}

/** @throws GraphQLError BAD_USER_INPUT for too many */
async function lookUp(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  ids: readonly string[],
): Promise<LookupRef[]> {
  if (ids.length > MAX_IDS)
    throw badInput(`\`ids\` holds ${ids.length} ids; at most ${MAX_IDS} fit in one query. Ask in several.`);
  const selected = selectedFields(info, 'ProteinLookup');
  const notInAtlas: ProblemShape = {
    kind: 'NotFound',
    message: `${ctx.services.upstream.isSandbox() ? 'The sandbox' : 'The Atlas'} does not have this protein.`,
    hint: 'Fold it with submitFold, or search for similar ones.',
  };
  const resolved = await resolveIdentifiers(ctx, ids, 'ids');
  const hashes = [...new Set(resolved.flatMap((one) => ('hash' in one ? [one.hash] : [])))];
  const needs = requiredPartsBelow(info, selected, 'protein');
  const isNamed = resolved.some((one) => 'entry' in one);
  const proteins = await ctx.proteins.loadMany(hashes, isNamed ? withoutNames(needs) : needs);
  const found = new Map(hashes.map((hash, i) => [hash, proteins[i] ?? null]));
  const failsAt = selected.some(({ name }) => name === 'protein') ? 'protein' : 'problem';
  return resolved.map((one, i) => {
    const outcome = toOutcome(one, found, notInAtlas);
    return { requested: quoteRequested(ids[i] ?? '', outcome), failsAt, ...outcome };
  });
}

builder.queryField('lookup', (t) =>
  t.field({
    public: 'record',
    type: [ProteinLookup],
    cost: ({ ids }) => {
      const items = countDistinct(ids);
      return { calls: resolvingCalls(ids, MAX_IDS) + bulkCalls(items), items, length: ids.length };
    },
    description:
      `A mix of hashes, UniProt accessions, entry names and sequences, at most ${MAX_IDS}; one result for ` +
      'each, in your order. Accessions cost one call each (cached for a day), the proteins one for each 500.',
    args: {
      ids: t.arg.stringList({
        required: true,
        description:
          'Identifiers, such as ["P01308", "HBA_HUMAN", "b840eb6446f9f188023424af40675a36"]. FASTA headers, ' +
          'addresses of UniProt and names of AlphaFold models are read, too; P01308.2 is read as P01308, because ' +
          'entries have no versions here.',
      }),
    },
    resolve: (_, { ids }, ctx, info) => lookUp(ctx, info, ids),
  }),
);
