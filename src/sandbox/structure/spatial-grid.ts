/** Points in space, found again by neighbourhood: a hashed grid of cubic cells. Knows no chemistry. */

const BUCKETS = 1 << 14;

export interface SpatialGrid {
  readonly size: number;
  add(x: number, y: number, z: number, tag: number): void;
  /** Forgets the points added last, down to `size` of them. */
  shrink(size: number): void;
  /** Calls `visit` with the tag and the squared distance of every point nearer than the cell size. */
  near(x: number, y: number, z: number, visit: (tag: number, squared: number) => void): void;
}

/** @param cell edge of a cell in ångström, and the largest distance that `near` can ask for */
export function spatialGrid(cell: number): SpatialGrid {
  const heads = new Int32Array(BUCKETS).fill(-1);
  let next = new Int32Array(1024);
  let points = new Float64Array(3 * 1024);
  let tags = new Int32Array(1024);
  let size = 0;
  const bucket = (i: number, j: number, k: number): number =>
    (Math.imul(i, 73856093) ^ Math.imul(j, 19349663) ^ Math.imul(k, 83492791)) & (BUCKETS - 1);
  const bucketOf = (x: number, y: number, z: number): number =>
    bucket(Math.floor(x / cell), Math.floor(y / cell), Math.floor(z / cell));
  const grow = (): void => {
    const wider = new Int32Array(next.length * 2);
    wider.set(next);
    next = wider;
    const more = new Float64Array(points.length * 2);
    more.set(points);
    points = more;
    const named = new Int32Array(tags.length * 2);
    named.set(tags);
    tags = named;
  };
  return {
    get size() {
      return size;
    },
    add(x, y, z, tag) {
      if (size === next.length) grow();
      const b = bucketOf(x, y, z);
      next[size] = heads[b] ?? -1;
      heads[b] = size;
      points[3 * size] = x;
      points[3 * size + 1] = y;
      points[3 * size + 2] = z;
      tags[size] = tag;
      size++;
    },
    shrink(to) {
      for (; size > to; size--) {
        const p = 3 * (size - 1);
        // A bucket's list starts with the point that came last, so the newest point is always a head.
        const b = bucketOf(points[p] ?? 0, points[p + 1] ?? 0, points[p + 2] ?? 0);
        heads[b] = next[size - 1] ?? -1;
      }
    },
    near(x, y, z, visit) {
      const [ci, cj, ck] = [Math.floor(x / cell), Math.floor(y / cell), Math.floor(z / cell)];
      const limit = cell * cell;
      for (let i = ci - 1; i <= ci + 1; i++)
        for (let j = cj - 1; j <= cj + 1; j++)
          for (let k = ck - 1; k <= ck + 1; k++) {
            for (let p = heads[bucket(i, j, k)] ?? -1; p >= 0; p = next[p] ?? -1) {
              const px = points[3 * p] ?? 0;
              const py = points[3 * p + 1] ?? 0;
              const pz = points[3 * p + 2] ?? 0;
              // Two cells may share a bucket: count a point only in the cell that it lies in.
              if (Math.floor(px / cell) !== i || Math.floor(py / cell) !== j || Math.floor(pz / cell) !== k)
                continue;
              const squared = (px - x) ** 2 + (py - y) ** 2 + (pz - z) ** 2;
              if (squared < limit) visit(tags[p] ?? 0, squared);
            }
          }
    },
  };
}
