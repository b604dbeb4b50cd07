// A plot of lines over two logarithmic axes as an SVG that reads on light and dark pages. Pure.

export interface Line {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

const WIDTH = 760;
const HEIGHT = 420;
const EDGE = { left: 70, right: 250, top: 20, bottom: 50 };
const COLOURS = ['#0b7285', '#e8590c', '#7048e8', '#2f9e44', '#c2255c'];
const GREY = '#868e96';

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** Powers of ten that enclose the values. */
function decades(values: readonly number[]): { low: number; high: number } {
  const logs = values.filter((value) => value > 0).map(Math.log10);
  const low = Math.floor(Math.min(...logs));
  return { low, high: Math.max(low + 1, Math.ceil(Math.max(...logs))) };
}

const powers = ({ low, high }: { low: number; high: number }): number[] =>
  Array.from({ length: high - low + 1 }, (_, n) => 10 ** (low + n));

/**
 * Draws lines with a mark at each point.
 *
 * @param labels - what the axes show, with units
 * @throws RangeError without a point
 */
export function plot(lines: readonly Line[], labels: { readonly x: string; readonly y: string }): string {
  const points = lines.flatMap((line) => line.points);
  if (points.length === 0) throw new RangeError('There is nothing to plot.');
  const [across, up] = [decades(points.map(({ x }) => x)), decades(points.map(({ y }) => y))];
  const inside = { width: WIDTH - EDGE.left - EDGE.right, height: HEIGHT - EDGE.top - EDGE.bottom };
  const place = (value: number, { low, high }: typeof across): number =>
    (Math.log10(value) - low) / (high - low);
  const left = (x: number): string => (EDGE.left + place(x, across) * inside.width).toFixed(1);
  const top = (y: number): string => (EDGE.top + (1 - place(y, up)) * inside.height).toFixed(1);
  const bottom = HEIGHT - EDGE.bottom;
  const right = WIDTH - EDGE.right;
  const text = (x: number | string, y: number | string, anchor: string, words: string): string =>
    `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="${GREY}">${escaped(words)}</text>`;
  const rule = (x1: number | string, y1: number | string, x2: number | string, y2: number | string): string =>
    `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${GREY}" stroke-opacity="0.3"/>`;
  const number = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 3 });
  const drawn = lines.flatMap(({ name, points: own }, n) => {
    const colour = COLOURS[n % COLOURS.length] ?? GREY;
    const path = own.map(({ x, y }) => `${left(x)},${top(y)}`).join(' ');
    return [
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...own.map(({ x, y }) => `<circle cx="${left(x)}" cy="${top(y)}" r="3.5" fill="${colour}"/>`),
      `<rect x="${right + 16}" y="${EDGE.top + n * 22}" width="14" height="4" fill="${colour}"/>`,
      text(right + 36, EDGE.top + 6 + n * 22, 'start', name),
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="12" role="img">`,
    `<title>${escaped(`${labels.y} by ${labels.x}`)}</title>`,
    ...powers(across).flatMap((x) => [
      rule(left(x), EDGE.top, left(x), bottom),
      text(left(x), bottom + 18, 'middle', number(x)),
    ]),
    ...powers(up).flatMap((y) => [
      rule(EDGE.left, top(y), right, top(y)),
      text(EDGE.left - 8, Number(top(y)) + 4, 'end', number(y)),
    ]),
    text(EDGE.left + inside.width / 2, HEIGHT - 10, 'middle', labels.x),
    `<g transform="rotate(-90 16 ${EDGE.top + inside.height / 2})">${text(16, EDGE.top + inside.height / 2, 'middle', labels.y)}</g>`,
    ...drawn,
    '</svg>\n',
  ].join('\n');
}
