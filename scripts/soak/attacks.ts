// The attacks as data: what each sends, and what must be answered. What every attack has to leave
// behind (a process that lives, its descriptors, memory, /health) the runner looks at.
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';
import { REFERENCE_PROTEINS } from '../../sandbox/src/atlas/reference-proteins.ts';
import type { Malice } from './hostile-service.ts';
import { openRaw, post, type Reply } from './send.ts';

/**
 * Where an attack goes: a gateway over the sandbox, one that holds a key, one over a hostile
 * service.
 */
export type Target = 'open' | 'keyed' | 'hostile';

export interface AttackPlace {
  readonly url: string;
  /** A key that the keyed gateway takes. */
  readonly key: string;
  /** Changes how the hostile service answers. */
  answer(malice: Malice): void;
  /** Smaller, for a test of a few seconds. */
  readonly isShort: boolean;
}

export interface Attack {
  readonly name: string;
  readonly target: Target;
  /** Sends it. @returns what was answered wrongly; nothing when all was right */
  run(place: AttackPlace): Promise<string | undefined>;
}

const [HASH = ''] = REFERENCE_PROTEINS.map(({ md5 }) => md5);
const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const aliases = (count: number, field: (i: number) => string): string =>
  `{ ${times(count, (i) => `a${i}: ${field(i)}`).join(' ')} }`;

/** Wrong where an answer is missing, an internal error, or a status that is not allowed. */
function wrongIn(replies: readonly Reply[], allowed: readonly number[]): string | undefined {
  for (const { status, text } of replies) {
    if (!allowed.includes(status)) return `status ${status}: ${text.slice(0, 120)}`;
    if (text.includes('INTERNAL_SERVER_ERROR')) return `an internal error: ${text.slice(0, 200)}`;
  }
  return undefined;
}
/** How long the gateway may take to be ready for others when an attack has ended. */
const RECOVERY_MS = 10_000;

/** Whether others are served when the attack has ended. */
async function wrongAfter(url: string): Promise<string | undefined> {
  for (const end = Date.now() + RECOVERY_MS; ; await sleep(250)) {
    const { status } = await post(url, { query: '{ limits { maxTasks } }' });
    if (status === 200) return undefined;
    if (Date.now() > end) return `others are answered ${status}`;
  }
}
const REFUSED_OR_DONE = [200, 400, 413, 429, 503];

const worstTexts = [
  'A'.repeat(4_000),
  `Bearer ${' '.repeat(4_000)}`,
  'http://'.repeat(570),
  'eyJ.'.repeat(1_000),
  '?a=&'.repeat(1_000),
  'MKV'.repeat(1_300),
];
const residues =
  'proteins(hashes: $h) { features(first: 100) { value regions { start end } feature { label description } } }';

export const ATTACKS: readonly Attack[] = [
  {
    name: '1 errors that quote 4,000 characters, twenty in a document',
    target: 'open',
    async run({ url }) {
      const quoted = worstTexts.map((text) =>
        aliases(20, () => `protein(hash: ${JSON.stringify(text)}) { name }`),
      );
      const unknown = worstTexts.map((text) => `{ ${text.replaceAll(/\W/g, 'x')} }`);
      const asked = [...quoted, ...unknown].map((query) => post(url, { query }, { token: 'x.y.z' }));
      return wrongIn(await Promise.all(asked), REFUSED_OR_DONE);
    },
  },
  {
    name: '2 WebSockets with 5 MB in connection_init',
    target: 'open',
    async run({ url, isShort }) {
      const text = JSON.stringify({ type: 'connection_init', payload: { junk: 'x'.repeat(5_000_000) } });
      const codes = await Promise.all(
        times(isShort ? 4 : 20, async () => {
          const socket = new WebSocket(url.replace('http', 'ws').concat('/graphql'), 'graphql-transport-ws');
          socket.on('error', () => undefined);
          const closed = new Promise<number>((resolve) => socket.once('close', resolve));
          socket.once('open', () => socket.send(text, () => undefined));
          return Promise.race([closed, sleep(10_000, -1, { ref: false })]).finally(() => socket.terminate());
        }),
      );
      return codes.includes(-1) ? 'a socket with such a payload stays open' : undefined;
    },
  },
  {
    name: '3 refused upgrades with bytes behind the head',
    target: 'open',
    async run({ url, isShort }) {
      const head =
        'GET /nowhere HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: eHh4eHh4eHh4eHh4eHh4eA==\r\n\r\n';
      const close = openRaw(url, isShort ? 100 : 200, head + 'x'.repeat(4_000));
      await sleep(1_000);
      close();
      return undefined;
    },
  },
  {
    name: '4 feature searches of many words and of one long one',
    target: 'open',
    async run({ url, isShort }) {
      const word = 'helix sheet loop binding ';
      const searches = [
        aliases(
          20,
          (i) => `features(search: ${JSON.stringify(word.repeat(isShort ? 20 : 60) + i)}) { totalCount }`,
        ),
        `{ features(search: "${'e'.repeat(40_000)}") { totalCount } }`,
        aliases(20, () => `features(search: "${'an '.repeat(300)}") { totalCount }`),
      ];
      const asked = searches.map((query) => post(url, { query }));
      return wrongIn(await Promise.all(asked), REFUSED_OR_DONE);
    },
  },
  {
    name: '5 bodies that are never finished, and answers that are never read',
    target: 'open',
    async run({ url, isShort }) {
      const head = (length: number) =>
        `POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer any\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
      const query = JSON.stringify({
        query: '{ __schema { types { name description fields { name description } } } }',
      });
      const close = [
        openRaw(url, 500, `${head(60_000)}{"query":"`),
        openRaw(
          url,
          isShort ? 4 : 25,
          Buffer.concat([Buffer.from(head(16_000_000)), Buffer.alloc(15_000_000, ' ')]),
        ),
        openRaw(url, isShort ? 20 : 200, `${head(query.length)}${query}`.repeat(20), false),
      ];
      await sleep(isShort ? 1_500 : 5_000);
      for (const end of close) end();
      return wrongAfter(url);
    },
  },
  {
    name: '5 requests for /health whose Host holds a path',
    target: 'open',
    async run({ url }) {
      const close = openRaw(url, 1_000, 'GET /health HTTP/1.1\r\nhost: x/y?\r\n\r\n');
      await sleep(1_000);
      close();
      return wrongAfter(url);
    },
  },
  {
    name: '5 JSON of objects and lists alone',
    target: 'open',
    async run({ url, isShort }) {
      const bodies = ['{},'.repeat(5_000_000), '['.repeat(15_000_000), '[],'.repeat(330_000)].map((text) =>
        Buffer.from(`{"query":"{ limits { maxTasks } }","variables":{"x":[${text}0]}}`),
      );
      const asked = times(isShort ? 3 : 12, (i) =>
        post(url, bodies[i % 3] ?? Buffer.alloc(0), { token: 'any' }),
      );
      return wrongIn(await Promise.all(asked), REFUSED_OR_DONE);
    },
  },
  {
    name: '6 wrong keys beside the right one',
    target: 'keyed',
    async run({ url, key, isShort }) {
      const query = { query: '{ limits { maxTasks } }' };
      for (let i = 0; i < (isShort ? 100 : 400); i += 1) await post(url, query, { token: `wrong-${i}` });
      const right = await post(url, query, { token: key });
      return right.status === 200 ? undefined : `the right key is answered ${right.status}`;
    },
  },
  {
    name: '6 large bodies of callers who have not proved anything',
    target: 'keyed',
    async run({ url, isShort }) {
      const body = Buffer.alloc(15_000_000, ' ');
      const replies = await Promise.all(
        times(isShort ? 4 : 25, (i) => post(url, body, { token: `none-${i}` })),
      );
      return wrongIn(replies, [0, 200, 401, 413, 429, 503]);
    },
  },
  {
    name: '7 one protein 4,000 times with its features',
    target: 'open',
    async run({ url, isShort }) {
      const variables = { h: times(isShort ? 2_000 : 4_000, () => HASH) };
      const query = `query($h: [ProteinHash!]!) { ${times(isShort ? 1 : 8, (i) => `a${i}: ${residues}`).join(' ')} }`;
      const replies = await Promise.all(times(isShort ? 1 : 3, () => post(url, { query, variables })));
      return wrongIn(replies, REFUSED_OR_DONE);
    },
  },
  {
    name: '8 folding inputs of 60 kB that are checked in pairs',
    target: 'open',
    async run({ url }) {
      const query = `query($i: SubmitFoldInput!) { checkFold(input: $i) { __typename } }`;
      const item = (...chains: unknown[]) => ({ items: [{ chains }] });
      const modifications = times(2_000, (i) => ({ position: (i % 60) + 1, ccd: 'SEP' }));
      const inputs = [
        item({ ligand: { smiles: '['.repeat(60_000) } }),
        item({ ligand: { smiles: `${'C('.repeat(20_000)}${')'.repeat(20_000)}` } }),
        item({ ligand: { smiles: 'C1CC1'.repeat(12_000) } }),
        item({ protein: { sequence: 'S'.repeat(60), modifications } }),
        item(...times(200, () => ({ protein: { sequence: 'MKV'.repeat(100) } }))),
      ];
      const asked = inputs.map((i) => post(url, { query, variables: { i } }));
      return wrongIn(await Promise.all(asked), REFUSED_OR_DONE);
    },
  },
  {
    name: '9 calls that cost nothing on paper',
    target: 'open',
    async run({ url, isShort }) {
      const ids = times(isShort ? 500 : 5_000, (i) => i.toString(16).padStart(32, '0'));
      const queries = [
        {
          query: '{ lookup(ids: $i) { protein { name } } }'.replace('{', 'query($i: [String!]!) {'),
          variables: { i: ids },
        },
        { query: aliases(200, (i) => `uniprotEntry(id: "P${10_000 + i}") { name }`) },
        { query: aliases(150, (i) => `cluster(member: "${i.toString(16).padStart(32, '0')}") { raw }`) },
      ];
      return wrongIn(await Promise.all(queries.map((body) => post(url, body))), REFUSED_OR_DONE);
    },
  },
  {
    name: '10 bulk look-ups without end',
    target: 'open',
    async run({ url, isShort }) {
      const query = `mutation($h: [ProteinHash!]!) { startBulkLookup(input: { hashes: $h, structure: false, residueFeatures: false }) {
        ... on Refused { reason } ... on BulkLookup { lookupId } } }`;
      const replies: Reply[] = [];
      for (let n = 0; n < (isShort ? 6 : 40); n += 1) {
        const h = times(isShort ? 600 : 20_000, (i) => (n * 100_000 + i).toString(16).padStart(32, '0'));
        replies.push(await post(url, { query, variables: { h } }));
      }
      return wrongIn(replies, REFUSED_OR_DONE);
    },
  },
  {
    name: '11 chunked bodies over the limit',
    target: 'open',
    async run({ url }) {
      const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
      const head =
        'POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer any\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
      const close = openRaw(url, 4, Buffer.from(head + chunk.repeat(300)));
      await sleep(1_500);
      close();
      return wrongAfter(url);
    },
  },
  {
    name: '11 clients that leave in the middle',
    target: 'open',
    async run({ url, isShort }) {
      const ids = times(24, (i) => REFERENCE_PROTEINS[i % REFERENCE_PROTEINS.length]?.md5 ?? HASH);
      const query = 'query($i: [String!]!) { lookup(ids: $i) { protein { name structure { text } } } }';
      await Promise.all(
        times(isShort ? 30 : 200, (n) =>
          post(url, { query, variables: { i: ids } }, { leaveMs: 5 + ((n * 37) % 300) }),
        ),
      );
      return wrongAfter(url);
    },
  },
  ...(['zip', 'lying zip', 'endless json', 'deep json', 'wide json', 'json of members', 'drip'] as const).map(
    (malice): Attack => ({
      name: `13 a service that answers: ${malice}`,
      target: 'hostile',
      async run({ url, answer }) {
        answer(malice);
        const many = times(40, (i) => i.toString(16).padStart(32, '0'));
        const leaving = malice === 'drip' ? { leaveMs: 2_000 } : {};
        const replies = await Promise.all([
          post(
            url,
            {
              query: 'query($h: [ProteinHash!]!) { proteins(hashes: $h) { features { value } } }',
              variables: { h: many },
            },
            leaving,
          ),
          post(url, { query: `{ protein(hash: "${HASH}") { name sequence structure { text } } }` }, leaving),
          post(
            url,
            { query: '{ batch(batchId: "b") { counts { total } tasks { nodes { taskId } } } }' },
            { ...leaving, token: 'any' },
          ),
        ]);
        return wrongIn(replies, malice === 'drip' ? [0, 200] : [200]);
      },
    }),
  ),
];
