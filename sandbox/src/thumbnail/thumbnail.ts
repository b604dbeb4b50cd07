/**
 * The structure thumbnail of the Atlas: a shaded cartoon of a model on a soft background, 512 × 512
 * pixels. The same model and colouring always give the same bytes.
 */
import type { ProteinModel } from '../structure/protein.ts';
import { plddtColour, type Rgb, shareColour } from './palette.ts';
import { encodePng } from './png.ts';
import { rasterise } from './raster.ts';
import { type Mesh, ribbonMesh } from './ribbon.ts';
import { develop } from './shade.ts';
import { toView } from './view.ts';

export type Colouring = { type: 'plddt' } | { type: 'pct-characterized'; percent: number };

const PIXELS = 512;
/** Samples per pixel edge: four samples a pixel smooth every edge. */
const SAMPLES = 2;
const SIZE = PIXELS * SAMPLES;
const MARGIN = 0.06;

const LIGHT: Rgb = [-0.42, 0.55, 0.722];
const HALF: Rgb = [-0.226, 0.297, 0.928];

/** Turns the mesh into picture coordinates and lights its vertices. */
function project(mesh: Mesh, model: ProteinModel, foot: number) {
  const [ex, ey, ez] = toView(model);
  const count = mesh.positions.length / 3;
  const points = new Float64Array(count * 3);
  const diffuse = new Float32Array(count);
  const highlight = new Float32Array(count);
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  const along = (array: Float64Array, v: number, axis: Rgb): number =>
    (array[v] ?? 0) * axis[0] + (array[v + 1] ?? 0) * axis[1] + (array[v + 2] ?? 0) * axis[2];
  for (let v = 0; v < count; v++) {
    [ex, ey, ez].forEach((axis, k) => {
      const value = along(mesh.positions, 3 * v, axis);
      points[3 * v + k] = value;
      low[k] = Math.min(low[k] ?? 0, value);
      high[k] = Math.max(high[k] ?? 0, value);
    });
    const [nx, ny, nz] = [
      along(mesh.normals, 3 * v, ex),
      along(mesh.normals, 3 * v, ey),
      along(mesh.normals, 3 * v, ez),
    ];
    // Faces are lit from both sides: what is seen always has its normal towards the viewer.
    const flip = nz < 0 ? -1 : 1;
    const towards = ([x, y, z]: Rgb): number => flip * nx * x + flip * ny * y + flip * nz * z;
    diffuse[v] = Math.max(0, towards(LIGHT));
    highlight[v] = Math.max(0, towards(HALF)) ** 28;
  }
  const span = (k: number): number => (high[k] ?? 0) - (low[k] ?? 0);
  const middle = (k: number): number => ((high[k] ?? 0) + (low[k] ?? 0)) / 2;
  const zoom = count === 0 ? 1 : (SIZE * (1 - 2 * MARGIN)) / Math.max(24, span(0), span(1) / (1 - foot));
  for (let v = 0; v < count; v++) {
    points[3 * v] = SIZE / 2 + ((points[3 * v] ?? 0) - middle(0)) * zoom;
    points[3 * v + 1] = (SIZE * (1 - foot)) / 2 - ((points[3 * v + 1] ?? 0) - middle(1)) * zoom;
    points[3 * v + 2] = ((points[3 * v + 2] ?? 0) - middle(2)) * zoom;
  }
  return { points, diffuse, highlight, zoom, depth: Math.max(1, span(2) * zoom) };
}

/**
 * Draws a model; colours by pLDDT band of each residue, or the whole chain by its cluster's share
 * characterised.
 */
export function renderThumbnail(model: ProteinModel, colouring: Colouring): Buffer {
  const mesh = ribbonMesh(model);
  const foot = colouring.type === 'plddt' ? 0 : 0.05;
  const { points, diffuse, highlight, zoom, depth } = project(mesh, model, foot);
  const samples = rasterise(SIZE, {
    points,
    diffuse,
    highlight,
    triangles: mesh.triangles,
    tags: mesh.residues,
  });
  const colours: Rgb[] =
    colouring.type === 'plddt'
      ? model.plddt.map(plddtColour)
      : model.plddt.map(() => shareColour(colouring.percent));
  const pixels = develop(samples, SAMPLES, colours, { angstrom: zoom, depth });
  if (colouring.type === 'pct-characterized') drawScale(pixels, colouring.percent);
  return encodePng(PIXELS, PIXELS, pixels);
}

const BAR = { left: 176, right: 336, top: 491, bottom: 497 } as const;

/**
 * The colour scale at the foot, with a mark where this chain stands: the picture explains itself
 * without text.
 */
function drawScale(pixels: Uint8Array, percent: number): void {
  const width = BAR.right - BAR.left;
  const mark = BAR.left + (Math.min(100, Math.max(0, percent)) / 100) * width;
  for (let y = BAR.top - 4; y < BAR.bottom + 4; y++)
    for (let x = BAR.left - 3; x < BAR.right + 3; x++) {
      const inBar = y >= BAR.top && y < BAR.bottom && x >= BAR.left && x < BAR.right;
      const inMark = Math.abs(x + 0.5 - mark) < 1.5;
      if (inBar || inMark)
        pixels.set(inMark ? [52, 58, 70] : shareColour(((x - BAR.left) / width) * 100), (y * PIXELS + x) * 3);
    }
}
