// Confidence and features along a sequence, one track each. The pointer or the arrow keys pick a
// residue, which the structure shows too.
import { type KeyboardEvent, type PointerEvent, useState } from 'react';
import { type FragmentOf, graphql, readFragment } from './graphql.ts';
import { plddtColour } from './plddt.tsx';

export const TracksFields = graphql(`
  fragment TracksFields on Protein {
    sequence
    plddt { values }
    features(first: 8) {
      value
      feature { index label }
      residues
      regions { start end peak }
    }
  }
`);

/** Neighbouring residues of one colour as one rectangle. */
function confidenceRuns(values: readonly (number | null)[]) {
  const runs: { start: number; end: number; colour: string }[] = [];
  values.forEach((value, at) => {
    const colour = value === null ? 'transparent' : plddtColour(value);
    const last = runs.at(-1);
    if (last?.colour === colour) last.end = at + 1;
    else runs.push({ start: at, end: at + 1, colour });
  });
  return runs;
}

/** The outline of an activation, one step a residue, in a box one unit high. */
function outline(residues: readonly number[]): string {
  const most = Math.max(...residues) || 1;
  return `M0 1 ${residues.map((value, at) => `L${at} ${1 - value / most} L${at + 1} ${1 - value / most}`).join(' ')} L${residues.length} 1 Z`;
}

interface TracksProps {
  protein: FragmentOf<typeof TracksFields>;
  residue: number | undefined;
  onResidue(residue: number | undefined): void;
}

export function SequenceTracks({ protein, residue, onResidue }: TracksProps) {
  const { sequence, plddt, features } = readFragment(TracksFields, protein);
  const [held, setHeld] = useState(false);
  if (sequence === null) return null;
  const length = sequence.length;
  const point = (event: PointerEvent<HTMLElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const at = Math.floor(((event.clientX - left) / width) * length);
    onResidue(Math.min(length - 1, Math.max(0, at)));
  };
  const step = ({ key, shiftKey }: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -length, End: length }[key];
    if (key === 'Escape') onResidue(undefined);
    if (by !== undefined)
      onResidue(
        Math.min(length - 1, Math.max(0, (residue ?? (by < 0 ? length : -1)) + by * (shiftKey ? 10 : 1))),
      );
  };
  const here = (values: readonly (number | null)[] | null | undefined) =>
    residue === undefined ? undefined : values?.[residue]?.toFixed(1);
  const tracks = (features ?? []).flatMap((activation) =>
    activation?.residues == null ? [] : [{ ...activation, residues: activation.residues }],
  );
  return (
    <section className="card" aria-labelledby="along">
      <h2 id="along">Along the sequence</h2>
      <div className="tracks">
        <div className="names">
          <span>pLDDT</span>
          {tracks.map(({ feature }) => (
            <a
              key={feature.index}
              href={`#/features/${encodeURIComponent(feature.label ?? '')}`}
              title={feature.label ?? undefined}
            >
              {feature.label}
            </a>
          ))}
        </div>
        <div
          className="lanes"
          role="slider"
          tabIndex={0}
          aria-label="Residue"
          aria-valuemin={1}
          aria-valuemax={length}
          aria-valuenow={(residue ?? 0) + 1}
          aria-valuetext={
            residue === undefined
              ? 'none'
              : `${sequence[residue]} ${residue + 1}, pLDDT ${here(plddt?.values)}`
          }
          onPointerMove={(event) => !held && point(event)}
          onPointerLeave={() => !held && onResidue(undefined)}
          onClick={() => setHeld(!held)}
          onKeyDown={step}
        >
          <svg viewBox={`0 0 ${length} 1`} preserveAspectRatio="none" aria-hidden="true">
            {confidenceRuns(plddt?.values ?? []).map(({ start, end, colour }) => (
              <rect key={start} x={start} width={end - start} height={1} fill={colour} />
            ))}
          </svg>
          {tracks.map(({ feature, residues, regions }) => (
            <svg
              key={feature.index}
              viewBox={`0 0 ${length} 1`}
              preserveAspectRatio="none"
              aria-hidden="true"
            >
              {regions?.map(({ start, end }) => (
                <rect key={start} x={start} width={end - start} height={1} className="region" />
              ))}
              <path d={outline(residues)} />
            </svg>
          ))}
          {residue !== undefined && (
            <span className="cursor" style={{ left: `${((residue + 0.5) / length) * 100}%` }} />
          )}
        </div>
        <div className="values" aria-hidden="true">
          <span>{here(plddt?.values)}</span>
          {tracks.map(({ feature, residues }) => (
            <span key={feature.index}>{here(residues)}</span>
          ))}
        </div>
      </div>
      <p className="note">
        {residue === undefined
          ? 'Point at a residue, or use the arrow keys, to see it in the structure; click to hold it.'
          : `${sequence.slice(Math.max(0, residue - 5), residue)}[${sequence[residue]}]${sequence.slice(residue + 1, residue + 6)} · residue ${residue + 1} of ${length}`}
      </p>
    </section>
  );
}
