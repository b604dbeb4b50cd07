// Answers of the upstream, changed in one place or damaged: drift or null, never an error of ours.
import fc from 'fast-check';
import { ask } from '../../subscriptions/support.ts';
import { AUTH, checkErrors, edited, edits, HASH, type Target } from '../target.ts';

/** Queries for a service that lies. */
export const READS: readonly string[] = [
  `{ protein(hash: "${HASH}") { hash name sequence length ptm plddt { mean values bands { band percent } } structure { text } features(first: 3) { value feature { label description } } cluster { size name taxonomy { rank name } pfamDomains { id count } phyla { name count } memberHashes } thumbnail { base64 } raw } }`,
  `{ uniprotEntry(id: "P01308") { accession name gene organism sequence length protein { hash cluster { size } } raw } }`,
  `{ proteins(hashes: ["${HASH}", "efebacde779fb9ede77f2039ec6cfe09"]) { hash name length plddt { mean } features { value regions { start end peak } } cluster { size } } }`,
  `{ similarProteins(sequence: "GIVEQCCTSICSLYQLENYCN") { queryHash restrictedCount hits { score protein { hash } cluster { size } } sharedFeatures { occurrences feature { label } } } }`,
  `{ feature(index: 3) { label description threshold uniref90 { frequency idf } topProteins { accession activation } nearestNeighbors { label } raw } }`,
  `{ cluster(hash: "${HASH}") { size representative { plddt { mean } features { value } } members(first: 3) { totalCount nodes { hash name } } raw } }`,
  'query($batch: ID!) { batch(batchId: $batch) { status counts { total done } tasks { nodes { taskId status result { ptm iptm plddt { mean } pae { max } structure { text } } } } } }',
  'mutation { submitFold(input: { items: [{ chains: [{ protein: { sequence: "GIVEQCC" } }] }] }) { __typename ... on FoldSubmitted { batch { batchId counts { total } tasks { nodes { taskId } } } } } }',
];
const oddity = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    '',
    'x',
    -1,
    1e300,
    0.5,
    true,
    [],
    {},
    [null],
    [[1]],
    { '': 0 },
    'x'.repeat(2000),
  ),
  fc.jsonValue({ maxDepth: 2 }),
);
type Step = { readonly kind: 'put' | 'drop' | 'double'; readonly value: unknown };

/** Changes one place of a value, which the numbers lead to. */
function changed(value: unknown, way: readonly number[], step: Step): unknown {
  const [first, ...rest] = way;
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  if (first === undefined || keys.length === 0) return step.value;
  const key = keys[first % keys.length] ?? '';
  const inner: unknown = Reflect.get(Object(value), key);
  const isLast = rest.length === 0;
  if (Array.isArray(value)) {
    const at = Number(key);
    if (isLast && step.kind === 'drop') return value.toSpliced(at, 1);
    if (isLast && step.kind === 'double') return value.toSpliced(at, 0, inner);
    return value.with(at, changed(inner, rest, step));
  }
  if (isLast && step.kind === 'drop')
    return Object.fromEntries(Object.entries(Object(value)).filter(([name]) => name !== key));
  return { ...Object(value), [key]: changed(inner, rest, step) };
}

export const upstream: Target = ({ lied, proxy, batchId }) =>
  fc.asyncProperty(
    fc.constantFrom(...READS),
    fc.array(fc.nat(50), { minLength: 1, maxLength: 6 }),
    fc.record({ kind: fc.constantFrom('put' as const, 'drop' as const, 'double' as const), value: oddity }),
    fc.option(edits, { freq: 4, nil: null }),
    async (query, way, step, bytes) => {
      proxy.change((answer) => {
        if (bytes !== null) answer.body = Buffer.from(edited(answer.body, bytes));
        else if (answer.type.includes('json') && answer.body.length > 0)
          answer.body = Buffer.from(
            JSON.stringify(changed(JSON.parse(answer.body.toString()), way, step)) ?? '',
          );
      });
      checkErrors(await ask(lied, query, { batch: batchId }, AUTH));
    },
  );
