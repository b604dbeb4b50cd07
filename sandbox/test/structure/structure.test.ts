// Protein models of the sandbox measured with a ruler: bonds, angles, handedness, crowding, PDB
// columns; and the pictures of them, decoded.
import { inflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bulkPdb, proteinPdb } from '../../src/structure/pdb.ts';
import { buildProtein, type ProteinModel } from '../../src/structure/protein.ts';
import { renderThumbnail } from '../../src/thumbnail/thumbnail.ts';

const sequences = fc
  .array(fc.constantFrom(...'ACDEFGHIKLMNPQRSTVWY'), { minLength: 5, maxLength: 120 })
  .map((list) => list.join(''));

type Point = readonly [number, number, number];
const minus = (a: Point, b: Point): Point => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a: Point, b: Point): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Point, b: Point): Point => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const length = (a: Point): number => Math.sqrt(dot(a, a));
const apart = (a: Point, b: Point): number => length(minus(a, b));
const angle = (a: Point, b: Point, c: Point): number =>
  (Math.acos(dot(minus(a, b), minus(c, b)) / (apart(a, b) * apart(c, b))) * 180) / Math.PI;

function points(model: ProteinModel, residue: number): (name: string) => Point {
  return (name) => {
    const atom = model.residues[residue]?.atoms.find((one) => one.name === name);
    if (atom === undefined) throw new Error(`no ${name} in residue ${residue}`);
    return [atom.x, atom.y, atom.z];
  };
}

/** Heavy atoms of the twenty residues beside the backbone's four, by the component dictionary. */
const SIDE: Readonly<Record<string, string>> = {
  A: 'CB',
  R: 'CB CG CD NE CZ NH1 NH2',
  N: 'CB CG OD1 ND2',
  D: 'CB CG OD1 OD2',
  C: 'CB SG',
  Q: 'CB CG CD OE1 NE2',
  E: 'CB CG CD OE1 OE2',
  G: '',
  H: 'CB CG ND1 CD2 CE1 NE2',
  I: 'CB CG1 CG2 CD1',
  L: 'CB CG CD1 CD2',
  K: 'CB CG CD CE NZ',
  M: 'CB CG SD CE',
  F: 'CB CG CD1 CD2 CE1 CE2 CZ',
  P: 'CB CG CD',
  S: 'CB OG',
  T: 'CB OG1 CG2',
  W: 'CB CG CD1 CD2 NE1 CE2 CE3 CZ2 CZ3 CH2',
  Y: 'CB CG CD1 CD2 CE1 CE2 CZ OH',
  V: 'CB CG1 CG2',
};

describe('a protein model', () => {
  it('has all heavy atoms by their names, at ideal bond lengths and angles, of L residues', () => {
    fc.assert(
      fc.property(sequences, (sequence) => {
        const model = buildProtein(sequence);
        expect(model.residues.map((residue) => residue.letter).join('')).toBe(sequence);
        for (const [i, residue] of model.residues.entries()) {
          const at = points(model, i);
          const side = (SIDE[residue.letter] ?? '').split(' ').filter((name) => name !== '');
          const last = i === model.residues.length - 1;
          const names = residue.atoms.map((atom) => atom.name).filter((name) => !(last && name === 'OXT'));
          expect([...names].sort()).toEqual(['C', 'CA', 'N', 'O', ...side].sort());
          expect(apart(at('N'), at('CA'))).toBeCloseTo(1.46, 1);
          expect(apart(at('CA'), at('C'))).toBeCloseTo(1.52, 1);
          expect(apart(at('C'), at('O'))).toBeCloseTo(1.23, 1);
          expect(Math.abs(angle(at('N'), at('CA'), at('C')) - 111)).toBeLessThan(5);
          if (residue.letter !== 'G') {
            const handed = dot(
              cross(minus(at('N'), at('CA')), minus(at('C'), at('CA'))),
              minus(at('CB'), at('CA')),
            );
            expect(handed).toBeGreaterThan(0);
            expect(apart(at('CA'), at('CB'))).toBeCloseTo(1.53, 1);
          }
          if (!last) {
            const next = points(model, i + 1);
            expect(apart(at('C'), next('N'))).toBeCloseTo(1.33, 1);
            expect(Math.abs(angle(at('CA'), at('C'), next('N')) - 117)).toBeLessThan(5);
          }
        }
      }),
      { numRuns: 25 },
    );
  });

  it('keeps rings flat', () => {
    const model = buildProtein('AFWYHA');
    for (const [i, names] of [
      [1, ['CG', 'CD1', 'CD2', 'CE1', 'CE2', 'CZ']],
      [2, ['CG', 'CD1', 'CD2', 'NE1', 'CE2', 'CZ2', 'CZ3', 'CH2']],
      [3, ['CG', 'CD1', 'CD2', 'CE1', 'CE2', 'CZ', 'OH']],
      [4, ['CG', 'ND1', 'CD2', 'CE1', 'NE2']],
    ] as const) {
      const at = points(model, i);
      const [a, b, c] = [at(names[0]), at(names[1]), at(names[2])];
      const normal = cross(minus(b, a), minus(c, a));
      for (const name of names)
        expect(Math.abs(dot(minus(at(name), a), normal)) / length(normal)).toBeLessThan(0.06);
    }
  });

  it('is the same for the same sequence, with confidence on 0 to 1 and a mean that is the mean', () => {
    fc.assert(
      fc.property(sequences, (sequence) => {
        const model = buildProtein(sequence);
        expect(buildProtein(sequence)).toEqual(model);
        const mean = model.plddt.reduce((sum, x) => sum + x, 0) / sequence.length;
        expect(model.meanPlddt).toBeCloseTo(mean, 2);
        for (const value of [...model.plddt, model.ptm]) {
          expect(value).toBeGreaterThan(0);
          expect(value).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 15 },
    );
  });

  it('writes PDB columns that read back as the same atoms, without TER and END, and says what it is', () => {
    const model = buildProtein('MALWMRLLPLLALLALWGPDPAAAFVNQHLCGSHLVEALYLVCGERGFFYTPKT');
    for (const text of [proteinPdb(model), bulkPdb(model)]) {
      const lines = text.split('\n').filter((line) => line.startsWith('ATOM'));
      const atoms = model.residues.flatMap((residue, i) =>
        residue.atoms.map((atom) => ({ ...atom, residue: residue.name, i })),
      );
      expect(lines).toHaveLength(atoms.length);
      lines.forEach((line, k) => {
        const atom = atoms[k];
        expect(line.slice(12, 16).trim()).toBe(atom?.name);
        expect(line.slice(17, 20)).toBe(atom?.residue);
        expect(line[21]).toBe('A');
        expect(Number(line.slice(22, 26))).toBe((atom?.i ?? 0) + 1);
        expect(Number(line.slice(30, 38))).toBeCloseTo(atom?.x ?? Number.NaN, 3);
        expect(Math.abs(Number(line.slice(60, 66)) - (model.plddt[atom?.i ?? 0] ?? Number.NaN))).toBeLessThan(
          0.0051,
        );
        expect(line.slice(76, 78).trim()).toBe(atom?.element);
      });
      expect(text).not.toMatch(/^(TER|END)/m);
    }
    expect(proteinPdb(model).match(/^REMARK/gm)).toHaveLength(4);
    expect(proteinPdb(model)).toMatch(/STAND-IN/i);
    expect(bulkPdb(model)).toMatch(
      /^REMARK ptm [\d.]+\nREMARK mean_plddt [\d.]+\nREMARK {3}1 .*NO PREDICTION\.\nATOM/,
    );
  });
});

/** Decodes an 8-bit RGB or RGBA PNG without interlace. */
function decode(png: Buffer): { width: number; height: number; pixel(x: number, y: number): number[] } {
  const [width, height, depth, kind] = [png.readUInt32BE(16), png.readUInt32BE(20), png[24], png[25]];
  expect([depth, [2, 6].includes(kind ?? -1)]).toEqual([8, true]);
  const channels = kind === 6 ? 4 : 3;
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; ) {
    const size = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + size));
    at += size + 12;
  }
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const out = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x++) {
      const value = raw[y * (stride + 1) + 1 + x] ?? 0;
      const left = x >= channels ? (out[y * stride + x - channels] ?? 0) : 0;
      const up = y > 0 ? (out[(y - 1) * stride + x] ?? 0) : 0;
      const corner = x >= channels && y > 0 ? (out[(y - 1) * stride + x - channels] ?? 0) : 0;
      const p = left + up - corner;
      const [da, db, dc] = [Math.abs(p - left), Math.abs(p - up), Math.abs(p - corner)];
      const paeth = da <= db && da <= dc ? left : db <= dc ? up : corner;
      const guess = [0, left, up, (left + up) >> 1, paeth][filter] ?? 0;
      out[y * stride + x] = (value + guess) & 255;
    }
  }
  return {
    width,
    height,
    pixel: (x, y) => [...out.subarray(y * stride + x * channels, y * stride + x * channels + 3)],
  };
}

/** Hue in degrees and saturation of a colour. */
function hue([r = 0, g = 0, b = 0]: number[]): { hue: number; saturation: number } {
  const [most, least] = [Math.max(r, g, b), Math.min(r, g, b)];
  const range = most - least;
  const turn =
    range === 0
      ? 0
      : most === r
        ? ((g - b) / range + 6) % 6
        : most === g
          ? (b - r) / range + 2
          : (r - g) / range + 4;
  return { hue: turn * 60, saturation: most === 0 ? 0 : range / most };
}

describe('a thumbnail', () => {
  it('is 512 pixels square, the same every time, and shows the four colours of a model that has all four', () => {
    const model = buildProtein(
      'MALWMRLLPLLALLALWGPDPAAAFVNQHLCGSHLVEALYLVCGERGFFYTPKTRREAEDLQVGQVELGGGPGAGSLQPLALEGSLQ',
    );
    const quarter = model.plddt.length / 4;
    const banded = {
      ...model,
      plddt: model.plddt.map((_, i) => [0.95, 0.8, 0.6, 0.3][Math.floor(i / quarter)] ?? 0.3),
    };
    const png = renderThumbnail(banded, { type: 'plddt' });
    expect(renderThumbnail(banded, { type: 'plddt' }).equals(png)).toBe(true);
    const picture = decode(png);
    expect([picture.width, picture.height]).toEqual([512, 512]);
    const seen = { dark: 0, light: 0, yellow: 0, orange: 0 };
    for (let y = 0; y < 512; y += 2) {
      for (let x = 0; x < 512; x += 2) {
        const colour = hue(picture.pixel(x, y));
        if (colour.saturation < 0.35) continue;
        if (colour.hue > 205 && colour.hue < 235 && colour.saturation > 0.8) seen.dark += 1;
        else if (colour.hue > 185 && colour.hue < 210) seen.light += 1;
        else if (colour.hue > 42 && colour.hue < 62) seen.yellow += 1;
        else if (colour.hue > 10 && colour.hue < 35) seen.orange += 1;
      }
    }
    for (const [name, count] of Object.entries(seen)) expect(count, name).toBeGreaterThan(100);
  });

  it('changes with the share characterised', () => {
    const model = buildProtein('MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDLS');
    const at = (percent: number): Buffer => renderThumbnail(model, { type: 'pct-characterized', percent });
    expect(at(0).equals(at(100))).toBe(false);
    expect(at(40).equals(at(40))).toBe(true);
  });
});
