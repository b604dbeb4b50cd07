// Identifiers as people paste them: each is read by its meaning, or the answer says what to type
// and where.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isConfirmed, readDescription } from '../../src/resolvers/atlas/description.ts';
import { at, listAt, openWorld, type World } from '../support.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const HBA = '6077c452d1dc6151040b2b179e2294c7';
const HBA_SEQUENCE =
  'MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDLSHGSAQVKGHGKKVADALTNAVAHVDDMPNALSALSDLHAHKLRVDPVNFKLLSHCLLVTLAAHLPAEFTPAVHASLDKFLASVSTVLTSKYR';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const readMessage = async (query: string, variables = {}) => {
  const { errors = [] } = await world.query(query, variables);
  return errors.map(({ message, extensions }) => [extensions.code, message]);
};

describe('one bad hash in a list', () => {
  it.each([
    [
      '`hashes[1]`: This is not a ProteinHash. It has 3 characters instead of 32.',
      `{ proteins(hashes: ["${INSULIN}", "abc"]) { hash } }`,
      {},
    ],
    [
      '`hashes[2]`: This is not a ProteinHash. Its character 31 (0-based) is "g"',
      `query ($one: ProteinHash!) { proteins(hashes: [$one, "${HBA}" # a comment
        , "${INSULIN.slice(0, 31)}g"]) { hash } }`,
      { one: HBA },
    ],
    [
      '$hashes[1]: This is not a ProteinHash. It has 31 characters instead of 32.',
      'query ($hashes: [ProteinHash!]!) { proteins(hashes: $hashes) { hash } }',
      { hashes: [INSULIN, INSULIN.slice(1)] },
    ],
    [
      '$input.hashes[1]: This is not a ProteinHash. It is not a string.',
      'mutation ($input: BulkLookupInput!) { startBulkLookup(input: $input) { __typename } }',
      { input: { hashes: [INSULIN, 7] } },
    ],
    ['`hash`: This is not a ProteinHash. It has 6 characters', '{ protein(hash: "P01308") { hash } }', {}],
  ])('is named: %s', async (start, query, variables) => {
    const found = await readMessage(query, variables);
    expect(found).toEqual([['BAD_USER_INPUT', expect.stringContaining(start)]]);
    expect(found[0]?.[1]).toMatch(/^(`|\$)/);
  });

  it('is named where it is a default, by its variable', async () => {
    const query = 'query ($h: ProteinHash! = "abc") { protein(hash: $h) { hash } }';
    expect(await readMessage(query)).toEqual([
      ['BAD_USER_INPUT', expect.stringMatching(/^`h`: This is not/)],
    ]);
  });

  it('is not needed for a sequence, which may be pasted as a record with its stop', async () => {
    const query = 'query ($s: AminoAcidSequence!) { proteinBySequence(sequence: $s) { hash } }';
    const { data } = await world.query(query, { s: `\n>one\n${HBA_SEQUENCE.toLowerCase()}*\n` });
    expect(data).toEqual({ proteinBySequence: { hash: HBA } });
  });

  it('is none in capitals or between spaces', async () => {
    const { data } = await world.query(`{ protein(hash: " ${INSULIN.toUpperCase()} ") { hash } }`);
    expect(data).toEqual({ protein: { hash: INSULIN } });
  });

  it.each([
    ['{ protein(hash: "P01308") { hash } }', '`hash`: This is not', 17],
    ['{ proteinBySequence(sequence: "AC1") { hash } }', '`sequence`: An AminoAcidSequence is made of', 31],
  ])('has its place in the document: %s', async (query, start, column) => {
    const { errors } = await world.query(query);
    expect(errors).toMatchObject([
      { message: expect.stringContaining(start), locations: [{ line: 1, column }] },
    ]);
  });

  it('has its problem in its place in `lookup`', async () => {
    const { data } = await world.query(
      `{ lookup(ids: ["${INSULIN}", "${INSULIN.slice(1)}"]) {
        problem { message ... on InvalidInput { issues { path code message } } } } }`,
    );
    expect(at(data, 'lookup.0.problem')).toBeNull();
    const message = `\`ids[1]\` (31 characters) is not a protein hash. It has 31 characters instead of 32.`;
    expect(at(data, 'lookup.1.problem')).toEqual({
      message,
      issues: [{ path: 'ids.1', code: 'NOT_AN_IDENTIFIER', message }],
    });
  });
});

describe('what people paste', () => {
  it.each([
    'sp|P69905|HBA_HUMAN',
    '>sp|P69905|HBA_HUMAN Hemoglobin subunit alpha OS=Homo sapiens OX=9606 GN=HBA1',
    '>sp|P69905|HBA_HUMAN Hemoglobin subunit alpha',
    '>P69905 Hemoglobin',
    '>AF-P69905-F1 Hemoglobin (HBA_HUMAN)',
    '"P69905",',
    '\u200b“P69905”',
    'P69905.2',
    'uniprotkb:p69905',
    'https://www.uniprot.org/uniprotkb/P69905/entry',
    'https://www.uniprot.org/uniprotkb/HBA_HUMAN/entry?sort=organism_name',
    'https://rest.uniprot.org/uniprotkb/P69905.fasta',
    'UniRef90_P69905',
    'P69905.',
    ' p69905;\t',
    'P69905|HBA_HUMAN',
    'P69905 · HBA_HUMAN',
    'UniProtKB/Swiss-Prot: P69905',
    'Accession: P69905',
    'sp|P69905.2|HBA_HUMAN',
    'gi|57013850|sp|P69905.2|HBA_HUMAN',
    '>sp|P69905.2|HBA_HUMAN RecName: Full=Hemoglobin subunit alpha; AltName: Full=Alpha-globin',
    'sp|P69905|HBA_HUMAN Hemoglobin subunit alpha OS=Homo sapiens OX=9606 GN=HBA1 PE=1 SV=2',
    '>AFDB:AF-P69905-F1 Hemoglobin subunit alpha UA=P69905 UI=HBA_HUMAN OS=Homo sapiens OX=9606 GN=HBA1',
    '>UniRef90_P69905 Hemoglobin subunit alpha n=41 Tax=Catarrhini TaxID=9526 RepID=HBA_HUMAN',
    'www.uniprot.org/uniprot/P69905',
    'https://www.uniprot.org/uniprotkb/P69905/entry#sequences',
    'https://alphafold.ebi.ac.uk/entry/P69905',
    'https://identifiers.org/uniprot:P69905',
    'P69905 Hemoglobin subunit alpha',
    '>sp|P69905|HBA_HUMAN hemoglobin, subunit alpha (HBA1) [Homo sapiens]',
    '>sp|P69905|HBA_HUMAN Hemoglobin subunit alpha (Fragment) OS=Homo sapiens (Human) OX=9606',
    '>HBA_HUMAN Hemoglobin subunit alpha',
    'AF-P69905-F1',
    'AF-P69905-F1-model_v4.pdb.gz',
    'https://alphafold.ebi.ac.uk/files/AF-P69905-F1-predicted_aligned_error_v4.json',
  ])('is read as an accession: %s', async (id) => {
    const { data } = await world.query(
      'query ($id: String!) { uniprotEntry(id: $id) { entryName } lookup(ids: [$id]) { protein { hash } } }',
      { id },
    );
    expect(data).toEqual({
      uniprotEntry: { entryName: 'HBA_HUMAN' },
      lookup: [{ protein: { hash: HBA } }],
    });
  });

  it.each([
    `>${HBA}|P69905|uniprotkb`,
    `${HBA}.pdb`,
    `http://127.0.0.1:4000/structures/${HBA}.cif?plddt=unit`,
    `>anything at all\n${HBA_SEQUENCE.slice(0, 60)}\n${HBA_SEQUENCE.slice(60)}\n`,
    HBA_SEQUENCE.toLowerCase(),
    HBA_SEQUENCE.replace(/.{10}/g, '$& '),
    HBA_SEQUENCE.toLowerCase()
      .replace(/.{10}/g, '$& ')
      .replace(/(?:\w+ ){1,6}/g, (line, at: number) => `${String(1 + (at / 66) * 60).padStart(9)} ${line}\n`),
  ])('is read without a call of the service for it: %s', async (id) => {
    world.forget();
    const { data } = await world.query('query ($id: String!) { lookup(ids: [$id]) { protein { hash } } }', {
      id,
    });
    expect(data).toEqual({ lookup: [{ protein: { hash: HBA } }] });
    expect(world.counts()).toEqual({ bulk: 1 });
  });

  it.each([
    ['in blocks of ten', `>sp|P01308|INS_HUMAN\n${HBA_SEQUENCE.replace(/.{10}/g, '$& ')}`, 'FOUND', HBA],
    ['of a peptide', '>sp|P01308|INS_HUMAN, A chain\nGIVEQCCTSICSLYQLEN', 'NOT_IN_ATLAS', undefined],
    ['of a peptide with the letters of DNA', '>tag\nGATTACAGATTACAGATTA', 'NOT_IN_ATLAS', undefined],
    ['with a stop', '>sp|P01308|INS_HUMAN\nMALWMRLLPL*LALLALWGPD', 'NOT_AN_IDENTIFIER', undefined],
    ['with gaps', '>sp|P01308|INS_HUMAN\nMALW--LLPLLALLA..WGPD-', 'NOT_AN_IDENTIFIER', undefined],
    ['with numbers', '>sp|P01308|INS_HUMAN\n1 malwmrllpl\n', 'NOT_AN_IDENTIFIER', undefined],
    ['behind an empty line', `\n>sp|P01308|INS_HUMAN\n${HBA_SEQUENCE}\n`, 'FOUND', HBA],
    ['under a word, behind an empty line', `\r\n>hemoglobin\r\n${HBA_SEQUENCE}`, 'FOUND', HBA],
    ['in quotes', `"\uFEFF>hemoglobin\n${HBA_SEQUENCE}"`, 'FOUND', HBA],
    ['with carriage returns alone', `>sp|P01308|INS_HUMAN\r${HBA_SEQUENCE}\r`, 'FOUND', HBA],
  ])('is the sequence of a FASTA record, not the entry that its header names, %s', async (_, id, status, hash) => {
    world.forget();
    const { data } = await world.query(
      'query ($id: String!) { lookup(ids: [$id]) { status protein { hash } } }',
      { id },
    );
    expect(at(data, 'lookup.0.status')).toBe(status);
    expect(at(data, 'lookup.0.protein.hash')).toBe(hash);
    expect(world.counts().uniprot).toBeUndefined();
  });

  it('is an isoform that the service may not know, of which UniProt has the entry', async () => {
    const { data } = await world.query(
      '{ lookup(ids: ["sp|P69905-2|HBA_HUMAN"]) { status problem { message hint } } }',
    );
    expect(at(data, 'lookup.0')).toEqual({
      status: 'NO_SUCH_ENTRY',
      problem: {
        message: 'The service does not know the isoform P69905-2.',
        hint: 'Look up P69905 for the canonical sequence, or give the sequence of the isoform.',
      },
    });
  });

  it.each([
    'P69905:PRO_0000052653',
    'sp|P69905|HBA_HUMAN#PRO_0000052653',
    'P69905; VAR_002719',
    'https://www.uniprot.org/uniprotkb/P69905/entry#PRO_0000052653',
    'P69905/25-54',
    'P69905 (25–54)',
    'HBA_HUMAN/25..54',
    'AF-P69905-F1-model_v4:25-54',
    `${HBA}/25-54`,
  ])('is refused where it names a part of a protein: %s', async (id) => {
    world.forget();
    const { data } = await world.query(
      'query ($id: String!) { lookup(ids: [$id]) { status problem { message hint } } }',
      { id },
    );
    expect(at(data, 'lookup.0')).toEqual({
      status: 'NOT_AN_IDENTIFIER',
      problem: {
        message: expect.stringContaining('names a part of a protein'),
        hint: 'Give the accession alone for the whole protein, or the sequence of the part.',
      },
    });
    expect(world.counts()).toEqual({});
  });

  it.each([
    ['P69905:R93C', ':R93C', 'P69905'],
    ['P69905 p.Arg93Cys', 'p.Arg93Cys', 'P69905'],
    ['P69905 R93C', 'R93C', 'P69905'],
    ['P69905.R93C', '.R93C', 'P69905'],
    ['P69905-R93C', '-R93C', 'P69905'],
    ['P69905(R93C)', '(R93C)', 'P69905'],
    ['P69905[25-54]', '[25-54]', 'P69905'],
    ['P69905\u200b/R93C', '/R93C', 'P69905'],
    ['HBA_HUMAN:p.R93C', ':p.R93C', 'HBA_HUMAN'],
    [`${HBA}:R93C`, ':R93C', HBA],
    [`decoy ${HBA}`, 'decoy', HBA],
    ['rev_sp|P69905|HBA_HUMAN', 'rev_sp| |HBA_HUMAN', 'P69905'],
    ['DECOY_sp|P69905|HBA_HUMAN', 'DECOY_sp| |HBA_HUMAN', 'P69905'],
    ['REV__P69905', 'REV__', 'P69905'],
    ['CON__P69905', 'CON__', 'P69905'],
    ['sp|P69905|HBA_HUMAN_REVERSED', 'sp| |HBA_HUMAN_REVERSED', 'P69905'],
    ['sp|P69905|HBA_HUMAN R93C', 'sp| |HBA_HUMAN R93C', 'P69905'],
    ['>P69905 with R93C', 'with R93C', 'P69905'],
    ['>P69905 Hemoglobin mutant', 'Hemoglobin mutant', 'P69905'],
    ['>sp|P69905|HBA_HUMAN residues 25-54', 'sp| |HBA_HUMAN residues 25-54', 'P69905'],
    [
      '>P69905 Chain OS=Homo sapiens OX=9606 GN=HBA1 R93C',
      'Chain OS=Homo sapiens OX=9606 GN=HBA1 R93C',
      'P69905',
    ],
    [`>P69905 ${'R93C '.repeat(60)}`, `${'R93C '.repeat(40)}…`, 'P69905'],
    ['AF-P69905-F1-R93C', 'AF- -F1-R93C', 'P69905'],
    ['AF-P69905-F2-model_v4', 'AF- -F2-model_v4', 'P69905'],
    ['a mutant of P69905', 'a mutant of', 'P69905'],
    ['https://www.uniprot.org/uniprotkb?query=P69905', 'https://www.uniprot.org/uniprotkb?query=', 'P69905'],
  ])('is refused where it holds more than an identifier, which the problem names: %s', async (id, beside, name) => {
    world.forget();
    const { data } = await world.query(
      'query ($id: String!) { lookup(ids: [$id]) { status problem { message hint } } }',
      { id },
    );
    expect(at(data, 'lookup.0')).toEqual({
      status: 'NOT_AN_IDENTIFIER',
      problem: {
        message: `\`ids[0]\` (${id.length} characters) holds more than an identifier: "${beside}" beside ${name}.`,
        hint: `Give ${name} alone for the protein of that name. For a variant or a part of it give the sequence.`,
      },
    });
    expect(world.counts()).toEqual({});
  });

  it.each([
    'sp|P69905|INS_HUMAN',
    '>P69905 HBA_MOUSE',
    '>sp|P69905|HBA_HUMAN Hemoglobin subunit alpha R93C OS=Homo sapiens OX=9606',
    '>sp|P69905|HBA_HUMAN Isoform 2 of Hemoglobin subunit alpha OS=Homo sapiens',
    '>sp|P69905|HBA_HUMAN DECOY Hemoglobin subunit alpha OS=Homo sapiens',
    '>sp|P69905|HBA_HUMAN Hemoglobin subunit alpha residues 25-54 OS=Homo sapiens',
    '>sp|P69905|HBA_HUMAN Hemoglobin subunit alpha OS=Homo sapiens R93C OX=9606',
    '>sp|P69905|HBA_HUMAN Hemoglobin subunit alpha OS=Mus musculus OX=10090',
    '>sp|P69905|HBA_HUMAN Hemoglobin subunit alpha OS=Homo sapiens GN=HBA1 R93C',
    '>sp|P69905|HBA_HUMAN Hemoglobin subunit alpha OS=Homo sapiens SV=2; V1M',
    '>UniRef90_P69905 Hemoglobin subunit alpha n=41 Tax=Catarrhini 9 RepID=HBA_HUMAN',
    '>UniRef90_P69905 Hemoglobin subunit alpha n=41 Tax=Catarrhini RepID=HBA_PANTR',
    '>AFDB:AF-P69905-F1 Hemoglobin subunit alpha UA=P69905 UI=INS_HUMAN OS=Homo sapiens',
    '>sp|P69905.2|HBA_HUMAN RecName: Full=Hemoglobin subunit beta; AltName: Full=Alpha-globin',
    '>P69905 Hemoglobin domain',
    '>P69905 Hemoglobin del54',
    '>P69905 Hemoglobin \u039454',
    '>P69905 Hemoglobin GFP fusion',
    'P69905 Hemoglobin without signal peptide',
    '>HBA_HUMAN Hemoglobin scFv',
    'P69905\tHBA_MOUSE',
  ])('is refused where the entry does not say the same of itself: %s', async (id) => {
    const { data, errors } = await world.query(
      'query ($id: String!) { lookup(ids: [$id]) { status } uniprotEntry(id: $id) { name } }',
      { id },
    );
    expect(data).toEqual({ lookup: [{ status: 'NOT_AN_IDENTIFIER' }], uniprotEntry: null });
    expect(errors).toMatchObject([
      {
        message: expect.stringContaining('holds more than an identifier'),
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ]);
  });

  const record = {
    ...{ accession: 'P00000', entry_name: 'ONE_HUMAN', gene: 'ONE', organism: 'Escherichia coli O157:H7' },
    ...{ function: null, sequence: null, sequence_length: null, protein_hash: null },
  };
  it.each([
    ['Myosin light chain kinase, smooth muscle', 'Myosin light chain kinase, smooth muscle'],
    ['Immunoglobulin kappa variable 1-5', 'Immunoglobulin kappa variable 1-5'],
    ['Cytochrome C oxidase A1B OS=Escherichia coli O157:H7 (strain S288C)', 'Cytochrome C oxidase A1B'],
    ['Zinc finger protein Z354C', 'Zinc finger protein Z354C'],
    ['Tumor protein p53 mutant-binding protein', 'Tumor protein p53 mutant-binding protein'],
    ['Isoform 2 of Zinc finger protein', 'Zinc finger protein'],
  ])('is confirmed by the name of its entry, whatever that is: %s', (text, protein_name) => {
    const description = readDescription('P00000-2', text, 'ONE_HUMAN');
    expect(isConfirmed(description, { ...record, protein_name })).toBe(true);
    const words = ['R89C', 'p.Arg89Cys', 'DECOY', 'domain', '25-54', '\u039454', 'fusion', 'del54'];
    for (const word of words)
      expect(
        isConfirmed(readDescription('P00000-2', `${word} ${text}`, ''), { ...record, protein_name }),
        word,
      ).toBe(false);
  });

  it.each([
    ['P69905_R93C', 'NO_SUCH_ENTRY'],
    ['DECOY_HBA_HUMAN', 'NOT_AN_IDENTIFIER'],
    ['P69905A', 'NOT_AN_IDENTIFIER'],
  ])('is never the wild type where the service is asked for all of it: %s', async (id, status) => {
    const { data } = await world.query('query ($id: String!) { lookup(ids: [$id]) { status } }', { id });
    expect(at(data, 'lookup.0.status')).toBe(status);
  });

  it.each([
    ['pyrrolysine and ambiguous residues', 'MTFRKSFDCYDFYDRAKVGEKCTQDDWDLMKIPMKAMELKQKYGLDFKGEFIOBJZUX'],
    ['FASTA', `>sp|P69905|HBA_HUMAN\n${HBA_SEQUENCE.replace('M', 'B')}`],
  ])('is a sequence also with %s', async (_, id) => {
    const sequence = id.replace(/^>.*/, '').trim();
    const { data } = await world.query(
      `query ($id: String!, $s: AminoAcidSequence!) { lookup(ids: [$id]) { status problem { message } } proteinBySequence(sequence: $s) { hash } }`,
      { id, s: sequence },
    );
    expect(data).toEqual({
      lookup: [{ status: 'NOT_IN_ATLAS', problem: { message: expect.stringContaining('does not have') } }],
      proteinBySequence: null,
    });
  });

  it('is read up to 100,000 characters of a sequence, and the first 1,000 of any other text', async () => {
    const ids = [
      'M'.repeat(100_000),
      'M'.repeat(100_001),
      `>sp|P69905|HBA_HUMAN ${'alpha '.repeat(150)}OS=Homo sapiens`,
      `>sp|P69905|HBA_HUMAN ${'alpha '.repeat(170)}OS=Homo sapiens`,
    ];
    const { data } = await world.query('query ($ids: [String!]!) { lookup(ids: $ids) { status } }', { ids });
    expect(listAt(data, 'lookup').map((one) => at(one, 'status'))).toEqual([
      'NOT_IN_ATLAS',
      'NOT_AN_IDENTIFIER',
      'FOUND',
      'NOT_AN_IDENTIFIER',
    ]);
  });

  it('is searched with as it is, with a warning where it is DNA', async () => {
    const { data } = await world.query(
      'query ($p: AminoAcidSequence!, $d: AminoAcidSequence!) { p: similarProteins(sequence: $p, first: 1) { warnings } d: similarProteins(sequence: $d, first: 1) { warnings } }',
      { p: HBA_SEQUENCE, d: '>gene\nATGGCCCTGTGGATGCGCCTCCTGCCC' },
    );
    expect(data).toEqual({
      p: { warnings: [] },
      d: { warnings: [expect.stringContaining('Translate it first.')] },
    });
  });

  it('is answered with what to type where it cannot be read, without a call', async () => {
    world.forget();
    const ids = [
      'MGYP000261684433',
      'UPI0000000001',
      '3300012345_Ga0123456_123456',
      'insulin',
      'P01308 P69905',
      'INS_HUMAN HBA_HUMAN',
      `${INSULIN},${HBA}`,
      `>seq_1\n${HBA_SEQUENCE}\n>seq_2\n${HBA_SEQUENCE}`,
      HBA_SEQUENCE.slice(0, 10),
      'ATGGCCCTGTGGATGCGCCTCCTGCCC',
    ];
    const { data } = await world.query(
      'query ($ids: [String!]!) { lookup(ids: $ids) { problem { __typename message hint } } }',
      { ids },
    );
    const hash = expect.stringContaining('Give the hash of the protein');
    expect(listAt(data, 'lookup').map((one) => at(one, 'problem'))).toEqual(
      [
        ['is an accession of MGnify.', hash],
        ['is an accession of UniParc.', hash],
        ['is an accession of IMG/M.', hash],
        ['looks like a name, and there is no search by name.', expect.stringContaining('uniprot.org')],
        ['holds several accessions.', 'Give each as an item of its own.'],
        ['holds several entry names.', 'Give each as an item of its own.'],
        ['holds several hashes.', 'Give each as an item of its own.'],
        ['holds several sequences.', 'Give each as an item of its own.'],
        ['is not an identifier of a protein.', expect.stringContaining('sequence, of 20 residues or more')],
        ['is DNA or RNA, not a protein.', 'Translate it first.'],
      ].map(([message, hint], i) => ({
        __typename: 'InvalidInput',
        message: `\`ids[${i}]\` (${ids[i]?.length} characters) ${message}`,
        hint,
      })),
    );
    expect(world.counts()).toEqual({});
  });
});

describe('a hash in the address of a file', () => {
  it.each([
    '/structures/{hash}.pdb',
    '/structures/{hash}.cif',
    '/thumbnails/{hash}/plddt.png',
  ])('may have capital letters, as in queries: %s', async (path) => {
    const get = async (hash: string) => {
      const address = `http://gateway.test${path.replace('{hash}', hash)}`;
      const response = await world.gateway.fetch(new Request(address));
      return [response.status, await response.text()];
    };
    const insulin = '12e9c9e4e2835c302e8ba615115edda3';
    const lower = await get(insulin);
    expect(lower[0]).toBe(200);
    expect(await get(insulin.toUpperCase())).toEqual(lower);
    expect((await get('xyz'))[0]).toBe(400);
  });
});
