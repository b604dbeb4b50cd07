// The proteins that every record of the stand-in service is made of, computed once with the
// sandbox's own code, so that texts and numbers have the shapes and sizes of real answers. It knows
// no hash and no HTTP.

import { readFileSync, writeFileSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import type { FeatureEntry, Scale } from '../../../sandbox/src/atlas/feature-values.ts';
import {
  fourDecimals,
  perResidueJson,
  proteinLevelJson,
  topFeatures,
} from '../../../sandbox/src/atlas/feature-values.ts';
import { findWindows, proteinVector } from '../../../sandbox/src/atlas/features.ts';
import { makeStructure } from '../../../sandbox/src/atlas/structure-making.ts';
import { predictConfidence } from '../../../sandbox/src/structure/confidence.ts';
import { BEGINNING, TEMPLATE_SEQUENCES } from './facts.ts';

/** One protein, in the pieces that answers are put together from. */
export interface Template {
  readonly ptm: number;
  readonly meanPlddt: number;
  readonly plddt: readonly number[];
  /** The text of the single record, and that of the archive's member. */
  readonly recordPdb: string;
  readonly memberPdb: string;
  /** The hundred strongest features. */
  readonly features: readonly FeatureEntry[];
  /** Sparse activations as JSON. */
  readonly proteinLevel: string;
  readonly perResidue: string;
}

/** Any fixed scale will do: what counts is the size of the numbers as text. */
const scale: Scale = (feature, strength) => fourDecimals((strength / 1000) * (1 + (feature % 13) / 3));

/**
 * A PDB text whose last residues are unknown ones: each protein has others, and the gateway refuses
 * a structure of another sequence.
 */
const withoutEnd = (pdb: string): string =>
  pdb.replace(/^ATOM .*$/gm, (line) =>
    Number(line.slice(22, 26)) > BEGINNING ? `${line.slice(0, 17)}UNK${line.slice(20)}` : line,
  );

function makeTemplate(sequence: string): Template {
  const windows = findWindows(sequence);
  const { ptm, meanPlddt, plddt } = predictConfidence(sequence);
  const text = (form: 'record' | 'member') =>
    withoutEnd(Buffer.from(makeStructure({ form, sequence })).toString());
  return {
    ptm,
    meanPlddt,
    plddt: Array.from(plddt),
    recordPdb: text('record'),
    memberPdb: text('member'),
    features: topFeatures(windows, 100, scale),
    proteinLevel: proteinLevelJson(proteinVector(windows), scale),
    perResidue: perResidueJson(windows, sequence.length, scale),
  };
}

/** Computes the templates; takes some seconds. */
export const makeTemplates = (): readonly Template[] =>
  TEMPLATE_SEQUENCES.map((sequence) => makeTemplate(sequence));

/** Templates as a file, so that the stand-in need not compute them once more. */
export const writeTemplates = (file: string, templates: readonly Template[]): void =>
  writeFileSync(file, serialize(templates));
export const readTemplates = (file: string): readonly Template[] => deserialize(readFileSync(file));
