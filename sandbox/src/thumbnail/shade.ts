/**
 * From samples to pixels: colour times light, darker in crevices and at outlines, paler with depth,
 * averaged to one pixel, on a soft background. Knows no geometry beyond depth.
 */
import type { Rgb } from './palette.ts';
import type { Samples } from './raster.ts';

const AMBIENT = 0.6;
const FADE = 0.42;
const EDGE_DARK = 0.42;

function background(u: number, v: number): Rgb {
  // Nearly white in the middle, a cool grey at the corners.
  const r = Math.min(1, Math.hypot(u - 0.5, v - 0.44) * 1.25);
  const t = r * r;
  return [252 - 26 * t, 253 - 21 * t, 255 - 15 * t];
}

const RING: readonly (readonly [number, number])[] = Array.from({ length: 12 }, (_, k) => {
  const angle = (2 * Math.PI * k) / 12 + 0.2;
  const radius = k % 2 === 0 ? 1 : 0.5;
  return [Math.cos(angle) * radius, Math.sin(angle) * radius];
});

/** How much of the sky a sample sees, 0 to 1, judged from the depths around it. */
function openness({ size, depth }: Samples, x: number, y: number, angstrom: number): number {
  const here = depth[y * size + x] ?? 0;
  let hidden = 0;
  for (const [dx, dy] of RING) {
    const sx = Math.round(x + dx * 3.2 * angstrom);
    const sy = Math.round(y + dy * 3.2 * angstrom);
    if (sx < 0 || sy < 0 || sx >= size || sy >= size) continue;
    const above = ((depth[sy * size + sx] ?? 0) - here) / angstrom;
    if (above > 0.6) hidden += Math.min(1, above / 3) / (1 + Math.max(0, above - 8) / 8);
  }
  return 1 - hidden / RING.length;
}

/**
 * @param per samples per pixel edge
 * @param colours by the samples' tag
 * @param scale samples per ångström, and the depth of the whole scene in samples
 */
export function develop(
  samples: Samples,
  per: number,
  colours: readonly Rgb[],
  scale: { angstrom: number; depth: number },
): Uint8Array {
  const { size, depth, diffuse, highlight, tag } = samples;
  const width = size / per;
  const pixels = new Uint8Array(width * width * 3);
  const reach = Math.max(1, Math.round(per * 0.75));
  for (let py = 0; py < width; py++)
    for (let px = 0; px < width; px++) {
      const back = background((px + 0.5) / width, (py + 0.5) / width);
      let [r, g, b] = [0, 0, 0];
      let open = -1;
      for (let s = 0; s < per * per; s++) {
        const x = px * per + (s % per);
        const y = py * per + Math.floor(s / per);
        const p = y * size + x;
        const z = depth[p] ?? Number.NEGATIVE_INFINITY;
        if (z === Number.NEGATIVE_INFINITY) {
          r += back[0];
          g += back[1];
          b += back[2];
          continue;
        }
        if (open < 0) open = openness(samples, x, y, scale.angstrom);
        // An outline where the surface behind falls away by more than a ribbon's thickness.
        const drop = Math.max(
          0,
          z - (depth[p - reach] ?? z),
          z - (depth[p + reach] ?? z),
          z - (depth[p - reach * size] ?? z),
          z - (depth[p + reach * size] ?? z),
        );
        const edge = Math.min(1, Math.max(0, drop / scale.angstrom - 1.2) / 2.5);
        const light =
          (AMBIENT + (1 - AMBIENT) * (diffuse[p] ?? 0)) * (0.55 + 0.45 * open) * (1 - EDGE_DARK * edge);
        const shine = 70 * (highlight[p] ?? 0) * open * (1 - edge);
        const away = Math.min(1, Math.max(0, 0.5 - z / scale.depth));
        const fade = FADE * away * away;
        const colour = colours[tag[p] ?? 0] ?? [128, 128, 128];
        r += Math.min(255, colour[0] * light + shine) * (1 - fade) + back[0] * fade;
        g += Math.min(255, colour[1] * light + shine) * (1 - fade) + back[1] * fade;
        b += Math.min(255, colour[2] * light + shine) * (1 - fade) + back[2] * fade;
      }
      const at = (py * width + px) * 3;
      pixels[at] = Math.round(r / (per * per));
      pixels[at + 1] = Math.round(g / (per * per));
      pixels[at + 2] = Math.round(b / (per * per));
    }
  return pixels;
}
