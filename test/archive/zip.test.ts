import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { strToU8, Zip, ZipDeflate, ZipPassThrough, zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { ArchiveError } from '../../src/upstream/archive/archive-limits.ts';
import { readZip, type ZipOptions } from '../../src/upstream/archive/zip.ts';
import type { ZipEntry } from '../../src/upstream/archive/zip-entry.ts';
import { runs } from '../property-runs.ts';

async function* arriving(bytes: Uint8Array, piece = 4096): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
}

type Files = Record<string, Uint8Array>;

/** Bytes as text, a character each: compared many times faster than byte by byte. */
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const textsOf = (files: Files): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, textOf(bytes)]));

/** Every entry that could be read as text, and the errors, in order. */
async function unpack(bytes: Uint8Array, options: ZipOptions & { piece?: number } = {}) {
  const files: Record<string, string> = {};
  const errors: ArchiveError[] = [];
  const note = (error: unknown) => {
    if (!(error instanceof ArchiveError)) throw error;
    errors.push(error);
  };
  try {
    const read = (entry: ZipEntry) =>
      entry.bytes().then((data) => {
        files[entry.name] = textOf(data);
      }, note);
    await readZip(arriving(bytes, options.piece), read, { ...options, onProblem: note });
  } catch (error) {
    note(error);
  }
  return { files, errors };
}

const codes = async (bytes: Uint8Array, options?: ZipOptions) =>
  (await unpack(bytes, options)).errors.map(({ code }) => code);

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

test('whatever fflate writes is read back, in pieces of any size', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(path, content, { maxKeys: 8 }),
      fc.constantFrom(0, 6, 9),
      fc.boolean(),
      fc.integer({ min: 1, max: 5000 }),
      async (entries, level, sizesBehind, piece) => {
        const files = { ...entries };
        const bytes = sizesBehind
          ? streamed(files)
          : zipSync(files, { level: level === 0 ? 0 : level === 6 ? 6 : 9 });
        expect(await unpack(bytes, { piece })).toEqual({ files: textsOf(files), errors: [] });
      },
    ),
    { numRuns: runs(25) },
  );
});

test.each([
  ['sizes before the data', zipSync(sample)],
  ['sizes behind the data', streamed(sample)],
])('a changed byte is noticed or does no harm: %s', async (_, bytes) => {
  for (let at = 0; at < bytes.length; at++) {
    const bad = Uint8Array.from(bytes);
    bad[at] = (bad[at] ?? 0) ^ (1 << (at % 8));
    const { files, errors } = await unpack(bad);
    if (errors.length === 0) expect(files, `byte ${at}`).toEqual(textsOf(sample));
  }
});

test.each([
  ['sizes before the data', zipSync(sample)],
  ['sizes behind the data', streamed(sample)],
])('cut off anywhere, the loss is told and what was whole is right: %s', async (_, bytes) => {
  for (let length = 0; length < bytes.length; length++) {
    const { files, errors } = await unpack(bytes.subarray(0, length));
    expect(errors.length, `length ${length}`).toBeGreaterThan(0);
    for (const [name, data] of Object.entries(files)) expect(data).toBe(textsOf(sample)[name]);
  }
});

test('an entry that is not read is passed over, one that is half read too', async () => {
  for (const bytes of [zipSync(sample, { level: 0 }), zipSync(sample), streamed(sample)]) {
    const names: string[] = [];
    await readZip(arriving(bytes, 16), async (entry) => {
      names.push(entry.name);
      if (entry.name === 'b/c.bin') for await (const _ of entry.stream()) break;
      if (entry.name.startsWith('ü'))
        expect(Buffer.from(await entry.bytes()).toString()).toBe('PK\x07\x08PK\x03\x04 is only text');
    });
    expect(names).toEqual(Object.keys(sample));
  }
});

test('a damaged entry is lost alone when the next can be found', async () => {
  const bytes = zipSync(sample, { level: 0 });
  bytes[Buffer.from(bytes).indexOf('hello')] = 0;
  const { files, errors } = await unpack(bytes);
  expect(errors).toMatchObject([{ code: 'checksum', entry: 'a.txt' }]);
  expect(Object.keys(files)).toEqual(Object.keys(sample).slice(1));
});

test.each([
  ['../up'],
  ['a/../../up'],
  ['/etc/passwd'],
  ['C:/windows'],
  ['a\\b'],
  ['nul\0byte'],
  ['./here'],
  ['line\nbreak'],
])('the name %j is refused and the rest is read', async (name) => {
  const { files, errors } = await unpack(zipSync({ [name]: strToU8('x'), good: strToU8('y') }));
  expect(errors.map(({ code }) => code)).toEqual(['name']);
  expect(files).toEqual({ good: 'y' });
});

test('a name that comes twice is refused the second time', async () => {
  const bytes = Buffer.from(zipSync({ same1: strToU8('first'), same2: strToU8('other') }));
  const twice = Buffer.from(bytes.toString('latin1').replaceAll('same2', 'same1'), 'latin1');
  const { files, errors } = await unpack(twice);
  expect(files).toEqual({ same1: 'first' });
  expect(errors[0]).toMatchObject({ code: 'name', entry: 'same1' });
});

test('bombs and archives past a limit are stopped', async () => {
  const zeros = { zeros: new Uint8Array(40_000_000) };
  for (const bomb of [zipSync(zeros, { level: 9 }), streamed(zeros)]) {
    expect(bomb.length).toBeLessThan(100_000);
    expect(await codes(bomb)).toContain('limit');
    expect(await codes(bomb, { ratio: 5000 })).toEqual([]);
    expect(await codes(bomb, { ratio: 5000, entryBytes: 1e6 })).toContain('limit');
    expect(await codes(bomb, { ratio: 5000, totalBytes: 1e6 })).toContain('limit');
    expect(await codes(bomb, { ratio: 5000, keptBytes: 1e6 })).toContain('limit');
  }
  const many = zipSync(Object.fromEntries(Array.from({ length: 20 }, (_, k) => [`f${k}`, new Uint8Array()])));
  expect(await codes(many, { entries: 19 })).toEqual(['limit']);
  expect(await codes(many, { entries: 20 })).toEqual([]);
  const small = zipSync(
    Object.fromEntries(Array.from({ length: 9 }, (_, k) => [`f${k}`, new Uint8Array(1e5)])),
  );
  expect(await codes(small, { totalBytes: 8e5 })).toEqual(['limit']);
  expect(await codes(small, { totalBytes: 9e5 })).toEqual([]);
  expect(await codes(zipSync({ ['n'.repeat(600)]: new Uint8Array(1) }))).toEqual(['limit']);
});

test.each([
  ['names one entry twice and leaves another out', 0, 47],
  ['has an entry at the place of another', 42, 4],
])('a list of contents that %s is refused', async (_, at, length) => {
  const bytes = Buffer.from(zipSync({ a: strToU8('x'), b: strToU8('x') }));
  const first = bytes.indexOf('PK\x01\x02') + at;
  bytes.copy(bytes, first + 47, first, first + length);
  expect(await codes(bytes)).toEqual(['directory']);
});

test('a header that lies about the size does not get more than it says', async () => {
  const bytes = zipSync({ a: new Uint8Array(5000) }, { level: 6 });
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(22, 10, true);
  expect((await unpack(bytes)).errors[0]?.code).toBe('size');
});

test('what is no zip, encrypted or compressed in another way is named so', async () => {
  expect(await codes(strToU8('<html>not found</html>'))).toEqual(['corrupt']);
  expect(await codes(new Uint8Array())).toEqual(['truncated']);
  expect(await codes(zipSync({}))).toEqual([]);
  const locked = zipSync({ a: strToU8('x') });
  locked[6] = (locked[6] ?? 0) | 1;
  expect((await unpack(locked)).errors[0]?.code).toBe('unsupported');
  expect(await codes(Buffer.concat([zipSync({ a: strToU8('x') }), strToU8('tail')]))).toEqual(['corrupt']);
});

test('a source that fails throws its own error, and one that is left early is closed', async () => {
  const bytes = zipSync(sample);
  async function* broken() {
    yield bytes.subarray(0, 60);
    throw new Error('connection reset');
  }
  const reading = readZip(broken(), async (entry) => void (await entry.bytes()));
  await expect(reading).rejects.toThrow('connection reset');
  let closed = false;
  async function* watched() {
    try {
      yield* arriving(bytes, 10);
    } finally {
      closed = true;
    }
  }
  const left = readZip(watched(), () => {
    throw new Error('enough');
  });
  await expect(left).rejects.toThrow('enough');
  expect(closed).toBe(true);
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
    const whole = { 'data.bin': textOf(data), empty: '', zip64: textOf(data) };
    expect(await unpack(bytes)).toEqual({ files: whole, errors: [] });
    expect(await unpack(bytes, { piece: 7 })).toEqual({ files: whole, errors: [] });
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
