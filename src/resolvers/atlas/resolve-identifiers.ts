// Resolves the identifiers of an argument to hashes of proteins: the service is asked about entries
// of UniProt, each once.
import { memoize1 } from '@graphql-tools/utils';
import type { GatewayContext } from '../../context.ts';
import { invalidInput, type ProblemShape } from '../../schema/problem.ts';
import { readEntryHash, type UniprotRef } from '../../schema/uniprot.ts';
import { UpstreamError } from '../../upstream/errors.ts';
import { promised } from '../../upstream/http/validate-response.ts';
import { isConfirmed } from './description.ts';
import { type Claim, describeFault, IDENTIFIER_HINT, type Identifier, readIdentifier } from './identifier.ts';

export type Resolved =
  | { readonly hash: string; readonly entry?: UniprotRef }
  | { readonly problem: ProblemShape }
  | { readonly failure: unknown };

const SANDBOX_HINT =
  'The sandbox knows few proteins, such as P01308, and invents the others. Set UPSTREAM_URL to ask the ' +
  'service.';
/** The accession of an entry, and which of its sequences. */
const ISOFORM = /^([A-Z\d]{6,10})-\d{1,3}$/;

const notFound = (message: string, hint: string): Resolved => ({
  problem: { kind: 'NotFound', message, hint },
});

const notAnIdentifier = (path: string, message: string, hint: string): Resolved => ({
  problem: invalidInput([{ path, code: 'NOT_AN_IDENTIFIER', message, hint }], message, hint),
});

/**
 * The meanings of a list. Each list is read once, also where a document gives it at many places.
 */
const readList = memoize1((ids: readonly string[]) => {
  const known = new Map<string, Identifier>();
  for (const id of ids) if (!known.has(id)) known.set(id, readIdentifier(id));
  const entries = new Set([...known.values()].flatMap((one) => ('entry' in one ? one.entry : [])));
  return { known, entries };
});

/**
 * Upstream calls to resolve the identifiers of a list; none for one that is refused for its length.
 */
export const resolvingCalls = (ids: readonly string[], maxIds: number): number =>
  ids.length > maxIds ? 0 : readList(ids).entries.size;

/**
 * The hash of an entry's protein; null when the entry says that it has none.
 *
 * @throws UpstreamError UPSTREAM_DRIFT for an entry with neither hash nor sequence
 */
export const hashInAtlas = (entry: UniprotRef): string | null =>
  readEntryHash(entry) ?? promised('uniprot', '$.protein_hash', entry.record.protein_hash) ?? null;

/** The fault of a text that says of an entry what the entry does not say; undefined for none. */
export const findUnconfirmed = (read: Identifier, { record }: UniprotRef): Claim['otherwise'] | undefined =>
  'claim' in read && read.claim !== undefined && !isConfirmed(read.claim.description, record)
    ? read.claim.otherwise
    : undefined;

async function resolveEntry(ctx: GatewayContext, id: string): Promise<Resolved> {
  const found = await ctx.uniprot.load(id);
  const [, canonical] = ISOFORM.exec(id) ?? [];
  // A service without isoforms may answer with the entry, which has the canonical sequence.
  if (canonical !== undefined && (found === null || found.record.accession === canonical))
    return notFound(
      `The service does not know the isoform ${id}.`,
      `Look up ${canonical} for the canonical sequence, or give the sequence of the isoform.`,
    );
  if (found === null)
    return ctx.services.upstream.isSandbox()
      ? notFound(`${id} is not in the sandbox.`, SANDBOX_HINT)
      : notFound(`UniProt has no entry ${id}.`, 'Check the spelling; UniProt has no obsolete entries.');
  const entry = { requested: id, ...found };
  const hash = hashInAtlas(entry);
  return hash === null
    ? notFound(`UniProt entry ${id} has no sequence.`, 'Look up the protein by its hash.')
    : { hash, entry };
}

/** Resolves all identifiers of an argument, in their order. */
export async function resolveIdentifiers(
  ctx: GatewayContext,
  ids: readonly string[],
  argument: string,
): Promise<readonly Resolved[]> {
  const { known, entries } = readList(ids);
  const resolved = new Map<string, Resolved>();
  await Promise.all(
    [...entries].map(async (id) =>
      resolved.set(id, await resolveEntry(ctx, id).catch((failure: unknown) => ({ failure }))),
    ),
  );
  return ids.map((id, index): Resolved => {
    const read = known.get(id) ?? readIdentifier(id);
    if ('hash' in read) return read;
    const path = `${argument}.${index}`;
    if ('fault' in read)
      return notAnIdentifier(path, describeFault(`${argument}[${index}]`, id, read.fault), read.hint);
    const found = resolved.get(read.entry) ?? { failure: new Error('An identifier was not resolved.') };
    // The service refuses identifiers of other databases; its message is passed on.
    if (
      'failure' in found &&
      found.failure instanceof UpstreamError &&
      found.failure.failure.code === 'BAD_USER_INPUT'
    )
      return notAnIdentifier(path, found.failure.message, IDENTIFIER_HINT);
    const unconfirmed =
      'entry' in found && found.entry !== undefined ? findUnconfirmed(read, found.entry) : undefined;
    if (unconfirmed === undefined) return found;
    const { fault, hint } = unconfirmed;
    return notAnIdentifier(path, describeFault(`${argument}[${index}]`, id, fault), hint);
  });
}
