// The attacks of `npm run soak -- --hostile`, smaller: a built gateway with a heap of 400 MB lives through each of them, answers others
// meanwhile, and has every descriptor back.
import { expect, it } from 'vitest';
import { ATTACKS } from '../../scripts/soak/attacks.ts';
import { problemsOf, runAttacks } from '../../scripts/soak/hostile.ts';

/** Ten times what is expected of a machine that does nothing else. */
const BOUNDS = { peak: 600e6, health: 5_000 };

it.skipIf(process.platform !== 'linux')(
  'a gateway lives through every attack of its clients and of the service, and has its descriptors back',
  async () => {
    const findings = await runAttacks(ATTACKS, true);
    expect(findings).toHaveLength(ATTACKS.length);
    const problems = findings.flatMap((finding) =>
      problemsOf(finding, BOUNDS).map((problem) => `${finding.attack}: ${problem}`),
    );
    expect(problems).toEqual([]);
  },
  240_000,
);
