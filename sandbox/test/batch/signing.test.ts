import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ManualClock } from '../../src/clock.ts';
import { openDatabase } from '../../src/database.ts';
import { createSigner } from '../../src/signing.ts';

const clock = new ManualClock();
const signer = createSigner({ secret: 's', baseUrl: () => 'http://127.0.0.1:1234', clock });

test('a signed URL is absolute, holds until its second, and not after', () => {
  const url = signer.sign('/downloads/results/x.json', 60);
  expect(url).toMatch(
    /^http:\/\/127\.0\.0\.1:1234\/downloads\/results\/x\.json\?expires=\d+&signature=[0-9a-f]{64}$/,
  );
  expect(signer.check(url)).toBe('ok');
  expect(signer.check(url.slice('http://127.0.0.1:1234'.length))).toBe('ok');
  clock.advance(59_999);
  expect(signer.check(url)).toBe('ok');
  clock.advance(1);
  expect(signer.check(url)).toBe('expired');
});

test('refuses every URL of which one character was changed', () => {
  const url = signer.sign('/downloads/a', 60);
  const start = 'http://127.0.0.1:1234/'.length;
  fc.assert(
    fc.property(
      fc.integer({ min: start, max: url.length - 1 }),
      fc.constantFrom(...'0123456789abcdxyz'),
      (at, letter) => {
        const changed = `${url.slice(0, at)}${letter}${url.slice(at + 1)}`;
        expect(signer.check(changed)).toBe(changed === url ? 'ok' : 'invalid');
      },
    ),
  );
  const other = createSigner({ secret: 'another', baseUrl: () => 'http://127.0.0.1:1234', clock });
  expect(other.check(url)).toBe('invalid');
  expect(signer.check('/downloads/a')).toBe('invalid');
});

test('a database file is made with its folder, in write-ahead mode, and keeps what was written', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  const file = join(folder, 'deeper', 'state.db');
  const first = openDatabase(file);
  first.exec('CREATE TABLE t (x INTEGER); INSERT INTO t VALUES (7)');
  expect(first.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
  first.close();
  const second = openDatabase(file);
  expect(second.prepare('SELECT x FROM t').get()).toEqual({ x: 7 });
  second.close();
  rmSync(folder, { recursive: true });
});
