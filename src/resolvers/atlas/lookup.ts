// lookup: hashes, accessions and entry names mixed. All identifiers are resolved first, so that the proteins behind them
// are one bulk call for each 500, however they were named.
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
import { findProtein, incrementalList, loadProteins, shouldRespondIncrementally } from './protein.ts';
import { requiredPartsOf } from './protein-parts.ts';
import { findEntry, isUniprotId } from './uniprot.ts';

/** Ids in one query at most. */
const MOST_IDS = 5000;

/** What an identifier came to. */
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
  hint: 'Give a protein hash (32 hexadecimal characters), a UniProt accession such as P01308 or an entry name such as INS_HUMAN.',
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
    // Identifiers of other databases are refused by the service, in its own words.
    if (error instanceof UpstreamError && error.failure.code === 'BAD_USER_INPUT')
      return { problem: invalid(path, error.message) };
    return { failure: error };
  }
}

/** What is asked of each identifier. */
interface Selected {
  /** What is selected on the proteins. */
  readonly needs: RequiredParts;
  /** The field at which a failure is told: one error, also where only `problem` is selected. */
  readonly failsAt: LookupRef['failsAt'];
}

/** The answer for an identifier. @param found - the protein, or why it could not be found out; undefined where none was asked for */
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

/** What all identifiers came to. */
async function resolveAll(ctx: GatewayContext, ids: readonly string[]): Promise<readonly Resolved[]> {
  if (ids.length > MOST_IDS)
    throw badInput(`\`ids\` holds ${ids.length} ids; at most ${MOST_IDS} fit in one query. Ask in several.`);
  const resolved: Resolved[] = [];
  const late: Promise<void>[] = [];
  // Hashes, of which there are most, are what they are: a promise for each would take longer than all else that is done for them here.
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

/** Says of the proteins that are found, in turn, what there is to say of the identifiers: as far as the proteins go, and of those behind them that are no protein's. */
function openRefs(
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

/** All as soon as all are there. */
async function lookup(ctx: GatewayContext, selected: Selected, ids: readonly string[]): Promise<LookupRef[]> {
  const resolved = await resolveAll(ctx, ids);
  return openRefs(ids, resolved, selected)(await loadProteins(ctx, hashesOf(resolved), selected.needs));
}

/** The same as a list that grows. */
async function lookupGrowing(
  ctx: GatewayContext,
  selected: Selected,
  ids: readonly string[],
): Promise<IncrementalList<LookupRef>> {
  const resolved = await resolveAll(ctx, ids);
  const hashes = hashesOf(resolved);
  return incrementalList(
    (onNext) => loadProteins(ctx, hashes, selected.needs, onNext),
    openRefs(ids, resolved, selected),
  );
}

/** Each as soon as it is there. */
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
    description: 'The protein; null where `problem` says why not.',
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
    description: `Hashes, UniProt accessions and entry names mixed, at most ${MOST_IDS}; one answer for each, in the order asked. Accessions cost one call each (kept for a day), the proteins one for each 500.`,
    args: {
      ids: t.arg.stringList({
        required: true,
        description: 'Such as ["P01308", "HBA_HUMAN", "b840eb6446f9f188023424af40675a36"].',
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
