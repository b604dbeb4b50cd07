// Files as other programs write them: FASTA with a byte order mark, lines of 60 letters, empty chains; and ids that name nothing.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Served, serve } from '../subscriptions/streams.ts';
import { fault } from '../subscriptions/support.ts';
import { openWorld, type World } from '../support.ts';
import { run, start } from '../system/cli/bin.ts';

const HBA =
  'MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDLSHGSAQVKGHGKKVADALTNAVAHVDDMPNALSALSDLHAHKLRVDPVNFKLLSHCLLVTLAAHLPAEFTPAVHASLDKFLASVSTVLTSKYR';

let world: World;
let served: Served;
beforeAll(async () => {
  world = await openWorld({}, { control: true });
  served = await serve(world.gateway);
});
afterAll(async () => {
  await served.close();
  await world.close();
});

const foldatlas = (words: readonly string[], input = '') =>
  run(words, { input, env: { FOLDATLAS_URL: served.url, FOLDATLAS_TOKEN: 'a-token-for-files' } });
const rowsOf = (table: string) =>
  table
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t'));

describe('lookup', () => {
  it('writes no table where there is no file, and says where identifiers go', async () => {
    const { code, out, err } = await foldatlas(['lookup', 'P01308']);
    expect([code, out]).toEqual([64, '']);
    expect(err).toContain('echo P01308 | foldatlas lookup -');
  });

  it('reads records of FASTA among identifiers, each as one protein', async () => {
    const { out } = await foldatlas(
      ['lookup', '-'],
      `\uFEFF>first of two # 2\r\n${HBA.slice(0, 60)}\r\n${HBA.slice(60)}\r\n>sp|P01308|INS_HUMAN Insulin\nP69905 ins_human`,
    );
    expect(rowsOf(out).map(([requested, status, , accession]) => [requested, status, accession])).toEqual([
      ['>first of two # 2', 'FOUND', 'P69905'],
      ['>sp|P01308|INS_HUMAN Insulin', 'FOUND', 'P01308'],
      ['P69905', 'FOUND', 'P69905'],
      ['ins_human', 'FOUND', 'P01308'],
    ]);
  });

  it('reads on in a record behind blank lines, as other programs do', async () => {
    const [start, end] = [HBA.slice(0, 60), HBA.slice(60)];
    const { out } = await foldatlas(
      ['lookup', '-'],
      `>sp|P01308|MUTANT\r\n\r\n${start}\r\n \r\n${end}\r\n\r\nP01308\n`,
    );
    expect(rowsOf(out).map(([requested, , , accession]) => [requested, accession])).toEqual([
      ['>sp|P01308|MUTANT', 'P69905'],
      ['P01308', 'P01308'],
    ]);
  });

  it('reads a list of any length, in little memory and also where it is one line', async () => {
    const remarks = await run(['lookup', '-'], {
      input: '# a remark\n'.repeat(700_000),
      env: { FOLDATLAS_URL: served.url, NODE_OPTIONS: '--max-old-space-size=64' },
    });
    expect(remarks).toMatchObject({ code: 0, err: expect.stringContaining('0 looked up') });
    const running = start(['lookup', '-'], {
      input: Array.from({ length: 150_000 }, (_, i) => `x-${i}`).join(','),
      env: { FOLDATLAS_URL: served.url },
    });
    let out = '';
    running.child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      if (out.includes('NOT_AN_IDENTIFIER')) running.child.stdout?.destroy();
    });
    expect(await running.ended).toMatchObject({ code: 0, err: '' });
  });

  it('waits where the gateway refuses for now, and looks up all the same', async () => {
    let asked = 0;
    const busy = createServer((request, response) => {
      asked += 1;
      const extensions = { code: 'RATE_LIMITED', retryable: true, retryAfterSeconds: 1 };
      const row = { requested: 'P01308', status: 'FOUND', problem: null, protein: { hash: 'h' } };
      const errors = [{ message: 'Too many requests.', extensions }];
      request.resume();
      response.writeHead(asked > 2 ? 200 : 429, { 'content-type': 'application/json' });
      response.end(JSON.stringify(asked > 2 ? { data: { lookup: [row] } } : { errors }));
    });
    await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve));
    const { port } = busy.address() as AddressInfo;
    const words = ['lookup', '-', '--url', `http://127.0.0.1:${port}/graphql`];
    const { code, out, err } = await run(words, { input: 'P01308\n' });
    expect(rowsOf(out).map(([, status]) => status)).toEqual(['FOUND']);
    expect([code, asked]).toEqual([0, 3]);
    expect(err).toContain('RATE_LIMITED: Too many requests. Going on in 1 s.');
    busy.close();
  });

  it('names no place in a row, which is not that of the file', async () => {
    const { out } = await foldatlas(['lookup', '-'], `${'P01308\n'.repeat(201)}rubbish!\n`);
    expect(rowsOf(out).at(-1)?.at(-1)).toBe('It is not an identifier of a protein.');
  });

  it('takes a sequence with gaps for one, and no text in another encoding than UTF-8', async () => {
    const gapped = await foldatlas(['lookup', '-'], `>sp|P01308|INS_HUMAN\nMALW-RL.\n${HBA}\n>b\n${HBA}\n`);
    expect(rowsOf(gapped.out).map(([requested, status]) => [requested, status])).toEqual([
      ['>sp|P01308|INS_HUMAN', 'NOT_AN_IDENTIFIER'],
      ['>b', 'FOUND'],
    ]);
    const utf16 = await foldatlas(['lookup', '-'], '\uFEFFP\x0001308\x00\n');
    expect(utf16).toMatchObject({ code: 65, err: expect.stringContaining('Save it as UTF-8.') });
  });

  it('says of each gap why it is one, not why another is', async () => {
    for (const message of ['no access to one', 'no access to the other'])
      await fault(world.sandboxUrl, { operation: 'uniprot', status: 403, times: 1, body: { message } });
    const { code, out } = await foldatlas(['lookup', '-'], 'Q9Y6K9 P01308 Q9Y6K8');
    const rows = rowsOf(out).map((row) => [row[0], row[1], row.at(-1)]);
    expect(rows.map(([requested]) => requested)).toEqual(['Q9Y6K9', 'P01308', 'Q9Y6K8']);
    expect(rows.filter(([, status]) => status === 'UNAVAILABLE').map(([, , problem]) => problem)).toEqual(
      expect.arrayContaining(['FORBIDDEN: no access to one', 'FORBIDDEN: no access to the other']),
    );
    expect(code).toBe(1);
  });
});

describe('fold', () => {
  it('says to quote a code that YAML reads as a number', async () => {
    const file = (code: string) => `items: [{ chains: [{ ligand: { ids: [L], ccd: [${code}] } }] }]\n`;
    const { code, err } = await foldatlas(['fold', '-'], file('017'));
    expect(code).toBe(65);
    expect(err).toContain('ccd: ["017"]');
    expect((await foldatlas(['fold', '-'], file('"017"'))).code).toBe(0);
  });

  it.each([
    ['\uFEFF', '\n'],
    ['  \n ', '\r'],
  ])('submits the first record also behind %j, with %j at the ends of lines', async (before, end) => {
    world.forget();
    const { code } = await foldatlas(
      ['fold', '-', '--again', `${before.length}`],
      before + ['>a', 'MQIFVKTLTGK', '>b', 'MQIFVKTLTGA', ''].join(end),
    );
    expect(code).toBe(0);
    const { body = '' } = world.calls.find(({ operation }) => operation === 'submit') ?? {};
    expect(JSON.parse(body)).toMatchObject({ payload: [{}, {}] });
  });

  it('refuses a complex of which a chain is empty, before it is paid for', async () => {
    world.forget();
    const { code, err } = await foldatlas(['fold', '-'], '>pair\nMQIFVKTLTGK:\n');
    expect(code).toBe(65);
    expect(err).toContain('items.0.chains.1.protein.sequence: The sequence is empty.');
    expect(world.counts()).toEqual({});
  });

  it('refuses a stop inside a chain, and takes one at its end', async () => {
    world.forget();
    const inside = await foldatlas(['fold', '-'], '>orf\nMQIFV*KTLTGK\n');
    expect(inside.code).toBe(65);
    expect(inside.err).toContain('items.0.chains.0.protein.sequence: "*" at position 5');
    expect(world.counts()).toEqual({});
    expect((await foldatlas(['fold', '-'], '>pair\nMQIFVKTLTGK*:MQIFVK*\n')).code).toBe(0);
    const { body = '' } = world.calls.find(({ operation }) => operation === 'submit') ?? {};
    const chains = [{ sequence: 'MQIFVKTLTGK' }, { sequence: 'MQIFVK' }];
    expect(JSON.parse(body)).toMatchObject({ payload: [{ all_atom_input: { sequences: chains } }] });
  });

  it('does not say that a batch goes on that is not there', async () => {
    const { code, err } = await foldatlas(['fold', '--batch', 'nope']);
    expect({ code, err }).toEqual({ code: 2, err: 'There is no batch nope for this token.\n' });
  });
});
