// Folding results for the tests: a small complex written by hand, and a large one of any size. They
// say nothing of science.

/**
 * Two protein chains, the second with a modified residue, a strand of RNA, DNA and a ligand with
 * odd names.
 */
export function smallFold() {
  const tokens = [
    ['MET', 0, ['N', 'CA', 'C', 'O']],
    ['GLY', 0, ['N', 'CA', 'C', 'O']],
    ['SEP', 0, ['N', 'CA', 'C', 'O', 'OG']],
    ['MET', 1, ['N', 'CA']],
    ['GLY', 1, ['N', 'CA']],
    ['A', 2, ["O5'", "C5'", 'N9']],
    ['U', 2, ['P', "O5'", "C5'"]],
    ['DA', 3, ["O5'", "C5'"]],
    ['DT', 3, ['P', "O5'"]],
    ['ATP', 4, ['PG', "O5'", 'C"8', `O'"1`]],
    ['MG', 5, ['MG']],
  ] as const;
  let atoms = 0;
  const ranges = tokens.map(([, , names]) => {
    const start = atoms;
    atoms += names.length;
    return [start, atoms];
  });
  const names = tokens.flatMap(([, , list]): string[] => [...list]);
  const plddt = tokens.map((_, k) => Number((0.97 - 0.05 * k).toFixed(2)));
  const slots = tokens.flatMap(([, chain], k) =>
    k > 0 && tokens[k - 1]?.[1] !== chain ? [null, plddt[k] ?? null] : [plddt[k] ?? null],
  );
  return {
    complex: {
      id: 'complex 1',
      sequence: tokens.map(([name]): string => name),
      atom_positions: names.map((_, k) => [k * 1.5 - 20, Math.round(1000 * Math.sin(k)) / 100, -k / 8]),
      atom_elements: names.map((name) => (name === 'MG' ? 'Mg' : (/[A-Z]/.exec(name)?.[0] ?? 'C'))),
      atom_names: names,
      atom_hetero: tokens.flatMap(([name, , list]) => list.map(() => ['SEP', 'ATP', 'MG'].includes(name))),
      token_to_atoms: ranges,
      chain_id: tokens.map(([, chain]): number => chain),
      plddt,
      metadata: {
        entity_lookup: {},
        chain_lookup: { '0': 'A', '1': 'B', '2': 'R', '3': 'D', '4': 'L', '5': 'M' } as Record<
          string,
          string
        >,
        assembly_composition: null,
      },
    },
    plddt: slots,
    ptm: 0.8123,
    interface_ptm: 0.7,
    pae: tokens.map((_, r) => tokens.map((_t, c) => (r === c ? 0.25 : Math.abs(r - c)))),
    pair_chains_iptm: Array.from({ length: 6 }, (_, r) => Array.from({ length: 6 }, (_c, c) => (r + c) / 10)),
    model: 'foldmodel',
    created: '2026-11-21T00:00:00Z',
    tokens_used: 11,
    warning_messages: ['A stand-in; no prediction.\n;Not even "close".'],
  };
}

/** One chain of alanines with a PAE of `size` squared numbers. */
export function largeFold(size: number, withPae = true) {
  const names = ['N', 'CA', 'C', 'O', 'CB'];
  return {
    complex: {
      id: 'large',
      sequence: Array.from({ length: size }, () => 'ALA'),
      atom_positions: Array.from({ length: size * 5 }, (_, k) => [k % 90, (k * 7) % 80, (k * 13) % 70]),
      atom_elements: Array.from({ length: size }, () => ['N', 'C', 'C', 'O', 'C']).flat(),
      atom_names: Array.from({ length: size }, () => names).flat(),
      atom_hetero: Array.from({ length: size * 5 }, () => false),
      token_to_atoms: Array.from({ length: size }, (_, k) => [k * 5, k * 5 + 5]),
      chain_id: Array.from({ length: size }, () => 0),
      plddt: Array.from({ length: size }, (_, k) => (k % 100) / 100),
      metadata: { chain_lookup: { '0': 'A' } },
    },
    plddt: Array.from({ length: size }, (_, k) => (k % 100) / 100),
    ptm: 0.5,
    pae: Array.from({ length: withPae ? size : 0 }, (_, r) =>
      Array.from({ length: size }, (_c, c) => Math.round(100 * (((r * 31 + c * 17) % 997) / 32)) / 100),
    ),
  };
}
