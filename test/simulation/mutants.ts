// Faults that the gateway had once, or could have. The simulator has to find each.

interface Mutant {
  /** The file of the gateway. */
  readonly file: string;
  /** Texts that stand there once, and what stands there instead. */
  readonly replacements: readonly (readonly [text: string, fault: string])[];
}

export const MUTANTS = {
  'tolerance of two seconds': {
    file: 'src/store/ledger/mark.ts',
    replacements: [['return newest < known.newest ?', 'return newest < known.newest - 2_000 ?']],
  },
  'one former secret': {
    file: 'src/store/ledger/principals.ts',
    replacements: [['[] : formerSecrets(secrets).map(', '[] : formerSecrets(secrets).slice(-1).map(']],
  },
  'claim after Submit': {
    file: 'src/store/ledger/sqlite-ledger.ts',
    replacements: [
      [
        "put(names[0], 'key', key, at, JSON.stringify({ requestHash, state: 'pending' })),",
        'void [names, at, requestHash],',
      ],
    ],
  },
  'Submit sent again': {
    file: 'src/upstream/batch.ts',
    replacements: [["new Set(['list', 'status'])", "new Set(['list', 'status', 'submit'])"]],
  },
  'lease without end': {
    file: 'src/store/lease.ts',
    replacements: [['expected: heldVersion(), lifetimeMs }', 'expected: heldVersion(), lifetimeMs: 1e12 }']],
  },
} as const satisfies Record<string, Mutant>;
export type MutantName = keyof typeof MUTANTS;
export const MUTANT_NAMES = Object.keys(MUTANTS) as MutantName[];
