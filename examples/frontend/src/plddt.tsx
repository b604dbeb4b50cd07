// pLDDT in the four colours that everybody uses for it.
import { type FragmentOf, graphql, readFragment } from './graphql.ts';

const BANDS = {
  VERY_HIGH: { least: 90, colour: '#0053d6', name: 'very high, 90 and more' },
  CONFIDENT: { least: 70, colour: '#65cbf3', name: 'confident, 70 to 90' },
  LOW: { least: 50, colour: '#ffdb13', name: 'low, 50 to 70' },
  VERY_LOW: { least: Number.NEGATIVE_INFINITY, colour: '#ff7d45', name: 'very low, below 50' },
};

/** Colour of a confidence from 0 to 100. */
export const plddtColour = (plddt: number): string =>
  Object.values(BANDS).find(({ least }) => plddt >= least)?.colour ?? BANDS.VERY_LOW.colour;

export const BandsFields = graphql(`
  fragment BandsFields on Plddt {
    mean
    bands { band percent }
  }
`);

/** The legend, each band with its share of this structure. */
export function PlddtLegend({ plddt }: { plddt: FragmentOf<typeof BandsFields> }) {
  const { bands } = readFragment(BandsFields, plddt);
  return (
    <ul className="legend" aria-label="Confidence (pLDDT)">
      {bands.map(({ band, percent }) => (
        <li key={band}>
          <span className="swatch" style={{ background: BANDS[band].colour }} />
          {BANDS[band].name} <b>{Math.round(percent)} %</b>
        </li>
      ))}
    </ul>
  );
}
