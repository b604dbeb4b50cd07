// Sessions that were answered wrongly once. Proteins are named by their kind: the universe may
// change, the kinds stay.
import type { Step } from './property.ts';
import type { ProteinKinds } from './world.ts';

const UNKNOWN = '0'.repeat(32);
const toList = (hashes: readonly string[]): string => `[${hashes.map((hash) => `"${hash}"`).join(', ')}]`;

/** By name: what is asked, one after the other, of one gateway. */
export const CASES: Readonly<Record<string, (kinds: ProteinKinds) => readonly Step[]>> = {
  'proteins without a structure in a list that asks for structures': ({ unfolded, members }) => [
    { query: `{ proteins(hashes: ${toList([...unfolded, ...members, UNKNOWN])}) { hash ptm } }` },
  ],
  'a protein in no cluster, by everything that leads to it': ({ unclustered: [hash = ''], members }) => [
    { query: `{ proteins(hashes: ${toList([hash, ...members])}) { hash cluster { size } } }` },
    { query: `{ protein(hash: "${hash}") { cluster { size } isClusterRepresentative } }` },
    { query: `{ lookup(ids: ["${hash}"]) { problem { __typename } protein { cluster { name } } } }` },
  ],
  'a member, its cluster and its cluster again': ({ members: [hash = ''], representatives }) => [
    { query: `{ protein(hash: "${hash}") { hash cluster { size name } } }` },
    { query: `{ cluster(hash: "${hash}") { representativeHash size } }` },
    {
      query: `{ proteins(hashes: ${toList([hash, ...representatives])}) { cluster { id name } } }`,
      restart: true,
    },
  ],
  'a representative with more features than its cluster, which failed, had before': ({
    representatives: [hash = ''],
  }) => [
    { query: `{ protein(hash: "${hash}") { header cluster { representativeHash } } }` },
    {
      query: `{ protein(hash: "${hash}") { cluster { representative { features(first: 12) { value } } } } }`,
      fault: { operation: 'cluster', kind: 'html', times: 1000 },
    },
  ],
  'a cluster that its known record does not name, beside features of a record that fails': ({
    representatives: [representative = ''],
    unclustered: [alone = ''],
  }) =>
    [representative, alone].flatMap((hash) => [
      { query: `{ protein(hash: "${hash}") { features(first: 1) { regions { start } } } }` },
      ...['representativeHash', 'size'].map((field) => ({
        query:
          `{ a: proteins(hashes: ["${hash}"]) { featureValues(indices: [9471]) { residues(start: 0, end: 12) } } ` +
          `b: protein(hash: "${hash}") { cluster { ${field} } } }`,
        fault: { operation: 'protein' as const, kind: 'unavailable' as const, times: 1000 },
      })),
    ]),
  'structures that fail say so, the second time too': ({ members }) => [
    {
      query: `{ proteins(hashes: ${toList(members)}) { hash plddt { mean } } }`,
      fault: { operation: 'bulk', kind: 'unavailable', times: 1000 },
    },
    { query: `{ proteins(hashes: ${toList(members)}) { hash plddt { mean } } }` },
  ],
  'identifiers that fail say so where only their problem is selected': () => [
    {
      query: '{ lookup(ids: ["P01308", "Q00000"]) { requested problem { __typename } } }',
      fault: { operation: 'uniprot', kind: 'reset', times: 1000 },
    },
  ],
  'identifiers that fail say so once, at the protein where one is selected': ({ members: [hash = ''] }) => [
    {
      query: `{ lookup(ids: ["Q00000", "${hash}"]) { protein { id } problem { __typename } } }`,
      fault: { operation: 'uniprot', kind: 'unavailable', times: 1000 },
    },
  ],
  'a refusal that does not name the identifier is a failure': () => [
    {
      query: '{ lookup(ids: ["P01308"]) { problem { __typename } protein { hash } } }',
      fault: { operation: 'uniprot', kind: 'invalid', times: 1 },
    },
  ],
  'records that fail are not absent': ({ unclustered, members }) => [
    {
      query: `{ proteins(hashes: ${toList([...unclustered, ...members])}) { cluster { size } } }`,
      fault: { operation: 'protein', kind: 'invalid', times: 1000 },
    },
    { query: `{ proteins(hashes: ${toList([...unclustered, ...members])}) { cluster { size } } }` },
  ],
  'records read for features that stand in the store do not hide the rest': ({ members: [hash = ''] }) => [
    {
      query: `{ proteins(hashes: ["${hash}"]) { features: featureValues(indices: [0], normalize: false) { value } id } }`,
    },
    { query: `{ proteins(hashes: ["${hash}"]) { plddt { mean } ptm } }`, restart: true },
  ],
};
