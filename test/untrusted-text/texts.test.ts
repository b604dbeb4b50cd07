// Functions that read what a client or the upstream service wrote: none takes more than linear
// time, whatever it is given.
import { Socket } from 'node:net';
import { GraphQLError } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readStrictly } from '../../src/doctor/strict-reading.ts';
import { matchesIfNoneMatch } from '../../src/etag.ts';
import { readClientAddress } from '../../src/http/access/client-address.ts';
import { isLocalHost } from '../../src/http/access/loopback.ts';
import { maskError } from '../../src/http/failures/mask-error.ts';
import { negotiateEventStreamType, negotiateResponseType } from '../../src/http/graphql/media-type.ts';
import { parseBody, parseSearch } from '../../src/http/graphql/read-request.ts';
import { pageCsp } from '../../src/http/pages/html.ts';
import { byteRange } from '../../src/http/routes/responses.ts';
import { addVary } from '../../src/http/server/response-headers.ts';
import { plainText, tableRow } from '../../src/plain-text.ts';
import { readIdentifier } from '../../src/resolvers/atlas/identifier.ts';
import { fileNames } from '../../src/resolvers/folds/results/file-names.ts';
import { readCursor } from '../../src/resolvers/relay/connection.ts';
import { readHash } from '../../src/schema/scalars.ts';
import { indexInBatch } from '../../src/store/ledger/submissions.ts';
import { writeAtlasPdb } from '../../src/structure/atlas-pdb.ts';
import { cifItems } from '../../src/structure/cif.ts';
import { parsePdb } from '../../src/structure/pdb.ts';
import { pdbToMmcif } from '../../src/structure/pdb-to-mmcif.ts';
import { findInvalidLetters } from '../../src/submission/polymers.ts';
import { scanSmiles } from '../../src/submission/smiles.ts';
import { readEnvelope } from '../../src/submission/submission.ts';
import { redact } from '../../src/telemetry/redact.ts';
import { readRequestId, shownName } from '../../src/telemetry/request-record.ts';
import { readTraceparent } from '../../src/telemetry/trace-context.ts';
import { readFasta } from '../../src/upstream/archive/fasta.ts';
import { errorText, parse429Subject, parseRetryAfter } from '../../src/upstream/errors.ts';
import { parseInputFaults } from '../../src/upstream/input-faults.ts';
import { parseJsonText } from '../../src/upstream/json/parse-json.ts';
import { searchTerms } from '../../src/upstream/reads/search-terms.ts';
import { expectAtMost, expectLinear, GROWTH, startCpuTimer } from '../cpu-time.ts';
import { testLogger } from '../record.ts';
import { openWorld, type World } from '../support.ts';

const socket = new Socket();
const log = testLogger(() => undefined);
const shape = z.object({ sequence: z.string(), cluster_size: z.number() });

/** Reads a text; what it makes of it does not matter here. */
type Read = (text: string) => unknown;

const READERS: Readonly<Record<string, Read>> = {
  redact: (text) => redact(text, 'a-token', text.slice(0, 2000)),
  'the log': (text) => log.error({ error: new Error(text, { cause: text }) }, 'test'),
  'the name of an operation': (text) => shownName(text) ?? '',
  'errors of graphql-js': (text) => [
    maskError(new GraphQLError(text), () => undefined, false),
    maskError(
      new GraphQLError(`Variable "$a" got invalid value ${text}; ${text}`, {
        originalError: new GraphQLError(text),
      }),
      () => undefined,
      true,
    ),
  ],
  'x-forwarded-for': (text) => readClientAddress({ socket, headers: { 'x-forwarded-for': text } }, 2),
  Host: (text) => isLocalHost(text),
  Accept: (text) => [negotiateResponseType(text), negotiateEventStreamType(text)],
  'If-None-Match': (text) => matchesIfNoneMatch(text, '"an-etag"'),
  Range: (text) => byteRange(text, 1_000_000),
  Vary: (text) => addVary({ vary: text }, ['accept']),
  traceparent: (text) => readTraceparent(text),
  'x-request-id': (text) => readRequestId(text),
  'a query string': (text) => parseSearch(`query=${text}&variables=${text}`),
  'a body': (text) => {
    try {
      parseBody(Buffer.from(text));
    } catch {
      // It is refused.
    }
  },
  'tables and terminals': (text) => [plainText(text), tableRow([text])],
  'a cursor': (text) => readCursor(z.unknown(), text),
  'a hash': (text) => readHash(text),
  'an identifier': (text) => readIdentifier(text),
  'a task id': (text) => indexInBatch(text, text.slice(0, 9)),
  'an idempotency key': (text) => readEnvelope({ items: [], idempotencyKey: text }, 'a-model'),
  'the name of a task': (text) =>
    fileNames([{ taskId: 'a-0', name: text, inputIndex: 0, repeatIndex: null }]),
  'what is searched for': (text) => searchTerms(text),
  'a SMILES string': (text) => scanSmiles(text),
  'a sequence': (text) => findInvalidLetters('protein', text),
  'a page': (text) => pageCsp(text),
  FASTA: (text) => readFasta(text),
  'a PDB file': (text) => [
    parsePdb(text),
    writeAtlasPdb(Buffer.from(`REMARK ${text}\nATOM  ${text}\n${text}`), {
      hash: text,
      ptm: null,
      meanPlddt: null,
      unit: 'PERCENT',
    }),
  ],
  'a PDB file as mmCIF': (text) =>
    pdbToMmcif(`ATOM      1  CA  GLY A   1       0.000   0.000   0.000  1.00  0.50\n${text}`, { id: text }),
  'a value of mmCIF': (text) => cifItems('struct', { title: text }),
  JSON: (text) => parseJsonText(text),
  'the text of an error': (text) => [errorText({ error: text }), parse429Subject(text)],
  'the faults of a 422': (text) =>
    parseInputFaults('submit', { detail: [{ loc: [text, text, 'payload'], msg: text, type: text }] }),
  'Retry-After': (text) => parseRetryAfter(text, 0),
  'drift of an answer': (text) => readStrictly(shape, { [text]: text, sequence: 7 }, []),
};

/** Repeated whole, in pairs, and with an end that spoils what went before. */
const PARTS = [
  ...[
    'a',
    'A',
    'aA-',
    '1',
    '0',
    ' ',
    '\n',
    '\r',
    '\t',
    '\\',
    '\\"',
    '"',
    "'",
    '?',
    '?=',
    '=',
    '/',
    '//',
    '.',
    ',',
  ],
  ...[
    ';',
    ':',
    '%',
    '#',
    '-',
    '*',
    '(',
    '[',
    '{',
    '{"a":',
    '[[',
    '<',
    '>',
    '\n>',
    '\u0000',
    '🧬',
    // Marks that normal forms put in another order.
    '\u0301\u0323',
    '\u0301\uff9e',
    '\ud800',
    '\\u00',
  ],
  ...[
    'token',
    'token = ',
    'bearer ',
    'eyJ',
    'eyJ-',
    'eyJ.',
    'http://',
    'https://a?b=',
    'Infinity',
    '"pae"',
    '"pae":[[',
  ],
  ...[
    ' Did you mean ',
    'Variable "$a" got invalid value ',
    ' at "',
    '; ',
    ';q=0',
    'q=1,',
    'charset=',
    'bytes=1-',
  ],
  ...[
    '::ffff:',
    '1.1.1.1:',
    '[::1]',
    'REMARK   1 ',
    'ATOM  ',
    'REMARK ptm ',
    '<script',
    '<script>',
    '</script',
    '_a',
  ],
];
const ENDS = ['', '!', '"', '\n', ' x'];

function* hostileTexts(length: number): Generator<string> {
  for (const part of PARTS) {
    const run = part.repeat(Math.ceil(length / part.length)).slice(0, length);
    for (const end of ENDS) yield run + end;
    yield `"${run}`;
    for (const other of PARTS.slice(0, 6)) yield run.slice(0, length / 2) + other.repeat(length / 2);
  }
}

/** Made once: every reader gets the same ones. */
const SIZES = [400, 2_400] as const;
const TEXTS = new Map(SIZES.map((length) => [length, [...hostileTexts(length)]]));
/** The same text in another size. */
const resized = (index: number, length: number): string => [...hostileTexts(length)][index] ?? '';
/** How many of a thousand texts, those that took longest, are tried again. */
const SUSPECTS = 5;

describe('what a client or the service wrote', () => {
  it.each(Object.entries(READERS))('%s: worst cases take linear time', async (_, read) => {
    const work = (text: string) => () => {
      try {
        read(text);
      } catch {
        // Refused is as good as read.
      }
    };
    const suspects = (length: (typeof SIZES)[number]) =>
      (TEXTS.get(length) ?? [])
        .map((text, index) => {
          const spent = startCpuTimer();
          work(text)();
          return { text, index, milliseconds: spent() };
        })
        .sort((a, b) => b.milliseconds - a.milliseconds)
        .slice(0, SUSPECTS);
    // A reader that is worse than quadratic would take minutes for the long ones.
    for (const { text, index } of suspects(400))
      await expectAtMost(GROWTH ** 2, work(resized(index, 400 / GROWTH)), work(text));
    for (const { text, index } of suspects(2_400)) {
      const measuring = { name: text.slice(0, 40) };
      await expectLinear(work(resized(index, 2_400 / GROWTH)), work(text), measuring).catch(() =>
        // A limit that lies between the two sizes looks like growth, but only there.
        expectLinear(work(text), work(resized(index, 2_400 * GROWTH)), measuring),
      );
    }
  });

  it('is cut before it is read: at most 4,000 characters, and 200 of each quotation', () => {
    expect(redact('x y '.repeat(100_000)).length).toBeLessThan(4_010);
    expect(redact(`Cannot query field "${'aB '.repeat(1000)}" on type "Query".`)).toMatch(
      /^Cannot query field "(aB ){60,70}…" on type "Query"\.$/,
    );
    // Half of a token at the cut would not be known for one.
    const token = 'key-of-somebody-else-0123456789';
    for (let before = 3_960; before < 4_010; before += 1)
      expect(redact(`${'x '.repeat(before / 2)}${token} ends`, token)).not.toContain('key-of');
  });

  it('nests as deep as it likes in an error of the service', () => {
    let body: unknown = { message: 'innermost' };
    for (let i = 0; i < 100_000; i += 1) body = { error: body };
    let loc: unknown = 'here';
    for (let i = 0; i < 100_000; i += 1) loc = [loc];
    expect(errorText(body)).toBeUndefined();
    expect(errorText({ detail: [{ loc: ['body', loc], msg: 'bad' }] })).toBe('body: bad');
    expect(
      parseInputFaults('submit', { detail: Array.from({ length: 1000 }, () => ({ loc: [], msg: 'bad' })) }),
    ).toHaveLength(50);
  });
});

describe('a document of hostile errors', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
    // The first query of a gateway sets things up, which is no part of the attack.
    await world.query('query ($hash: ProteinHash!) { protein(hash: $hash) { hash } }', { hash: 'none' });
  });
  afterAll(() => world.close());

  const families: Readonly<Record<string, string>> = {
    'queries of addresses': 'a?'.repeat(2000),
    'question marks': '?'.repeat(4000),
    'beginnings of tokens': 'eyJ-'.repeat(1000),
    suggestions: ' Did you mean '.repeat(285),
    'quotation marks': '\\"'.repeat(2000),
    'keys without values': 'token '.repeat(666),
  };
  it.each(Object.entries(families))('20 of 4 kB each, %s, is answered in linear time', async (_, text) => {
    let documents = 0;
    const ask = async (part: string): Promise<void> => {
      // A document that was parsed before is not parsed again.
      const remark = `# ${++documents}`;
      const fields = Array.from({ length: 20 }, (_v, i) => `f${i}: protein(hash: "${part}") { hash }`);
      const written = await world.query(`{ ${fields.join(' ')} } ${remark}`);
      const variables = Object.fromEntries(
        fields.map((_f, i) => [`h${i}`, JSON.parse(`"${part}"`) as string]),
      );
      const declared = fields.map((_f, i) => `$h${i}: Int!`).join(' ');
      const used = fields.map((_f, i) => `f${i}: features(first: $h${i}) { totalCount }`).join(' ');
      const coerced = await world.query(`query (${declared}) { ${used} } ${remark}`, variables);
      for (const { errors = [] } of [written, coerced]) {
        expect(errors.length).toBeGreaterThan(0);
        for (const { message } of errors) expect(message.length).toBeLessThan(1_000);
      }
    };
    // An even number of characters: no escape is cut.
    const small = text.slice(0, 2 * Math.floor(text.length / GROWTH / 2));
    await expectLinear(
      () => ask(small),
      () => ask(text),
    );
  });
});
