// A structure as a file: where it can be downloaded, and its text for a caller who wants it inside the answer. It
// must not know how the text is made; that is deferred until somebody selects it.

import type { LazyText } from '../structure/lazy-text.ts';
import { builder } from './builder.ts';

export const StructureFormat = builder.enumType('StructureFormat', {
  description: 'File formats of a structure.',
  values: {
    PDB: {
      description: 'The old fixed-column format: at most 99,999 atoms and chains named by one character.',
    },
    MMCIF: { description: 'The format of the Protein Data Bank, without limits on size or names.' },
  } as const,
});

/** The text of a structure file and how many atoms it holds. */
export interface LoadedStructure {
  readonly text: string | LazyText;
  readonly atomCount: number;
}

/** A structure that exists. `load` may be called twice in one request (text and atomCount) and must then do its work once. */
export interface StructureShape {
  readonly format: typeof StructureFormat.$inferType;
  readonly url: string;
  load(): LoadedStructure | Promise<LoadedStructure>;
}

/** Reads something off the file, at once where it is loaded. */
function read<T>(structure: StructureShape, of: (loaded: LoadedStructure) => T): T | Promise<T> {
  const loaded = structure.load();
  return loaded instanceof Promise ? loaded.then(of) : of(loaded);
}

export const Structure = builder.objectRef<StructureShape>('Structure').implement({
  description:
    'A structure file. `url` costs nothing and is served by the gateway; `text` is the whole file.',
  fields: (t) => ({
    format: t.expose('format', {
      public: 'record',
      type: StructureFormat,
      nullable: false,
      description: 'The format that was asked for.',
    }),
    url: t.expose('url', {
      public: 'record',
      type: 'URL',
      nullable: false,
      description: 'Where the gateway serves this file. Selecting it loads nothing.',
    }),
    text: t.string({
      public: 'record',
      nullable: false,
      description: 'The whole file. Coordinates in ångström, pLDDT in the B-factor column.',
      resolve: (structure) => read(structure, ({ text }) => text),
    }),
    atomCount: t.int({
      public: 'record',
      nullable: false,
      description: 'Number of atoms in the file.',
      resolve: (structure) => read(structure, ({ atomCount }) => atomCount),
    }),
  }),
});
