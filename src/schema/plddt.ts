// pLDDT, the per-residue confidence of a predicted structure, for folds and Atlas proteins: scales
// and bands.

import { builder, enumValues } from './builder.ts';
import { publicNonNull } from './field-options.ts';
import { residueValues } from './query-cost.ts';
import { badInput } from './scalars.ts';

export const PlddtScale = builder.enumType('PlddtScale', {
  description: 'The scale of pLDDT values.',
  values: {
    PERCENT: { description: '0 to 100, as in structure viewers and papers.' },
    UNIT: { description: '0 to 1.' },
  } as const,
});

export type PlddtScaleName = typeof PlddtScale.$inferType;

/** A share of 1 as a percentage, to 15 significant digits: 0.57 is 57, not 56.99999999999999. */
export const toPercent = (share: number): number => Number((share * 100).toPrecision(15));

/** Converts a pLDDT to a scale. @param unit - 0 to 1, or null where it is unknown */
export function scalePlddt(
  unit: number | null | undefined,
  scale: PlddtScaleName | null | undefined,
): number | null {
  if (unit === null || unit === undefined) return null;
  return scale === 'UNIT' ? unit : toPercent(unit);
}

export const scaleArg = {
  type: PlddtScale,
  defaultValue: 'PERCENT',
  description: 'Scale of the value: 87.5 as PERCENT, 0.875 as UNIT.',
} as const;

type UnitValues = readonly (number | null)[];

export interface PlddtShape {
  /** Per residue or token, 0 to 1; null at chain breaks. A function loads them on demand. */
  readonly unit: UnitValues | (() => Promise<UnitValues>);
  /** 0 to 1; null when there is none. */
  readonly mean: number | null;
}

/** Synchronous where the values are loaded: a promise for each residue would be slow. */
function readValues<R>({ unit }: PlddtShape, read: (values: UnitValues) => R): R | Promise<R> {
  return typeof unit === 'function' ? unit().then(read) : read(unit);
}

const BANDS = [
  { band: 'VERY_HIGH', from: 0.9, to: Number.POSITIVE_INFINITY },
  { band: 'CONFIDENT', from: 0.7, to: 0.9 },
  { band: 'LOW', from: 0.5, to: 0.7 },
  { band: 'VERY_LOW', from: Number.NEGATIVE_INFINITY, to: 0.5 },
] as const;

const PlddtBandName = builder.enumType('PlddtBandName', {
  description: 'The usual confidence bands.',
  values: enumValues({
    VERY_HIGH: '90 and more.',
    CONFIDENT: '70 to below 90.',
    LOW: '50 to below 70.',
    VERY_LOW: 'Below 50; often disordered.',
  }),
});

interface PlddtBandShape {
  readonly band: (typeof BANDS)[number]['band'];
  readonly fraction: number;
}

/** The share of the known values in each band, best band first; all 0 when no value is known. */
function toBands(unit: UnitValues): PlddtBandShape[] {
  const known = unit.filter((value) => value !== null);
  return BANDS.map(({ band, from, to }) => ({
    band,
    fraction: known.filter((value) => value >= from && value < to).length / Math.max(1, known.length),
  }));
}

/**
 * The first position of the range that a client selects. It may lie past the end of a list, which
 * then has nothing there: proteins of one query differ in length.
 */
export function rangeStart(start?: number | null, end?: number | null): number {
  const from = start ?? 0;
  if (from < 0 || (end != null && end < from)) {
    throw badInput('`start` and `end` are 0-based, `end` excluded: use 0 <= start <= end, such as 0 and 50.');
  }
  return from;
}

const PlddtBand = builder.objectRef<PlddtBandShape>('PlddtBand').implement({
  description: 'The usual confidence bands: 90 and more, 70 to 90, 50 to 70, below 50.',
  fields: (t) => ({
    band: t.expose('band', {
      ...publicNonNull('record', 'The band.'),
      type: PlddtBandName,
    }),
    percent: t.float({
      public: 'record',
      nullable: false,
      description:
        'Share of the residues or tokens with a value that are in this band, 0 to 100, such as 75.',
      resolve: ({ fraction }) => toPercent(fraction),
    }),
  }),
});

export const Plddt = builder.objectRef<PlddtShape>('Plddt').implement({
  description: 'Predicted local distance difference test: how sure the model is of each residue or token.',
  fields: (t) => ({
    mean: t.float({
      public: 'record',
      description: 'Mean over the residues or tokens. 0 to 100 unless another scale is asked for.',
      args: { scale: t.arg(scaleArg) },
      resolve: ({ mean }, { scale }) => scalePlddt(mean, scale),
    }),
    length: t.int({
      ...publicNonNull('record', 'Number of `values`: residues or tokens, and chain breaks.'),
      resolve: (plddt) => readValues(plddt, ({ length }) => length),
    }),
    values: t.floatList({
      public: 'record',
      nullable: { list: false, items: true },
      description:
        'Per residue or token; null where the upstream has a chain break. A break is a position too: ' +
        'where the upstream has them, the values of the second chain begin at its `tokenStart` + 1, of ' +
        'the third at + 2.',
      args: {
        start: t.arg.int({ defaultValue: 0, description: 'First position, 0-based, such as 0.' }),
        end: t.arg.int({ description: 'Position after the last one; the end of the list when left out.' }),
        scale: t.arg(scaleArg),
      },
      cost: ({ start, end }) => ({ calls: 0.02, values: residueValues(start, end) }),
      resolve: (plddt, { start, end, scale }) => {
        const from = rangeStart(start, end);
        return readValues(plddt, (values) =>
          values.slice(from, end ?? undefined).map((value) => scalePlddt(value, scale)),
        );
      },
    }),
    bands: t.field({
      public: 'record',
      type: [PlddtBand],
      nullable: false,
      description: 'The share of the structure in each confidence band, best first; always four entries.',
      resolve: (plddt) => readValues(plddt, toBands),
    }),
  }),
});
