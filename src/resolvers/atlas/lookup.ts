// lookup: a mix of identifiers. All identifiers are resolved first, so that
// their proteins share one bulk call for each 500.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import type { IncrementalList } from '../../execution/incremental-list.ts';
import { builder } from '../../schema/builder.ts';
import { type LookupRef, ProteinLookup } from '../../schema/lookup.ts';
import type { ProblemShape } from '../../schema/problem.ts';
import { Protein } from '../../schema/protein.ts';
import { badInput } from '../../schema/scalars.ts';
import type { LoadResult } from '../../upstream/proteins/protein-loader.ts';
import type { RequiredParts } from '../../upstream/proteins/required-parts.ts';
import { bulkCalls } from '../costs.ts';
import { selectedFields } from '../selection.ts';
import { type Resolved, readIdentifier, resolveIdentifiers } from './identifier.ts';
import { incrementalList, loadProteins, shouldRespondIncrementally } from './protein-list.ts';
import { requiredPartsOf, withoutNames } from './protein-parts.ts';

/** Largest number of ids in a query. */
const MAX_IDS = 5000;

const unknownProtein = ({ services }: GatewayContext): ProblemShape => ({
  kind: 'NotFound',
  message: `${services.upstream.isSandbox() ? 'The sandbox' : 'The Atlas'} does not have this protein.`,
  hint: 'Fold it with submitFold, or search for similar ones.',
});

/** What the query selects on each result. */
interface Selected {
  /** Parts of the proteins. */
  readonly needs: RequiredParts;
  /**
   * The field that throws a failure: one error for each id, also when only `problem` is selected.
   */
  readonly failsAt: LookupRef['failsAt'];
  /** The problem of a protein that does not exist. */
  readonly unknown: ProblemShape;
}

/**
 * The result for an identifier.
 *
 * @param found - the protein, or why it could not be loaded; undefined where none was requested
 */
function refOf(
  requested: string,
  resolved: Resolved,
  { failsAt, unknown }: Selected,
  found?: object | null,
): LookupRef {
  const ref: LookupRef = { requested, hash: null, exists: false, problem: null, failure: undefined, failsAt };
  if ('problem' in resolved) return { ...ref, problem: resolved.problem };
  if ('failure' in resolved) return { ...ref, failure: resolved.failure };
  const { hash, entry } = resolved;
  if (found instanceof Error) return { ...ref, hash, failure: found };
  return found == null ? { ...ref, hash, problem: unknown } : { ...ref, hash, entry, exists: true };
}

function selectedOf(ctx: GatewayContext, info: GraphQLResolveInfo): Selected {
  const below = selectedFields(info, 'ProteinLookup').filter((field) => field.name === 'protein');
  const nodes = below.flatMap((field) => field.nodes);
  return {
    needs: requiredPartsOf(info, nodes),
    failsAt: nodes.length > 0 ? 'protein' : 'problem',
    unknown: unknownProtein(ctx),
  };
}

/**
 * Results for as many identifiers as the proteins loaded so far allow, including identifiers
 * without a protein.
 */
function createRefs(
  ids: readonly string[],
  resolved: readonly Resolved[],
  selected: Selected,
): (found: readonly LoadResult[]) => LookupRef[] {
  let at = 0;
  return (found) => {
    const refs: LookupRef[] = [];
    const next = found.values();
    for (let one = resolved[at]; one !== undefined; one = resolved[at]) {
      const answer = 'hash' in one ? next.next() : undefined;
      if (answer?.done === true) break;
      refs.push(refOf(ids[at] ?? '', one, selected, answer?.value));
      at += 1;
    }
    return refs;
  };
}

/**
 * Resolves all identifiers to what is loaded of their proteins at once.
 *
 * @throws GraphQLError BAD_USER_INPUT for too many
 */
async function resolveAll(ctx: GatewayContext, selected: Selected, ids: readonly string[]) {
  if (ids.length > MAX_IDS)
    throw badInput(`\`ids\` holds ${ids.length} ids; at most ${MAX_IDS} fit in one query. Ask in several.`);
  const resolved = await resolveIdentifiers(ctx, ids, 'ids');
  const isNamed = resolved.some((one) => 'entry' in one);
  return {
    hashes: resolved.flatMap((one) => ('hash' in one ? [one.hash] : [])),
    needs: isNamed ? withoutNames(selected.needs) : selected.needs,
    refsOf: createRefs(ids, resolved, selected),
  };
}

/** All results at once. */
async function lookup(ctx: GatewayContext, selected: Selected, ids: readonly string[]): Promise<LookupRef[]> {
  const { hashes, needs, refsOf } = await resolveAll(ctx, selected, ids);
  return refsOf(await loadProteins(ctx, hashes, needs));
}

/** All results as an incremental list. */
async function lookupGrowing(
  ctx: GatewayContext,
  selected: Selected,
  ids: readonly string[],
): Promise<IncrementalList<LookupRef>> {
  const { hashes, needs, refsOf } = await resolveAll(ctx, selected, ids);
  return incrementalList((onNext) => loadProteins(ctx, hashes, needs, onNext), refsOf);
}

builder.objectField(ProteinLookup, 'protein', (t) =>
  t.field({
    public: 'record',
    type: Protein,
    description: 'The protein; null where `problem` says why there is none.',
    resolve: ({ hash, entry, exists, failure }) => {
      if (failure !== undefined) throw failure;
      return exists && hash !== null ? { hash, entry } : null;
    },
  }),
);

builder.queryField('lookup', (t) =>
  t.field({
    public: 'record',
    type: [ProteinLookup],
    nullable: { list: false, items: false },
    cost: ({ ids }) => {
      const distinct = [...new Set(ids.map((id) => id.trim()))];
      const entries = distinct.filter((id) => 'entry' in readIdentifier(id)).length;
      return { calls: entries + bulkCalls(distinct.length), items: distinct.length };
    },
    description:
      `A mix of hashes, UniProt accessions, entry names and sequences, at most ${MAX_IDS}; one result for ` +
      'each, in your order. FASTA headers, versions and addresses of UniProt are read, too. ' +
      'Accessions cost one call each (cached for a day), the proteins one for each 500.',
    args: {
      ids: t.arg.stringList({
        required: true,
        description: 'Identifiers, such as ["P01308", "HBA_HUMAN", "b840eb6446f9f188023424af40675a36"].',
      }),
    },
    resolve: (_, { ids }, ctx, info) => {
      const selected = selectedOf(ctx, info);
      return shouldRespondIncrementally(info, selected.needs, ids.length)
        ? lookupGrowing(ctx, selected, ids)
        : lookup(ctx, selected, ids);
    },
  }),
);
