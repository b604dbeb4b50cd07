// The bin at a gateway that runs: help, exit codes, data on standard output and everything else on standard error.
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../sandbox/src/clock.ts';
import { openProxy, renamedKey } from '../../doctor/proxy.ts';
import { type Served, serve } from '../../subscriptions/streams.ts';
import { openWorld, type World } from '../../support.ts';
import { type RunOptions, run, start } from './bin.ts';

let world: World;
let served: Served;
let folder: string;
const clock = new ManualClock(Date.now());
const TOKEN = 'a-token-for-the-command-line';

beforeAll(async () => {
  world = await openWorld({}, { clock });
  served = await serve(world.gateway);
  folder = mkdtempSync(join(tmpdir(), 'foldatlas-cli-'));
});
afterAll(async () => {
  await served.close();
  await world.close();
  rmSync(folder, { recursive: true });
});

const there = (more: RunOptions = {}): RunOptions => ({
  cwd: folder,
  ...more,
  env: { FOLDATLAS_URL: served.url, FOLDATLAS_TOKEN: TOKEN, ...more.env },
});

const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return name;
};

describe('help and mistakes', () => {
  it('tells commands, options, examples and exit codes on standard output', async () => {
    const [main, none, fold, version] = await Promise.all([
      run(['--help']),
      run([]),
      run(['fold', '--help']),
      run(['--version']),
    ]);
    expect(main).toMatchObject({ code: 0, err: '' });
    for (const name of ['serve', 'sandbox', 'query', 'fold', 'lookup', 'doctor'])
      expect(main.out).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    expect(none.code).toBe(64);
    expect(fold.code).toBe(0);
    const options = ['--watch', '--label', '--repeat', '--pae', '--model', '--token-file'];
    for (const part of [...options, 'EXAMPLES', 'EXIT CODES', '130']) expect(fold.out).toContain(part);
    expect(version).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });

  it('are told in a sentence, with the exit code for them', async () => {
    const together = { UPSTREAM_BATCH_PREFIX: '/x', UPSTREAM_ATLAS_PREFIX: '/x', STORE_URL: 'memory:' };
    const [command, option, value, word, address, unreachable, file, config, clock, prefixes] =
      await Promise.all([
        run(['folds']),
        run(['query', 'a.graphql', '--verbose']),
        run(['lookup', 'ids.txt', '--url']),
        run(['fold', 'a.yaml', 'b.yaml']),
        run(['query', '-', '--url', 'gateway'], { input: '{ __typename }' }),
        run(['query', '-', '--url', 'http://127.0.0.1:9'], { input: '{ __typename }' }),
        run(['query', 'none.graphql'], there()),
        run(['doctor'], { env: { PORT: 'x', UPSTREAM_URL: 'ftp://x' } }),
        run(['sandbox'], { env: { SANDBOX_CLOCK: 'manual' } }),
        run(['serve'], { env: { ...together, PORT: '0' } }),
      ]);
    expect(command).toMatchObject({
      code: 64,
      out: '',
      err: expect.stringContaining('There is no command folds'),
    });
    expect(option).toMatchObject({ code: 64, err: expect.stringContaining('There is no option --verbose') });
    expect(value).toMatchObject({ code: 64, err: expect.stringContaining('--url needs a value') });
    expect(word).toMatchObject({ code: 64, err: expect.stringContaining('one word too many: b.yaml') });
    expect(address).toMatchObject({
      code: 64,
      err: expect.stringContaining('gateway is not an http(s) address'),
    });
    expect(unreachable).toMatchObject({ code: 2, err: expect.stringContaining('cannot be reached') });
    expect(file).toMatchObject({ code: 64, err: expect.stringContaining('none.graphql') });
    expect(config).toMatchObject({
      code: 78,
      err: expect.stringMatching(/PORT.*UPSTREAM_URL|UPSTREAM_URL.*PORT/s),
    });
    expect(clock).toMatchObject({ code: 78, err: expect.stringContaining('SANDBOX_CONTROL=1') });
    expect(prefixes).toMatchObject({ code: 78, err: expect.stringContaining('below the Batch prefix') });
  });
});

describe('query', () => {
  it('writes the answer as JSON, and its errors on both sides', async () => {
    const document = write(
      'two.graphql',
      'query A($index: Int!) { feature(index: $index) { index } }\nquery B { batch(batchId: "x") { label } }',
    );
    const [good, bad, vague] = await Promise.all([
      run(['query', document, '--operation', 'A', '--variables', '{"index": 7}'], there()),
      run(['query', document, '--operation', 'B'], there({ env: { FOLDATLAS_TOKEN: '' } })),
      run(['query', document], there()),
    ]);
    expect(good).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(good.out)).toEqual({ data: { feature: { index: 7 } } });
    expect(bad).toMatchObject({ code: 1, err: expect.stringMatching(/^UNAUTHENTICATED at batch/) });
    expect(JSON.parse(bad.out)).toMatchObject({ data: { batch: null } });
    expect(vague).toMatchObject({ code: 65, err: expect.stringContaining('--operation') });
  });
});

describe('what stands in the place of a gateway', () => {
  it('is told in a sentence with exit code 2, and a token that is none with 64, without quoting it', async () => {
    const proxy = createServer(({ url = '' }, response) => {
      if (url.startsWith('/page'))
        return response.writeHead(502, { 'content-type': 'text/html' }).end('<html>');
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write('event: next\ndata: {"data":{}}\n\n');
      return setTimeout(() => response.destroy(), 100);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    const watch = (path: string, token: string) =>
      run(['query', '-', '--url', `http://127.0.0.1:${port}/${path}`], {
        input: 'subscription { batchProgress(batchId: "x") { final } }',
        env: { FOLDATLAS_TOKEN: token },
      });
    const [page, cut, token] = await Promise.all([
      watch('page', 'token\n'),
      watch('cut', 'token'),
      watch('cut', 'hidden\ntoken'),
    ]);
    proxy.close();
    expect(page).toEqual({ code: 2, out: '', err: 'The gateway answered HTTP 502, and no GraphQL.\n' });
    expect(cut).toMatchObject({
      code: 2,
      out: '{"data":{}}\n',
      err: expect.stringMatching(/^The stream broke off: .*\n$/),
    });
    expect(token).toMatchObject({
      code: 64,
      out: '',
      err: expect.stringMatching(/^FOLDATLAS_TOKEN: a token is one word/),
    });
    expect(token.err).not.toContain('hidden');
  });
});

describe('what the gateway and the service wrote', () => {
  const evil = 'a\u001b[2Jb\u001b]0;title\u0007\u202ec\r\nSubmitted before\u009b31m';
  it('controls no terminal, and begins no line of its own', async () => {
    const gateway = createServer((incoming, response) => {
      incoming.resume();
      const warnings = [{ path: evil, message: evil }];
      const result = { __typename: 'Refused', problem: evil, hint: evil, reason: 'CREDITS', warnings };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ data: { result }, errors: [{ message: evil, path: [evil] }] }));
    });
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
    const input = '>x\nMQIFVK\n';
    const [fold, query] = await Promise.all([
      run(['fold', '-', '--url', url], { input }),
      run(['query', '-', '--url', url], { input: '{ __typename }' }),
    ]);
    gateway.close();
    expect([fold.code, query.code]).toEqual([2, 1]);
    for (const { err } of [fold, query]) {
      expect(err).toContain('ab');
      expect(err).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e]/u);
      expect(err).not.toMatch(/^Submitted before/m);
    }
    // Data in a pipe are as they came.
    expect(JSON.parse(query.out)).toMatchObject({ errors: [{ message: evil }] });
  });
});

describe('lookup', () => {
  const list =
    'P01308, ACTA_HUMAN\n# a remark\n00000000000000000000000000000000 ENSG00000139618\n=1+1 P01308\n';

  it('answers each identifier in order, as a table or as JSON lines', async () => {
    const [table, lines] = await Promise.all([
      run(['lookup', '-'], there({ input: list })),
      run(['lookup', write('ids.txt', list), '--ndjson'], there()),
    ]);
    expect(table.code).toBe(0);
    const rows = table.out
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => line.split('\t'));
    expect(rows.map(([requested, status]) => [requested, status])).toEqual([
      ['requested', 'status'],
      ['P01308', 'FOUND'],
      ['ACTA_HUMAN', 'FOUND'],
      ['00000000000000000000000000000000', 'NOT_IN_ATLAS'],
      ['ENSG00000139618', 'NOT_AN_IDENTIFIER'],
      // Text that a spreadsheet program would run.
      ["'=1+1", 'NOT_AN_IDENTIFIER'],
      ['P01308', 'FOUND'],
    ]);
    expect(new Set(rows.map((row) => row.length))).toEqual(new Set([16]));
    expect(rows[1]?.[2]).toBe('12e9c9e4e2835c302e8ba615115edda3');
    expect(table.err).toContain('6 looked up: 3 found, 3 not found, 0 unavailable.');
    const objects = lines.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(objects.map(({ requested }) => requested)).toEqual(
      rows.slice(1).map(([requested]) => requested?.replace(/^'/, '')),
    );
  });

  it('ends quietly when its reader has enough', async () => {
    const running = start(['lookup', '-'], there({ input: list }));
    running.child.stdout?.destroy();
    expect(await running.ended).toMatchObject({ code: 0, err: expect.not.stringContaining('EPIPE') });
  });
});

describe('fold', () => {
  const YAML = `
repeat: 2
items:
  - name: insulin A / dimer
    includePairChainsIptm: true
    chains: [{ protein: { ids: [A, B], sequence: GIVEQCCTSICSLYQLENYCN } }]
  - chains: [{ protein: { ids: [A], sequence: MQIFVKTLTGK } }]
`;
  const submits = () => world.counts().submit ?? 0;
  /** Lets the tasks of the sandbox go on until a command has ended. */
  async function untilEnded<T>(ended: Promise<T>): Promise<T> {
    let over = false;
    void ended.finally(() => {
      over = true;
    });
    while (!over) {
      clock.advance(30_000);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return ended;
  }

  it('submits, is interrupted, is taken up, saves all; and never pays twice for the same file', async () => {
    world.forget();
    const file = write('complex.yaml', YAML);
    write('my key', TOKEN);
    const first = start(['fold', file, '--watch', '--out', 'out', '--token-file', 'my key'], there());
    await first.says(/0\/4/);
    first.child.kill('SIGINT');
    const interrupted = await first.ended;
    expect(interrupted.code).toBe(130);
    const batchId = interrupted.out.trim();
    expect(interrupted.err).toContain(
      `Take it up with: foldatlas fold --batch ${batchId} --out out --token-file 'my key'\n`,
    );

    const done = await untilEnded(run(['fold', '--batch', batchId, '--out', 'out'], there()));
    expect(done).toMatchObject({ code: 0, out: '' });
    expect(done.err).toMatch(/4\/4 · 4 done/);
    expect(readdirSync(join(folder, 'out')).sort()).toEqual([
      'batch.txt',
      'insulin_A_dimer_0.cif',
      'insulin_A_dimer_0.json',
      'insulin_A_dimer_1.cif',
      'insulin_A_dimer_1.json',
      'item1_0.cif',
      'item1_0.json',
      'item1_1.cif',
      'item1_1.json',
      'scores.tsv',
    ]);
    const table = readFileSync(join(folder, 'out', 'scores.tsv'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'));
    expect(table.map(([rank]) => rank)).toEqual(['rank', '1', '2', '3', '4']);
    const iptm = table.slice(1, 3).map((row) => Number(row[4]));
    expect(iptm).toEqual([...iptm].sort((a, b) => b - a));
    expect(readFileSync(join(folder, 'out', 'item1_0.cif'), 'utf8')).toMatch(/^data_/);

    world.forget();
    const again = await run(
      ['fold', write('same.yaml', `# another remark${YAML}`), '--watch', '--out', 'out'],
      there(),
    );
    expect(again).toMatchObject({ code: 0, out: `${batchId}\n` });
    expect(again.err).toContain('nothing is paid again');
    expect([submits(), world.counts().download ?? 0]).toEqual([0, 0]);
    for (const text of [interrupted, done, again].flatMap(({ out, err }) => [out, err]))
      expect(text).not.toContain(TOKEN);
  });

  it('takes FASTA, lists what failed, and keeps the rest', async () => {
    // Too many tokens for the service, and so documented to fail.
    const fasta = write(
      'three.fasta',
      `>fine\nMQIFVKTLTGK\n>=pair\nGIVEQCC:MQIFVK\n>large\n${'MQIFVK'.repeat(350)}\n`,
    );
    const ended = await untilEnded(run(['fold', fasta, '--watch', '--out', 'fasta'], there()));
    expect(ended.code).toBe(1);
    expect(ended.err).toContain('without a result: large: FAILED: CUDA out of memory');
    expect(
      readdirSync(join(folder, 'fasta'))
        .filter((name) => name.endsWith('.cif'))
        .sort(),
    ).toEqual(['_pair.cif', 'fine.cif']);
    const rows = readFileSync(join(folder, 'fasta', 'scores.tsv'), 'utf8')
      .trimEnd()
      .split('\n');
    expect(rows.map((row) => row.split('\t').slice(0, 4))).toEqual([
      ['rank', 'name', 'repeat', 'status'],
      ['1', "'=pair", '0', 'DONE'],
      ['2', 'fine', '0', 'DONE'],
      ['', 'large', '0', 'FAILED'],
    ]);
  });

  /** Sends a request on to the gateway. */
  const forward = (incoming: IncomingMessage, onAnswer: (answer: IncomingMessage) => void) => {
    const { url = '', method, headers } = incoming;
    incoming.pipe(request(new URL(url, served.url), { method, headers }, onAnswer));
  };

  it('follows on behind a gateway that is away for a while', async () => {
    const open = (port = 0) => {
      const server = createServer((incoming, response) =>
        forward(incoming, (answer) => {
          response.writeHead(answer.statusCode ?? 0, answer.headers);
          answer.pipe(response);
        }),
      );
      return new Promise<Server>((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
    };
    const before = await open();
    const { port } = before.address() as AddressInfo;
    const file = write('away.fasta', '>away\nMQIFVKTLTGKAWAY\n');
    const words = ['fold', file, '--watch', '--out', 'away', '--url', `http://127.0.0.1:${port}/graphql`];
    const running = start(words, there());
    await running.says(/0\/1/);
    before.close();
    before.closeAllConnections();
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    const after = await open(port);
    expect(await untilEnded(running.ended)).toMatchObject({ code: 0 });
    expect(readdirSync(join(folder, 'away'))).toContain('away.cif');
    after.close();
    after.closeAllConnections();
  });

  it('lists a result whose download breaks off, saves the rest, and gets it the next time', async () => {
    const cutting = createServer((incoming, response) =>
      forward(incoming, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        if (!/-00000.result\.json/.test(incoming.url ?? '')) return answer.pipe(response);
        response.flushHeaders();
        return setTimeout(() => response.destroy(), 20);
      }),
    );
    await new Promise<void>((resolve) => cutting.listen(0, '127.0.0.1', resolve));
    const { port } = cutting.address() as AddressInfo;
    const file = write('cut.fasta', '>cut\nMQIFVKTLTGKCUT\n>whole\nMQIFVKTLTGKWHQLE\n');
    const words = ['fold', file, '--watch', '--out', 'cut'];
    const cut = await untilEnded(run([...words, '--url', `http://127.0.0.1:${port}/graphql`], there()));
    expect(cut.err).toContain('without a result: cut: DONE: the download broke off');
    expect(cut.code).toBe(1);
    const saved = () => readdirSync(join(folder, 'cut')).sort();
    expect(saved()).toEqual(['batch.txt', 'scores.tsv', 'whole.cif', 'whole.json']);
    expect((await run(words, there())).code).toBe(0);
    expect(saved()).toContain('cut.json');
    cutting.close();
  });

  it('says of an unknown outcome what pays again', async () => {
    const broken = createServer((_, response) => response.writeHead(500).end());
    await new Promise<void>((resolve) => broken.listen(0, '127.0.0.1', resolve));
    const { port } = broken.address() as AddressInfo;
    const env = { UPSTREAM_URL: `http://127.0.0.1:${port}`, STORE_URL: 'memory:', FOLDATLAS_TOKEN: TOKEN };
    const ended = await run(['fold', write('unknown.fasta', '>a\nGIVEQCC\n')], { cwd: folder, env });
    broken.close();
    expect(ended).toMatchObject({ code: 2, out: '' });
    expect(ended.err).toMatch(/^OutcomeUnknown: /m);
    expect(ended.err).toContain('only if neither is so.\n--again WORD makes another key.');
  });

  it('tells every mistake in the file, and sends nothing', async () => {
    world.forget();
    const wrong = write(
      'wrong.yaml',
      'items:\n  - chains: [{ protein: { sequence: "M?I" } }]\n  - chains: []\n',
    );
    const twice = '{"items": [{"chains": []}], "label": "\\"items\\":", "items": []}';
    const [refused, unread, again, both] = await Promise.all([
      run(['fold', wrong], there()),
      run(['fold', write('wrong.txt', 'just text')], there()),
      run(['fold', write('twice.json', twice)], there()),
      run(['fold', wrong, '--batch', 'x'], there()),
    ]);
    expect(refused).toMatchObject({ code: 65, out: '' });
    expect(refused.err).toMatch(/items\.0\.chains\.0.*items\.1/s);
    expect(unread).toMatchObject({ code: 65, err: expect.stringContaining('items:') });
    expect(again).toMatchObject({ code: 65, err: expect.stringContaining('keys must be unique') });
    expect(both.code).toBe(64);
    expect(submits()).toBe(0);
  });

  it('saves results as they finish, is killed, and goes on without paying or downloading again', async () => {
    world.forget();
    const names = Array.from({ length: 12 }, (_, i) => `p${i}`);
    const file = write(
      'many.fasta',
      names.map((name, i) => `>${name}\nMQIFVKTLTG${'K'.repeat(i + 1)}\n`).join(''),
    );
    const ended = (folderName: string) =>
      existsSync(join(folder, folderName))
        ? readdirSync(join(folder, folderName)).filter((name) => name.endsWith('.cif')).length
        : 0;
    const first = start(['fold', file, '--watch', '--out', 'many'], there());
    await first.says(/0\/12/);
    // Four fold at a time: the first are saved while the others wait.
    for (let tries = 0; ended('many') === 0 && tries < 1500; tries += 1) {
      if (tries % 20 === 0) clock.advance(4_000);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(ended('many')).toBeGreaterThan(0);
    expect(ended('many')).toBeLessThan(12);
    expect(existsSync(join(folder, 'many', 'scores.tsv'))).toBe(false);
    first.child.kill('SIGKILL');
    const batchId = (await first.ended).out.trim();

    const second = await untilEnded(run(['fold', file, '--watch', '--out', 'many'], there()));
    expect(second).toMatchObject({ code: 0, out: `${batchId}\n` });
    expect(second.err).toContain('Results and scores.tsv are in many.');
    expect(ended('many')).toBe(12);
    expect(readdirSync(join(folder, 'many')).filter((name) => name.endsWith('.part'))).toEqual([]);
    expect(submits()).toBe(1);
    // Two files of each task; those of the four that were under way when it was killed may have come twice.
    expect(world.counts().download).toBeLessThanOrEqual(24 + 8);
  });

  it('never leaves the results of another batch in a folder as its own', async () => {
    const wrong = write('typo.fasta', '>binder\nMQIFVKTLTGK\n');
    const first = await untilEnded(run(['fold', wrong, '--watch', '--out', 'shared'], there()));
    expect(first.code).toBe(0);
    const result = readFileSync(join(folder, 'shared', 'binder.json'), 'utf8');
    const mended = write('typo.fasta', '>binder\nGIVEQCCTSICS\n');
    world.forget();
    const [id, ...words] = [first.out.trim(), '--out', 'shared'];
    const refused = {
      code: 64,
      out: '',
      err:
        `shared has the results of batch ${id}. Save those of this one to another folder; nothing was ` +
        `submitted. To go on with that batch: foldatlas fold --batch ${id} --out shared\n`,
    };
    expect(await run(['fold', mended, '--watch', ...words], there())).toEqual(refused);
    expect(await run(['fold', mended, ...words], there())).toEqual(refused);
    expect(await run(['fold', wrong, '--again', 'b', '--watch', ...words], there())).toEqual(refused);
    expect(world.calls).toEqual([]);
    const second = await run(['fold', mended], there());
    const taken = await run(['fold', '--batch', second.out.trim(), ...words], there());
    expect(taken).toEqual({
      code: 64,
      out: '',
      err:
        `shared has the results of batch ${id}. Save those of this one to another folder: ` +
        `foldatlas fold --batch ${second.out.trim()} --out DIR\n`,
    });
    expect(readFileSync(join(folder, 'shared', 'binder.json'), 'utf8')).toBe(result);
    const blocked = await run(['fold', '--batch', second.out.trim(), '--out', 'typo.fasta'], there());
    expect(blocked).toMatchObject({ code: 64, err: expect.stringMatching(/^--out: EEXIST.*\n$/) });
  });

  it('submits nothing that it could not save', async () => {
    world.forget();
    const file = write('unsaved.fasta', '>binder\nMQIFVKTLTGKTIT\n');
    const refused = await run(['fold', file, '--watch', '--out', file], there());
    expect(refused).toMatchObject({ code: 64, out: '', err: expect.stringMatching(/^--out: EEXIST.*\n$/) });
    expect(world.calls).toEqual([]);
  });

  it('takes label, repeats, model and aligned error from the command line', async () => {
    world.forget();
    const file = write('options.fasta', '>one\nMQIFVKTLTGKT\n');
    const words = ['fold', file, '--label', 'round 1', '--repeat', '2', '--pae'];
    const done = await run([...words, '--model', 'foldmodel2-2026-05-cutoff-2025'], there());
    expect(done.code).toBe(0);
    const body: unknown = JSON.parse(
      world.calls.find(({ operation }) => operation === 'submit')?.body ?? '{}',
    );
    expect(body).toMatchObject({
      repeat: 2,
      payload: [{ model: 'foldmodel2-2026-05-cutoff-2025', include_pae: true }],
    });
    const { data } = await world.query(
      'query($id: ID!) { batch(batchId: $id) { label } }',
      { id: done.out.trim() },
      { authorization: `Bearer ${TOKEN}` },
    );
    expect(data).toEqual({ batch: { label: 'round 1' } });
    const [repeat, model, batch] = await Promise.all([
      run(['fold', file, '--repeat', 'two'], there()),
      run(['fold', file, '--model', 'another'], there()),
      run(['fold', '--batch', 'x', '--label', 'y'], there()),
    ]);
    expect(repeat).toMatchObject({ code: 64, err: expect.stringContaining('--repeat must be') });
    expect(model).toMatchObject({ code: 65, err: expect.stringContaining('model') });
    expect(batch).toMatchObject({ code: 64, err: expect.stringContaining('--label belongs to a file') });
    expect(submits()).toBe(1);
  });

  it('says that there is no such batch', async () => {
    const none = await run(['fold', '--batch', 'no-such-batch'], there());
    expect(none.code).toBe(2);
    expect(none.err).toMatch(/batch/i);
  });
});

describe('doctor', () => {
  it('ends with 0 where all is as expected, 1 where something changed, 2 where nothing answers', async () => {
    const proxy = await openProxy(world.sandboxUrl);
    const examine = (url: string) =>
      run(['doctor', '--json'], { cwd: folder, env: { UPSTREAM_URL: url, FOLDATLAS_TOKEN: TOKEN } });
    const whole = await examine(proxy.url);
    proxy.change(renamedKey(/\/uniprot\//, 'organism', 'species'));
    const [changed, unreachable] = await Promise.all([examine(proxy.url), examine('http://127.0.0.1:9')]);
    await proxy.close();
    expect(whole.code).toBe(0);
    expect(JSON.parse(whole.out)).toMatchObject({ status: 'OK' });
    expect(changed.code).toBe(1);
    expect(changed.out).toContain('"path": "$.organism"');
    expect(whole.out + changed.out).not.toContain(TOKEN);
    expect(unreachable.code).toBe(2);
    expect(JSON.parse(unreachable.out)).toMatchObject({ status: 'UNREACHABLE' });
  });
});

/** The first line that a server writes: where it listens. */
const firstLine = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => child.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString())));

describe('beside a gateway that runs in the same folder', () => {
  const env = { PORT: '0', LOG_LEVEL: 'error', SANDBOX_SIZE: 'small' };
  const LIMITS = { input: '{ limits { maxTasks } }' };

  it('asks that one', async () => {
    const cwd = mkdtempSync(join(folder, 'beside-'));
    const gateway = start(['serve'], { cwd, env });
    const [url = ''] = /http:\S+\/graphql/.exec(await firstLine(gateway.child)) ?? [];
    const submitted = await run(['fold', '-'], { cwd, env, input: '>one\nMQIFVKTLTGK\n' });
    expect(submitted.err).toContain(`Asking the gateway that runs here, ${url}, over the SANDBOX`);
    expect(submitted.code).toBe(0);
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer sandbox' },
      body: JSON.stringify({ query: '{ myBatches { nodes { batchId } } }' }),
    });
    expect(await response.json()).toEqual({
      data: { myBatches: { nodes: [{ batchId: submitted.out.trim() }] } },
    });

    const [second, otherUpstream] = await Promise.all([
      run(['serve'], { cwd, env }),
      run(['query', '-'], { cwd, env: { ...env, UPSTREAM_URL: world.sandboxUrl }, ...LIMITS }),
    ]);
    expect(second.code).toBe(1);
    expect(second.err).toContain(`A gateway of this folder runs at ${url}`);
    expect(otherUpstream).toMatchObject({ code: 0, err: '' });

    gateway.child.kill('SIGTERM');
    await gateway.ended;
    expect(readdirSync(join(cwd, '.data')).filter((name) => name.endsWith('.running'))).toEqual([]);
  });

  it('starts one of its own where the other died, and says what to do where only a sandbox runs', async () => {
    const cwd = mkdtempSync(join(folder, 'beside-'));
    const killed = start(['serve'], { cwd, env });
    await firstLine(killed.child);
    killed.child.kill('SIGKILL');
    await killed.ended;
    const alone = await run(['query', '-'], { cwd, env, ...LIMITS });
    expect(alone).toMatchObject({ code: 0, err: expect.stringContaining('Asking the embedded SANDBOX') });

    const sandbox = start(['sandbox'], { cwd, env: { SANDBOX_SIZE: 'small', SANDBOX_PORT: '0' } });
    await firstLine(sandbox.child);
    const refused = await run(['query', '-'], { cwd, env, ...LIMITS });
    expect(refused).toMatchObject({ code: 2, out: '' });
    expect(refused.err).toContain('another running sandbox uses the folder');
    expect(refused.err).toContain('ask that one: --url');
    sandbox.child.kill('SIGTERM');
    await sandbox.ended;
  });
});

describe('serve and sandbox', () => {
  it('start what they are called, and stop cleanly when told to', async () => {
    const quiet = { PORT: '0', LOG_LEVEL: 'error', STORE_URL: 'memory:', UPSTREAM_URL: world.sandboxUrl };
    const small = { SANDBOX_PORT: '0', SANDBOX_DATA: 'memory', SANDBOX_SIZE: 'small' };
    const started = [
      start(['serve'], { cwd: folder, env: quiet }),
      start(['sandbox'], { cwd: folder, env: small }),
    ];
    const firsts = started.map(({ child, ended }) =>
      Promise.race([
        new Promise<string>((resolve) =>
          child.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString())),
        ),
        ended.then(({ err }) => err),
      ]),
    );
    for (const [i, { child, ended }] of started.entries()) {
      const first = await firsts[i];
      expect(first).toMatch(/http:\/\/127\.0\.0\.1:\d+/);
      child.kill('SIGTERM');
      expect(await ended).toMatchObject({ code: 0 });
    }
  });
});
