// The parts of the bench that compute: a mistake in them would make every number of
// docs/performance.md a wrong one.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openConnection, requestBytes } from '../../../bench/src/load/connection.ts';
import { document } from '../../../bench/src/report/document.ts';
import { isMet, joinReports, type Report, type ScenarioResult } from '../../../bench/src/report/result.ts';
import { median, percentile, ratioInterval, rotated } from '../../../bench/src/report/statistics.ts';
import { markdownTable, shown, terminalTable } from '../../../bench/src/report/table.ts';
import { makeEntry, packPiece, plainPiece, renamed, writeZip } from '../../../bench/src/stub/zip-writer.ts';
import {
  clusterFacts,
  findNumber,
  listHashes,
  spellSequence,
  toHash,
  toRepresentative,
} from '../../../bench/src/world/facts.ts';
import { openNumbers } from '../../../bench/src/world/numbers.ts';

const numbers = fc.array(fc.double({ noNaN: true, min: -1e9, max: 1e9 }), { minLength: 1, maxLength: 60 });

describe('statistics', () => {
  it('give the nearest rank, whatever the order', () => {
    expect(percentile([30, 10, 20, 40], 0.5)).toBe(20);
    expect(
      percentile(
        Array.from({ length: 200 }, (_, n) => 200 - n),
        0.99,
      ),
    ).toBe(198);
    expect(percentile([], 0.5)).toBeNaN();
    fc.assert(
      fc.property(numbers, fc.double({ min: 0, max: 1, noNaN: true }), (list, share) => {
        const value = percentile(list, share);
        expect(list).toContain(value);
        expect(list.filter((n) => n <= value).length).toBeGreaterThanOrEqual(share * list.length - 1e-9);
      }),
    );
  });

  it('give the middle, of an even number the mean of both', () => {
    expect(median([5, 1, 3])).toBe(3);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([])).toBeNaN();
  });

  it('give the interval of Student for the mean of logarithms', () => {
    // Logarithms 1 and 3: mean 2, half of it 63.657 with one degree of freedom.
    const two = ratioInterval([Math.E, Math.E ** 3]);
    expect(Math.log(two.middle)).toBeCloseTo(2, 10);
    expect(Math.log(two.high) - Math.log(two.middle)).toBeCloseTo(63.657, 3);
    expect(Math.log(two.middle) - Math.log(two.low)).toBeCloseTo(63.657, 3);
    const same = ratioInterval([1.5, 1.5, 1.5]);
    expect(same.low).toBeCloseTo(1.5, 10);
    expect(same.high).toBeCloseTo(1.5, 10);
    expect(ratioInterval([2]).low).toBeNaN();
  });

  it('let everybody be first once', () => {
    const rounds = [0, 1, 2, 3].map((round) => rotated(['a', 'b', 'c'], round).join(''));
    expect(rounds).toEqual(['abc', 'bca', 'cab', 'abc']);
  });
});

describe('a connection of the load generator', () => {
  it('counts, keeps and looks through a body, however it is cut', async () => {
    let pieces: readonly Buffer[] = [];
    let isLong = false;
    const server = createServer(async (_, response) => {
      if (isLong) response.setHeader('content-length', Buffer.concat(pieces).length);
      for (const piece of pieces) {
        response.write(piece);
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const connection = await openConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    let hits = 0;
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 700 });
    const looked = fc.constantFrom('abc', 'aabb', 'c', 'abcabcabc');
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat(700)), looked, fc.boolean(), async (whole, cuts, look, long) => {
        const places = [0, ...cuts.filter((cut) => cut < whole.length), whole.length].sort((a, b) => a - b);
        pieces = places.slice(1).map((to, i) => Buffer.from(whole.slice(places[i], to)));
        isLong = long;
        const taken = await connection.ask(requestBytes('GET', '/'), { keep: true, look });
        expect(taken.body.toString()).toBe(whole);
        expect(taken.bytes).toBe(whole.length);
        expect(taken.found !== null).toBe(whole.includes(look));
        if (taken.found !== null) expect(taken.found.toString().startsWith(look)).toBe(true);
        if (taken.found !== null) hits += 1;
        const none = await connection.ask(requestBytes('GET', '/'));
        expect([none.bytes, none.body.length, none.found]).toEqual([whole.length, 0, null]);
        expect(none.firstMs).toBeLessThanOrEqual(none.totalMs);
      }),
      { numRuns: 150 },
    );
    expect(hits).toBeGreaterThan(10);
    connection.close();
    await new Promise((resolve) => server.close(resolve));
  });
});

const table = {
  title: 'A table',
  note: 'What it shows.',
  columns: [
    { key: 'n1', title: 'one', digits: 1 },
    { key: 'n100', title: 'hundred', digits: 0 },
  ],
  rows: [
    { who: 'us', values: { n1: 0.25, n100: 1234.4 } },
    { who: 'somebody else', values: { n1: null, n100: 7 } },
  ],
};
const result: ScenarioResult = {
  name: 'growth',
  tables: [table],
  targets: [
    { text: 'Fast', measured: 0.8, unit: '×', bound: { least: 0.75 } },
    { text: 'Small', measured: 200, unit: 'MB', bound: { most: 160 } },
  ],
};
const machine: Report['machine'] = {
  date: '2026-01-01',
  cpu: 'a processor',
  cores: 2,
  memoryGB: 8,
  system: 'Linux',
  node: '20.0.0',
  foldatlas: '0',
  packages: { peer: '1.0.0' },
  pinned: true,
};

describe('a report', () => {
  it('shows no digits that mean nothing, and says what was not measured', () => {
    expect([shown(1234.56, 0), shown(0.5, 2), shown(null, 1), shown(Number.NaN, 1)]).toEqual([
      '1,235',
      '0.50',
      '–',
      '–',
    ]);
    expect(terminalTable(table).split('\n').slice(2)).toEqual([
      '               one  hundred',
      'us             0.3    1,234',
      'somebody else    –        7',
    ]);
    expect(markdownTable(table)).toContain('| us | 0.3 | 1,234 |');
  });

  it('counts what is met and hides nothing that is missed', () => {
    expect(result.targets.map(isMet)).toEqual([true, false]);
    const text = document({ machine, quick: false, results: [result] });
    expect(text).toContain('1 of 2 are met.');
    expect(text).toContain('| Small | at most 160 MB | 200 MB | **missed** |');
  });

  it('is no page when it is from a quick run', () => {
    expect(() => document({ machine, quick: true, results: [result] })).toThrow(RangeError);
  });

  it('takes of several runs the last measurement of a scenario', () => {
    const again = { ...result, targets: [] };
    const other = { ...result, name: 'other' };
    const joined = joinReports([
      { machine, quick: true, results: [result, other] },
      { machine, quick: false, results: [again] },
    ]);
    expect(joined).toEqual({ machine, quick: true, results: [again, other] });
    expect(() => joinReports([])).toThrow(RangeError);
  });
});

describe("the stand-in's proteins", () => {
  it('have the MD5 of their sequence as hash, as the gateway checks, and no two have the same', () => {
    const hashes = listHashes(0, 20_000);
    const md5 = (text: string) => createHash('md5').update(text).digest('hex');
    expect(hashes.every((hash, n) => hash === md5(spellSequence(n)))).toBe(true);
    expect(new Set(hashes).size).toBe(hashes.length);
    const representative = toRepresentative(hashes[0] ?? '');
    expect(clusterFacts(representative).protein_hash).toBe(representative);
  });

  it('are found by their hash, in whatever order they are asked for, and nothing else is', () => {
    for (const n of [7, 0, 60_000, 70_000, 69_999, 3, 150_000]) expect(findNumber(toHash(n))).toBe(n);
    expect(findNumber('0'.repeat(32))).toBeUndefined();
    expect(findNumber(toHash(150_001))).toBe(150_001);
    // All in the same place of the table.
    const crowded = openNumbers((n) => `00000001${String(n).padStart(24, '0')}`);
    expect([5, 2, 9].map((n) => crowded(`00000001${String(n).padStart(24, '0')}`))).toEqual([5, 2, 9]);
  });
});

describe("the stand-in's archives", () => {
  const structure = makeEntry('', [packPiece('ATOM line\n'.repeat(3000))]);
  const features = packPiece(
    JSON.stringify({ top_features: [{ feature_index: 1, value: 2.5, label: 'β – strand' }] }),
  );
  const hashes = ['0'.repeat(32), 'f'.repeat(32)];
  const zip = writeZip([
    ...hashes.map((hash) => renamed(structure, `structures/${hash}.pdb`)),
    makeEntry('features.json', [
      ...hashes.flatMap((hash, n) => [plainPiece(`${n === 0 ? '{' : ','}"${hash}":`), features]),
      plainPiece('}'),
    ]),
    makeEntry('empty', []),
  ]);
  const expected = {
    [`structures/${hashes[0]}.pdb`]: 'ATOM line\n'.repeat(3000),
    [`structures/${hashes[1]}.pdb`]: 'ATOM line\n'.repeat(3000),
    'features.json': `{"${hashes[0]}":${features.raw},"${hashes[1]}":${features.raw}}`,
    empty: '',
  };

  it('tell their length before their bytes, which come in pieces, a small one first', () => {
    const many = writeZip(
      Array.from({ length: 300 }, (_, n) => {
        const name = `structures/${n.toString(16).padStart(32, '0')}.pdb`;
        return makeEntry(name, [plainPiece('ATOM line\n'.repeat(300))]);
      }),
    );
    const lengths = [...many.pieces()].map(({ length }) => length);
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(many.byteLength);
    expect(lengths.length).toBeGreaterThan(3);
    expect(lengths[0]).toBeLessThan(32 * 1024);
    expect(zip.byteLength).toBe(Buffer.concat([...zip.pieces()]).length);
  });

  it('are read back by another reader', (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'bench-zip-'));
    writeFileSync(join(folder, 'bench.zip'), Buffer.concat([...zip.pieces()]));
    const code =
      'import json, sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print(json.dumps({n: z.read(n).decode() for n in z.namelist()}))';
    const { error, status, stdout } = spawnSync('python3', ['-c', code, join(folder, 'bench.zip')], {
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });
    if (error !== undefined && process.env.CI === undefined) return context.skip();
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual(expected);
  });

  it('take no plain piece that a stored block cannot hold', () => {
    expect(() => plainPiece('x'.repeat(65_536))).toThrow(RangeError);
  });
});
