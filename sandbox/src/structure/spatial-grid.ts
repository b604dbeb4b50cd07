/** Points in space, found again by neighbourhood: a hashed grid of cubic cells. */

const BUCKET_BITS = 13;
/**
 * Cells are numbered from -512 to 511 along each axis; farther out they fold over, which only costs
 * time.
 */
const AXIS_BITS = 10;
const AXIS_MASK = (1 << AXIS_BITS) - 1;

export interface SpatialGrid {
  readonly size: number;
  add(x: number, y: number, z: number, tag: number): void;
  /** Forgets the points added last, down to `size` of them. */
  shrink(size: number): void;
  /**
   * Finds the points within the reach and says how many. Their tags and squared distances are then
   * the first of `tags` and `squares`, until the next search.
   */
  near(x: number, y: number, z: number): number;
  readonly found: { readonly tags: readonly number[]; readonly squares: readonly number[] };
}

const cellKey = (i: number, j: number, k: number): number =>
  ((i & AXIS_MASK) << (2 * AXIS_BITS)) | ((j & AXIS_MASK) << AXIS_BITS) | (k & AXIS_MASK);
const toBucket = (key: number): number => Math.imul(key, 0x9e3779b1) >>> (32 - BUCKET_BITS);

/** @param reach the distance, in ångström, within which `near` finds points */
export function spatialGrid(reach: number): SpatialGrid {
  // Twice the reach: what is near a point then lies in two cells along each axis, in the half that
  // the point is in.
  const cell = 2 * reach;
  const heads = new Int32Array(1 << BUCKET_BITS).fill(-1);
  let next = new Int32Array(1024);
  /** The cell of each point: two cells may share a bucket. */
  let keys = new Int32Array(1024);
  let points = new Float64Array(3 * 1024);
  let tags = new Int32Array(1024);
  let size = 0;
  // Plain arrays that only ever hold numbers: as quick as typed ones, and they grow.
  const found = { tags: [0], squares: [0.5] };
  const wider = (array: Int32Array): Int32Array<ArrayBuffer> => {
    const copy = new Int32Array(array.length * 2);
    copy.set(array);
    return copy;
  };
  const grow = (): void => {
    next = wider(next);
    keys = wider(keys);
    tags = wider(tags);
    const more = new Float64Array(points.length * 2);
    more.set(points);
    points = more;
  };
  return {
    get size() {
      return size;
    },
    add(x, y, z, tag) {
      if (size === next.length) grow();
      const key = cellKey(Math.floor(x / cell), Math.floor(y / cell), Math.floor(z / cell));
      const bucket = toBucket(key);
      next[size] = heads[bucket] ?? -1;
      heads[bucket] = size;
      keys[size] = key;
      points[3 * size] = x;
      points[3 * size + 1] = y;
      points[3 * size + 2] = z;
      tags[size] = tag;
      size++;
    },
    shrink(to) {
      // A bucket's list starts with the point that came last, so the newest point is always a head.
      for (; size > to; size--) heads[toBucket(keys[size - 1] ?? 0)] = next[size - 1] ?? -1;
    },
    found,
    near(x, y, z) {
      const { tags: foundTags, squares } = found;
      let count = 0;
      const ci = Math.floor(x / cell - 0.5);
      const cj = Math.floor(y / cell - 0.5);
      const ck = Math.floor(z / cell - 0.5);
      const limit = reach * reach;
      for (let i = ci; i <= ci + 1; i++)
        for (let j = cj; j <= cj + 1; j++)
          for (let k = ck; k <= ck + 1; k++) {
            const key = cellKey(i, j, k);
            for (let p = heads[toBucket(key)] ?? -1; p >= 0; p = next[p] ?? -1) {
              if (keys[p] !== key) continue;
              const dx = (points[3 * p] ?? 0) - x;
              const dy = (points[3 * p + 1] ?? 0) - y;
              const dz = (points[3 * p + 2] ?? 0) - z;
              const squared = dx * dx + dy * dy + dz * dz;
              if (squared >= limit) continue;
              foundTags[count] = tags[p] ?? 0;
              squares[count] = squared;
              count++;
            }
          }
      return count;
    },
  };
}
