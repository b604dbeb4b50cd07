// The steps of a newcomer: build, start, read the start line, ask, stop. The built server as its
// own process, over the embedded sandbox.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endWithFile } from '../../child-processes.ts';
import { ROOT } from '../../root.ts';
import { at } from '../../support.ts';

const folder = mkdtempSync(join(tmpdir(), 'foldatlas-'));

interface Started {
  readonly child: ChildProcess;
  readonly line: string;
  readonly url: string;
}

/**
 * Starts the built server and resolves with its start line. @throws when it ends before it listens
 */
function start(env: Record<string, string>, cwd = ROOT): Promise<Started> {
  const child = endWithFile(
    spawn(process.execPath, [join(ROOT, 'dist/server.js')], {
      cwd,
      env: {
        PATH: process.env.PATH ?? '',
        PORT: '0',
        SANDBOX_SIZE: 'small',
        SANDBOX_DATA: join(folder, 'sandbox'),
        STORE_URL: `sqlite:${join(folder, 'gateway.db')}`,
        ...env,
      },
    }),
  );
  let out = '';
  let err = '';
  child.stderr.on('data', (chunk) => {
    err += String(chunk);
  });
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      out += String(chunk);
      const url = /http:\/\/127\.0\.0\.1:\d+\/graphql/.exec(out)?.[0];
      if (url !== undefined && out.endsWith('\n')) resolve({ child, line: out.trim(), url });
    });
    child.once('exit', (code) => reject(Object.assign(new Error(err), { code })));
  });
}

const stop = (child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> => {
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.kill(signal);
  return ended;
};

const ask = async (url: string, query: string, headers: Record<string, string> = {}) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query }),
  });
  return { response, answer: (await response.json()) as unknown };
};

let server: Started;
beforeAll(async () => {
  server = await start({});
});
afterAll(() => {
  if (server.child.exitCode === null) server.child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

describe('the built server', () => {
  it('says upstream, store and address in one line, and that the sandbox predicts nothing', () => {
    expect(server.line.split('\n')).toHaveLength(1);
    expect(server.line).toMatch(
      /SANDBOX upstream http:\/\/127\.0\.0\.1:\d+ .*not predictions.* store sqlite:.* GraphiQL http:\/\/127\.0\.0\.1:\d+\/graphql$/,
    );
  });

  it('answers the first query and names the sandbox in a header', async () => {
    const { response, answer } = await ask(
      server.url,
      '{ uniprotEntry(id: "P01308") { name protein { hash cluster { size } } } }',
    );
    expect(response.status).toBe(200);
    expect(response.headers.get('x-sandbox')).toBe('1');
    expect(at(answer, 'errors')).toBeUndefined();
    expect(at(answer, 'data.uniprotEntry.name')).toBe('Insulin');
    expect(at(answer, 'data.uniprotEntry.protein.hash')).toBe('12e9c9e4e2835c302e8ba615115edda3');
  });

  it('writes no file where both stores are in memory', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'foldatlas-empty-'));
    const other = await start({ STORE_URL: 'memory:', SANDBOX_DATA: 'memory' }, empty);
    try {
      const { answer } = await ask(other.url, '{ uniprotEntry(id: "P01308") { name } }');
      expect(at(answer, 'data.uniprotEntry.name')).toBe('Insulin');
    } finally {
      await stop(other.child, 'SIGTERM');
    }
    expect(readdirSync(empty)).toEqual([]);
    rmSync(empty, { recursive: true });
  });

  it('comes with a bin that needs nothing but the package', () => {
    const bin = readFileSync(new URL('../../../dist/cli/main.js', import.meta.url), 'utf8');
    expect(bin).toMatch(/^#!\/usr\/bin\/env node\n/);
    const help = execFileSync(process.execPath, ['dist/cli/main.js', 'doctor', '--help'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect(help).toContain('foldatlas doctor --json | jq .status');
  });

  it('stops cleanly when told to', async () => {
    expect(await stop(server.child, 'SIGTERM')).toBe(0);
    await expect(fetch(server.url)).rejects.toThrow();
  });

  it('says where its store is without the password, whatever letters that has', async () => {
    const { child, line } = await start({
      STORE_URL: 'redis://:pass@word@127.0.0.1:9/0',
      LEDGER_URL: 'memory:',
      UPSTREAM_URL: 'http://127.0.0.1:9',
    });
    expect(await stop(child, 'SIGTERM')).toBe(0);
    expect(line).toContain(' · store redis://127.0.0.1:9/0 · ');
  });

  it('names everything that is wrong with its configuration and ends with 78', async () => {
    const failure: unknown = await start({ PORT: 'many', MAX_QUERY_COST: '0' }).catch(
      (error: unknown) => error,
    );
    expect(at(failure, 'code')).toBe(78);
    expect(String(failure)).toMatch(/PORT[\s\S]*MAX_QUERY_COST/);
  });

  it('refuses to fall back to the sandbox when an upstream is required', async () => {
    const failure: unknown = await start({ REQUIRE_UPSTREAM: '1' }).catch((error: unknown) => error);
    expect(at(failure, 'code')).toBe(78);
  });
});
