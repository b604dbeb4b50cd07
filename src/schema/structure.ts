// A structure as a file: its address at the gateway, and its text. The text is made when a field
// selects it.

import type { LazyText } from '../structure/lazy-text.ts';
import { builder, enumValues } from './builder.ts';
import { publicNonNull } from './field-options.ts';
import { LARGE_VALUE } from './query-cost.ts';

export const StructureFormat = builder.enumType('StructureFormat', {
  description: 'File formats of a structure.',
  values: enumValues({
    PDB: 'The old fixed-column format: at most 99,999 atoms, and one character for a chain id.',
    MMCIF: 'The format of the Protein Data Bank, without limits on size or names.',
  }),
});

export interface LoadedStructure {
  readonly text: string | LazyText;
  readonly atomCount: number;
}

/** A structure that exists. `load` does its work once, whatever calls it. */
export interface StructureShape {
  readonly format: typeof StructureFormat.$inferType;
  readonly url: string;
  /** The address with a signature; null where there is none. */
  signedUrl(): string | null | Promise<string | null>;
  load(): LoadedStructure | Promise<LoadedStructure>;
}

function read<T>(structure: StructureShape, of: (loaded: LoadedStructure) => T): T | Promise<T> {
  const loaded = structure.load();
  return loaded instanceof Promise ? loaded.then(of) : of(loaded);
}

export const Structure = builder.objectRef<StructureShape>('Structure').implement({
  description:
    'A structure file. `url` costs nothing and is served by the gateway; `text` is the whole file.',
  fields: (t) => ({
    format: t.expose('format', {
      ...publicNonNull('record', 'The format that you selected.'),
      type: StructureFormat,
    }),
    url: t.expose('url', {
      ...publicNonNull('record', 'Address of the file at the gateway. Selecting it loads nothing.'),
      type: 'URL',
    }),
    signedUrl: t.field({
      type: 'URL',
      description:
        'The same address for Mol* or a browser: it opens for 15 minutes without a token, from any site. Null ' +
        'where the service sends the result inside its answer.',
      resolve: (structure) => structure.signedUrl(),
    }),
    text: t.string({
      cost: LARGE_VALUE,
      public: 'record',
      nullable: false,
      description:
        'The whole file: coordinates in ångström, pLDDT as B-factors, 0 to 100 unless you select another ' +
        'scale. In lists it may lack the licence, which the file at `url` has.',
      resolve: (structure) => read(structure, ({ text }) => text),
    }),
    atomCount: t.int({
      ...publicNonNull('record', 'Number of atoms in the file, such as 871.'),
      resolve: (structure) => read(structure, ({ atomCount }) => atomCount),
    }),
  }),
});
