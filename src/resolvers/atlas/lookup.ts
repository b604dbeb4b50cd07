// lookup: a mix of hashes, accessions and entry names. All identifiers are resolved first, so that
// their proteins share one bulk call for each 500.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { hasStreamDirective, withBackpressure } from '../../execution/backpressured-list.ts';
import type { IncrementalList } from '../../execution/incremental-list.ts';
import { builder } from '../../schema/builder.ts';
import { type LookupRef, ProteinLookup } from '../../schema/lookup.ts';
import type { InvalidInputShape, ProblemShape } from '../../schema/problem.ts';
import { Protein } from '../../schema/protein.ts';
import { badInput } from '../../schema/scalars.ts';
import { hashOfEntry } from '../../schema/uniprot.ts';
import { asError, UpstreamError } from '../../upstream/errors.ts';
import type { LoadResult } from '../../upstream/proteins/protein-loader.ts';
import type { RequiredParts } from '../../upstream/proteins/required-parts.ts';
import { bulkCalls } from '../costs.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import { selectedFields } from '../selection.ts';
import { findProtein } from './protein.ts';
import { incrementalList, loadProteins, shouldRespondIncrementally } from './protein-list.ts';
import { requiredPartsOf } from './protein-parts.ts';
import { findEntry, isUniprotId } from './uniprot.ts';

/** Largest number of ids in a query. */
const MAX_IDS = 5000;

/** The result of resolving an identifier. */
type Resolved =
  | { readonly hash: string }
  | { readonly problem: ProblemShape }
  | { readonly failure: unknown };

const notFound = (message: string, hint: string): ProblemShape => ({ kind: 'NotFound', message, hint });

const UNKNOWN = notFound(
  'The Atlas does not hold this protein.',
  'Fold it with submitFold, or search for similar ones.',
);

const invalid = (path: string, message: string): InvalidInputShape => ({
  kind: 'InvalidInput',
  message,
  hint:
    'Give a protein hash (32 hexadecimal characters), a UniProt accession such as P01308 or an entry name ' +
    'such as INS_HUMAN.',
  issues: [{ path, code: 'NOT_AN_IDENTIFIER', message }],
});

const isHash = (id: string): boolean => /^[0-9a-f]{32}$/i.test(id);

function resolveId(ctx: GatewayContext, requested: string, index: number): MaybePromise<Resolved> {
  const id = requested.trim();
  if (isHash(id)) return { hash: id.toLowerCase() };
  const path = `ids.${index}`;
  if (!isUniprotId(id))
    return { problem: invalid(path, `${JSON.stringify(requested.slice(0, 60))} is no protein identifier.`) };
  return resolveEntry(ctx, id, path);
}

async function resolveEntry(ctx: GatewayContext, id: string, path: string): Promise<Resolved> {
  try {
    const entry = await findEntry(ctx, id);
    if (entry === null)
      return {
        problem: notFound(
          `UniProt has no entry ${id}.`,
          'Check the spelling; obsolete entries are not kept.',
        ),
      };
    const hash = hashOfEntry(entry);
    return hash === null
      ? { problem: notFound(`UniProt entry ${id} has no sequence.`, 'Look up the protein by its hash.') }
      : { hash };
  } catch (error) {
    // The service refuses identifiers of other databases; its message is passed on.
    if (error instanceof UpstreamError && error.failure.code === 'BAD_USER_INPUT')
      return { problem: invalid(path, error.message) };
    return { failure: error };
  }
}

/** What the query selects on each result. */
interface Selected {
  /** Parts of the proteins. */
  readonly needs: RequiredParts;
  /**
   * The field that throws a failure: one error for each id, also when only `problem` is selected.
   */
  readonly failsAt: LookupRef['failsAt'];
}

/**
 * The result for an identifier.
 *
 * @param found - the protein, or why it could not be loaded; undefined where none was requested
 */
function refOf(
  requested: string,
  resolved: Resolved,
  { failsAt }: Selected,
  found?: object | null,
): LookupRef {
  const ref: LookupRef = { requested, hash: null, exists: false, problem: null, failure: undefined, failsAt };
  if ('problem' in resolved) return { ...ref, problem: resolved.problem };
  if ('failure' in resolved) return { ...ref, failure: resolved.failure };
  const { hash } = resolved;
  if (found instanceof Error) return { ...ref, hash, failure: found };
  return found == null ? { ...ref, hash, problem: UNKNOWN } : { ...ref, hash, exists: true };
}

function selectedOf(info: GraphQLResolveInfo): Selected {
  const below = selectedFields(info, 'ProteinLookup').filter((field) => field.name === 'protein');
  const nodes = below.flatMap((field) => field.nodes);
  return { needs: requiredPartsOf(info, nodes), failsAt: nodes.length > 0 ? 'protein' : 'problem' };
}

/** Resolves all identifiers. */
async function resolveAll(ctx: GatewayContext, ids: readonly string[]): Promise<readonly Resolved[]> {
  if (ids.length > MAX_IDS)
    throw badInput(`\`ids\` holds ${ids.length} ids; at most ${MAX_IDS} fit in one query. Ask in several.`);
  const resolved: Resolved[] = [];
  const late: Promise<void>[] = [];
  // Hashes, the usual case, resolve synchronously: a promise for each is slower than the rest of
  // this loop.
  for (const [index, id] of ids.entries()) {
    const one = resolveId(ctx, id, index);
    const take = (found: Resolved): void => {
      resolved[index] = found;
    };
    if (one instanceof Promise) late.push(one.then(take));
    else take(one);
  }
  await Promise.all(late);
  return resolved;
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

const hashesOf = (resolved: readonly Resolved[]): string[] =>
  resolved.flatMap((one) => ('hash' in one ? [one.hash] : []));

/** All results at once. */
async function lookup(ctx: GatewayContext, selected: Selected, ids: readonly string[]): Promise<LookupRef[]> {
  const resolved = await resolveAll(ctx, ids);
  return createRefs(ids, resolved, selected)(await loadProteins(ctx, hashesOf(resolved), selected.needs));
}

/** All results as an incremental list. */
async function lookupGrowing(
  ctx: GatewayContext,
  selected: Selected,
  ids: readonly string[],
): Promise<IncrementalList<LookupRef>> {
  const resolved = await resolveAll(ctx, ids);
  const hashes = hashesOf(resolved);
  return incrementalList(
    (onNext) => loadProteins(ctx, hashes, selected.needs, onNext),
    createRefs(ids, resolved, selected),
  );
}

/** Each result as soon as it is loaded. */
async function lookupInParts(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  selected: Selected,
  ids: readonly string[],
): Promise<AsyncIterable<LookupRef>> {
  const resolved = await resolveAll(ctx, ids);
  const items = resolved.map(async (one, i): Promise<LookupRef> => {
    const id = ids[i] ?? '';
    if (!('hash' in one)) return refOf(id, one, selected);
    return refOf(id, one, selected, await findProtein(ctx, one.hash, selected.needs).catch(asError));
  });
  return withBackpressure(ctx, info, items);
}

builder.objectField(ProteinLookup, 'protein', (t) =>
  t.field({
    public: 'record',
    type: Protein,
    description: 'The protein; null where `problem` says why there is none.',
    resolve: ({ hash, exists, failure }) => {
      if (failure !== undefined) throw failure;
      return exists && hash !== null ? { hash } : null;
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
      const entries = distinct.filter((id) => !isHash(id)).length;
      return { calls: entries + bulkCalls(distinct.length), items: distinct.length };
    },
    description:
      `A mix of hashes, UniProt accessions and entry names, at most ${MAX_IDS}; one result for each, ` +
      'in your order. ' +
      'Accessions cost one call each (cached for a day), the proteins one for each 500.',
    args: {
      ids: t.arg.stringList({
        required: true,
        description: 'Identifiers, such as ["P01308", "HBA_HUMAN", "b840eb6446f9f188023424af40675a36"].',
      }),
    },
    resolve: (_, { ids }, ctx, info) => {
      const selected = selectedOf(info);
      if (shouldRespondIncrementally(info, selected.needs, ids.length))
        return lookupGrowing(ctx, selected, ids);
      return hasStreamDirective(info) ? lookupInParts(ctx, info, selected, ids) : lookup(ctx, selected, ids);
    },
  }),
);
