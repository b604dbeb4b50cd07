// Confidence files as a program for AlphaFold 3 reads them, by a real python3: it finds the scores
// that the gateway says.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { openBench, protein } from '../../folding/bench.ts';
import { at, listAt } from '../../support.ts';

const READER = fileURLToPath(new URL('read_confidences.py', import.meta.url));
// To the sandbox hydrophobic chains bind well.
const STICKY = 'MAVILFWCVALIMFAVWLICAVFILMWVCAKLEDRAVILM';
const DESIGN = {
  includePae: true,
  includePairChainsIptm: true,
  chains: [
    { protein: { ids: ['A'], sequence: STICKY, modifications: [{ position: 4, ccd: 'SEP' }] } },
    { protein: { ids: ['B'], sequence: STICKY.slice(0, 30) } },
    { rna: { ids: ['R'], sequence: 'GGAUCCGGAU' } },
    { ligand: { ids: ['L'], ccd: ['ATP'] } },
  ],
};

it.each(['token', 'atom'] as const)('rows for each %s are read as AlphaFold 3 writes them', async (rows) => {
  const bench = await openBench({}, { resultForm: { rows, entities: 'kind' } });
  const folder = mkdtempSync(join(tmpdir(), 'foldatlas-confidences-'));
  onTestFinished(async () => {
    await bench.close();
    rmSync(folder, { recursive: true });
  });
  const batch = await bench.submit({ items: [DESIGN, protein('GIV')] });
  await bench.pass(120_000);
  for (const file of ['confidences.json', 'summary_confidences.json', 'structure.cif'])
    writeFileSync(join(folder, file), await (await bench.download(`/tasks/${batch}-00000/${file}`)).text());
  const found: unknown = JSON.parse(execFileSync('python3', [READER, folder], { encoding: 'utf8' }));
  const { data } = await bench.ask(
    'query($id: ID!) { task(taskId: $id) { result { chainPairs { a b iptm ipsae lis } } } }',
    { id: `${batch}-00000` },
  );
  const pairs = listAt(data, 'task.result.chainPairs').filter((pair) => at(pair, 'ipsae') !== null);
  expect(pairs).toHaveLength(6);
  for (const pair of pairs) {
    const [a, b] = [at(pair, 'a'), at(pair, 'b')];
    const [forth, back] = [at(found, `scores.${a}${b}`), at(found, `scores.${b}${a}`)];
    expect(at(pair, 'ipsae')).toBeCloseTo(Number(at(forth, 'ipsae')), 5);
    expect(at(pair, 'lis')).toBeCloseTo((Number(at(forth, 'lis')) + Number(at(back, 'lis'))) / 2, 5);
  }
  expect(pairs.some((pair) => Number(at(pair, 'ipsae')) > 0.1)).toBe(true);
  expect(at(found, 'iptm')).toBe(at(pairs[0], 'iptm'));
});
