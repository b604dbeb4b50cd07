// Archives of other programs, damaged ones, and ones above their limits.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { strToU8, Zip, ZipDeflate, ZipPassThrough, zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import {
  ArchiveError,
  type ArchiveLimits,
  archiveLimits,
} from '../../src/upstream/archive/archive-limits.ts';
import { readZip, unpackMember } from '../../src/upstream/archive/zip.ts';
import { runs } from '../property-runs.ts';

type Files = Record<string, Uint8Array>;

const LIMITS = archiveLimits({ proteins: 500, perResidue: true });

/** Bytes as text, a character each: compared many times faster than byte by byte. */
const toText = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const toTexts = (files: Files): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, toText(bytes)]));

/** Every member that could be read as text, and the errors, in order. */
async function unpack(bytes: Uint8Array, limits: Partial<ArchiveLimits> = {}) {
  const files: Record<string, string> = {};
  const errors: ArchiveError[] = [];
  const note = (error: unknown) => {
    if (!(error instanceof ArchiveError)) throw error;
    errors.push(error);
  };
  try {
    for await (const member of readZip(Buffer.from(bytes), { ...LIMITS, ...limits }))
      try {
        files[member.name] = toText(unpackMember(member));
      } catch (error) {
        note(error);
      }
  } catch (error) {
    note(error);
  }
  return { files, errors };
}

const messages = async (bytes: Uint8Array, limits?: Partial<ArchiveLimits>) =>
  (await unpack(bytes, limits)).errors.map(({ message }) => message);

/** Written as it goes, with the sizes behind the data. */
function streamed(files: Files): Uint8Array {
  const pieces: Uint8Array[] = [];
  const zip = new Zip((error, piece) => {
    if (error) throw error;
    pieces.push(piece);
  });
  for (const [name, data] of Object.entries(files)) {
    const entry = data.length % 2 === 0 ? new ZipDeflate(name) : new ZipPassThrough(name);
    zip.add(entry);
    entry.push(data, true);
  }
  zip.end();
  return Buffer.concat(pieces);
}

const sample: Files = {
  'a.txt': strToU8('hello hello hello hello'),
  'b/empty': new Uint8Array(),
  'b/c.bin': Uint8Array.from({ length: 700 }, (_, k) => (k * k) % 251),
  'ünïcode/é.txt': strToU8('PK\x07\x08PK\x03\x04 is only text'),
};

const path = fc
  .stringMatching(/^[a-zA-Z0-9_é-]{1,12}(\/[a-z0-9]{1,6}){0,2}$/)
  // fflate, which writes them here, cannot take that name out of an object.
  .filter((name) => name !== '__proto__');
const content = fc.oneof(
  fc.uint8Array({ maxLength: 3000 }),
  fc.string({ maxLength: 50 }).map((text) => strToU8(text.repeat(200))),
);

test('reads back whatever fflate writes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(path, content, { maxKeys: 8 }),
      fc.constantFrom(0, 6, 9),
      fc.boolean(),
      async (entries, level, sizesBehind) => {
        const files = { ...entries };
        const bytes = sizesBehind
          ? streamed(files)
          : zipSync(files, { level: level === 0 ? 0 : level === 6 ? 6 : 9 });
        expect(await unpack(bytes)).toEqual({ files: toTexts(files), errors: [] });
      },
    ),
    { numRuns: runs(25) },
  );
});

test.each([
  ['sizes before the data', zipSync(sample)],
  ['sizes behind the data', streamed(sample)],
])('a changed byte changes no content unnoticed: %s', async (_, bytes) => {
  const whole = new Set(Object.values(toTexts(sample)));
  for (let at = 0; at < bytes.length; at++) {
    const bad = Uint8Array.from(bytes);
    bad[at] = (bad[at] ?? 0) ^ (1 << (at % 8));
    const { files } = await unpack(bad);
    for (const data of Object.values(files)) expect(whole, `byte ${at}`).toContain(data);
  }
});

test('cut off anywhere, an archive is truncated', async () => {
  const bytes = zipSync(sample);
  for (let length = 0; length < bytes.length; length += 7) {
    const { files, errors } = await unpack(bytes.subarray(0, length));
    expect(files).toEqual({});
    expect(errors, `length ${length}`).toMatchObject([{ isTruncated: length !== 1 }]);
  }
});

test('a damaged member is lost alone and named', async () => {
  const bytes = zipSync(sample, { level: 0 });
  bytes[Buffer.from(bytes).indexOf('hello')] = 0;
  const { files, errors } = await unpack(bytes);
  expect(errors).toMatchObject([{ message: 'A member is damaged: a.txt.', isTruncated: false }]);
  expect(Object.keys(files)).toEqual(Object.keys(sample).slice(1));
});

test.each([
  ['../up'],
  ['a/../../up'],
  ['/etc/passwd'],
  ['C:/windows'],
])('the name %j is refused', async (name) => {
  const { files, errors } = await unpack(zipSync({ [name]: strToU8('x'), good: strToU8('y') }));
  expect(errors).toHaveLength(1);
  expect(files).toEqual({});
});

test('bombs and archives above a limit are refused before they are unpacked', async () => {
  const bomb = zipSync({ zeros: new Uint8Array(40_000_000) }, { level: 9 });
  expect(bomb.length).toBeLessThan(100_000);
  expect(await messages(bomb, { unpackedBytes: 39_999_999 })).toEqual([
    'The archive holds more than 39999999 bytes.',
  ]);
  expect(await messages(bomb, { unpackedBytes: 40_000_000 })).toEqual([]);
  const many = zipSync(
    Object.fromEntries(Array.from({ length: 20 }, (_, k) => [`f${k}`, new Uint8Array(10)])),
  );
  expect(await messages(many, { members: 19 })).toEqual(['The archive has more than 19 members.']);
  expect(await messages(many, { members: 20, unpackedBytes: 200 })).toEqual([]);
  expect(await messages(many, { unpackedBytes: 199 })).toHaveLength(1);
});

test.each([
  ['fewer bytes', 10],
  ['more bytes', 6000],
])('a member that says it has %s than it has is damaged', async (_, size) => {
  const bytes = Buffer.from(zipSync({ a: new Uint8Array(5000) }, { level: 6 }));
  bytes.writeUInt32LE(size, bytes.indexOf('PK\x01\x02') + 24);
  expect(await messages(bytes)).toEqual(['A member is damaged: a.']);
});

test('refuses what is no zip, encrypted or followed by something', async () => {
  expect((await unpack(strToU8('<html>not found</html>'))).errors).toMatchObject([{ isTruncated: false }]);
  expect((await unpack(new Uint8Array())).errors).toMatchObject([{ isTruncated: true }]);
  expect(await messages(zipSync({}))).toEqual([]);
  const locked = Buffer.from(zipSync({ a: strToU8('x') }));
  locked.writeUInt16LE(1, locked.indexOf('PK\x01\x02') + 8);
  expect((await messages(locked))[0]).toMatch(/encrypted/);
  expect(await messages(Buffer.concat([zipSync({ a: strToU8('x') }), strToU8('tail')]))).toHaveLength(1);
});

const has = (tool: string): boolean => {
  try {
    execFileSync(tool, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

describe.skipIf(!has('python3'))('archives written by Python', () => {
  const script = `
import io, sys, zipfile
class Pipe:
    def __init__(self): self.all = io.BytesIO()
    def write(self, data): return self.all.write(data)
    def flush(self): pass
data = bytes(range(256)) * 40 + b'PK\\x07\\x08' * 10 + b'hello' * 5000
streamed, method, zipfile.ZIP64_LIMIT = map(int, sys.argv[1:])
out = Pipe() if streamed else io.BytesIO()
with zipfile.ZipFile(out, 'w', method) as z:
    z.writestr('data.bin', data)
    z.writestr('empty', b'')
    z.writestr('folder/', b'')
    with z.open('zip64', 'w', force_zip64=True) as f: f.write(data)
    z.comment = b'a comment'
sys.stdout.buffer.write((out.all if streamed else out).getvalue())
`;
  test.each([
    [0, 0, 2 ** 31],
    [0, 8, 2 ** 31],
    [1, 0, 2 ** 31],
    [1, 8, 2 ** 31],
    [0, 8, 10],
    [1, 8, 10],
  ])('streamed %i, method %i, 64-bit numbers above %i', async (...options) => {
    const bytes = execFileSync('python3', ['-c', script, ...options.map(String)]);
    const data = Buffer.concat([
      Buffer.alloc(
        256 * 40,
        Uint8Array.from({ length: 256 }, (_, k) => k),
      ),
      Buffer.from('PK\x07\x08'.repeat(10) + 'hello'.repeat(5000)),
    ]);
    const whole = { 'data.bin': toText(data), empty: '', zip64: toText(data) };
    expect(await unpack(bytes)).toEqual({ files: whole, errors: [] });
  });
});

test.skipIf(!has('zip'))('archives written by the zip command, to a file and to a pipe', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'foldatlas-zip-'));
  try {
    const text = Array.from({ length: 20_000 }, (_, k) => k).join('\n');
    writeFileSync(join(folder, 'a'), text);
    writeFileSync(join(folder, 'b'), 'tiny');
    execFileSync('zip', ['-q', 'file.zip', 'a', 'b'], { cwd: folder });
    const piped = execFileSync('sh', ['-c', 'zip -q - a b | cat'], { cwd: folder });
    for (const bytes of [readFileSync(join(folder, 'file.zip')), piped]) {
      expect(await unpack(bytes)).toEqual({ files: { a: text, b: 'tiny' }, errors: [] });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
