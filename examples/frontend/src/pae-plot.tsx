// The predicted aligned error as a heat map: rows are aligned on, columns are scored, dark is
// certain. The gateway averages the matrix down to what a screen can show, so a complex of
// thousands of tokens is as quick as a peptide.
import { type PointerEvent, useEffect, useRef, useState } from 'react';
import { type FragmentOf, graphql, readFragment } from './graphql.ts';

export const PaeFields = graphql(`
  fragment PaeFields on FoldResult {
    chains { id tokenStart tokenEnd }
    pae {
      size
      max
      block(maxPoints: 90000) { step values }
    }
  }
`);

const MOST = 30;
const STOPS = [
  [0, 68, 27],
  [65, 171, 93],
  [247, 252, 245],
] as const;

/** Dark green at 0 Å over green to white at 30 Å and more. */
function colour(error: number): [number, number, number] {
  const place = Math.min(error / MOST, 1) * (STOPS.length - 1);
  const from = STOPS[Math.min(Math.floor(place), STOPS.length - 2)] ?? STOPS[0];
  const to = STOPS[Math.min(Math.floor(place) + 1, STOPS.length - 1)] ?? STOPS[2];
  const t = place - Math.min(Math.floor(place), STOPS.length - 2);
  return [0, 1, 2].map((i) => (from[i] ?? 0) + t * ((to[i] ?? 0) - (from[i] ?? 0))) as [
    number,
    number,
    number,
  ];
}

export function PaePlot({ result }: { result: FragmentOf<typeof PaeFields> }) {
  const { pae, chains } = readFragment(PaeFields, result);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [over, setOver] = useState<{ row: number; column: number }>();
  const values = pae?.block.values;
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context || values === undefined) return;
    const image = context.createImageData(values[0]?.length ?? 1, values.length);
    values.flat().forEach((value, i) => {
      image.data.set(value === null ? [128, 128, 128, 255] : [...colour(value), 255], i * 4);
    });
    context.canvas.width = image.width;
    context.canvas.height = image.height;
    context.putImageData(image, 0, 0);
  }, [values]);
  if (!pae || values === undefined) return <p className="note">No aligned error was asked for.</p>;

  const { size, block } = pae;
  const point = ({ currentTarget, clientX, clientY }: PointerEvent) => {
    const { left, top, width, height } = currentTarget.getBoundingClientRect();
    setOver({
      row: Math.floor(((clientY - top) / height) * size),
      column: Math.floor(((clientX - left) / width) * size),
    });
  };
  const named = (token: number) => {
    const chain = chains.find(({ tokenStart, tokenEnd }) => token >= tokenStart && token < tokenEnd);
    return chain === undefined ? `${token + 1}` : `${chain.id}${token - chain.tokenStart + 1}`;
  };
  const at = over && values[Math.floor(over.row / block.step)]?.[Math.floor(over.column / block.step)];
  const share = (tokens: number) => `${(tokens / size) * 100}%`;
  return (
    <figure className="pae">
      <div className="plot">
        <ol className="axis across" aria-hidden="true">
          {chains.map(({ id, tokenStart, tokenEnd }) => (
            <li key={id} style={{ left: share(tokenStart), width: share(tokenEnd - tokenStart) }}>
              {id}
            </li>
          ))}
        </ol>
        <ol className="axis down" aria-hidden="true">
          {chains.map(({ id, tokenStart, tokenEnd }) => (
            <li key={id} style={{ top: share(tokenStart), height: share(tokenEnd - tokenStart) }}>
              {id}
            </li>
          ))}
        </ol>
        <div className="matrix" onPointerMove={point} onPointerLeave={() => setOver(undefined)}>
          <canvas
            ref={canvas}
            role="img"
            aria-label={`Predicted aligned error of ${size} tokens, at most ${pae.max?.toFixed(1) ?? 'unknown'} ångström`}
          />
          {chains.slice(1).map(({ id, tokenStart }) => (
            <span key={id} aria-hidden="true">
              <i className="across" style={{ top: share(tokenStart) }} />
              <i className="down" style={{ left: share(tokenStart) }} />
            </span>
          ))}
        </div>
      </div>
      <figcaption>
        <div className="scale">
          <span>0 Å</span>
          <span className="ramp" />
          <span>{MOST} Å and more</span>
        </div>
        <p className="note" aria-live="polite">
          {over && at != null
            ? `Aligned on ${named(over.row)}, ${named(over.column)} may be ${at.toFixed(1)} Å off`
            : `Predicted aligned error: columns scored when aligned on rows`}
        </p>
      </figcaption>
    </figure>
  );
}
