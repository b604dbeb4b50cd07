/**
 * Draws a mesh into a depth buffer, one sample a cell: which face is in front, how deep it is and
 * how it is lit. Works in picture coordinates (x right, y down, z towards the viewer). Knows no
 * proteins and no colours.
 */

export interface Samples {
  size: number;
  /** Nearest z per sample; −Infinity where nothing is. */
  depth: Float32Array;
  /** Diffuse light, 0 to 1, and highlight, 0 to 1. */
  diffuse: Float32Array;
  highlight: Float32Array;
  /** The tag of the front face. */
  tag: Uint32Array;
}

export interface Faces {
  /** Per vertex x, y in samples and z in the same unit. */
  points: Float64Array;
  diffuse: Float32Array;
  highlight: Float32Array;
  triangles: Uint32Array;
  tags: Uint32Array;
}

export function rasterise(size: number, faces: Faces): Samples {
  const depth = new Float32Array(size * size).fill(Number.NEGATIVE_INFINITY);
  const diffuse = new Float32Array(size * size);
  const highlight = new Float32Array(size * size);
  const tag = new Uint32Array(size * size);
  const { points, triangles, tags } = faces;
  const of = (array: Float64Array | Float32Array, i: number): number => array[i] ?? 0;
  for (let f = 0; f < tags.length; f++) {
    const [a, b, c] = [triangles[3 * f] ?? 0, triangles[3 * f + 1] ?? 0, triangles[3 * f + 2] ?? 0];
    const [ax, ay, az] = [of(points, 3 * a), of(points, 3 * a + 1), of(points, 3 * a + 2)];
    const [bx, by, bz] = [of(points, 3 * b), of(points, 3 * b + 1), of(points, 3 * b + 2)];
    const [cx, cy, cz] = [of(points, 3 * c), of(points, 3 * c + 1), of(points, 3 * c + 2)];
    const area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
    if (Math.abs(area) < 1e-9) continue;
    const x0 = Math.max(0, Math.ceil(Math.min(ax, bx, cx)));
    const x1 = Math.min(size - 1, Math.floor(Math.max(ax, bx, cx)));
    const y0 = Math.max(0, Math.ceil(Math.min(ay, by, cy)));
    const y1 = Math.min(size - 1, Math.floor(Math.max(ay, by, cy)));
    for (let y = y0; y <= y1; y++)
      for (let x = x0; x <= x1; x++) {
        const wa = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area;
        const wb = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area;
        const wc = 1 - wa - wb;
        if (wa < 0 || wb < 0 || wc < 0) continue;
        const z = wa * az + wb * bz + wc * cz;
        const p = y * size + x;
        if (z <= (depth[p] ?? 0)) continue;
        depth[p] = z;
        tag[p] = tags[f] ?? 0;
        diffuse[p] = wa * of(faces.diffuse, a) + wb * of(faces.diffuse, b) + wc * of(faces.diffuse, c);
        highlight[p] =
          wa * of(faces.highlight, a) + wb * of(faces.highlight, b) + wc * of(faces.highlight, c);
      }
  }
  return { size, depth, diffuse, highlight, tag };
}
