// The attacks of `npm run soak -- --hostile`, smaller: a built gateway with a heap of 400 MB lives
// through each of them, answers others meanwhile, and has every descriptor back.
import { expect, it } from 'vitest';
import { ATTACKS } from '../../../scripts/soak/attacks.ts';
import { findProblems, runAttacks } from '../../../scripts/soak/hostile.ts';

/**
 * As `npm run soak -- --hostile`, but for the time in which a shared machine lets the gateway wait
 * for a core.
 */
const BOUNDS = { peak: 500e6, health: 15_000, ownHealth: 2_000 };

it.skipIf(process.platform !== 'linux')(
  'a gateway lives through every attack of its clients and of the service, and has its descriptors back',
  async () => {
    const findings = await runAttacks(ATTACKS, true);
    console.log(
      findings
        .map((f) => [f.attack, (f.peak / 1e6) | 0, f.health | 0, f.ownHealth | 0, f.late | 0].join(' '))
        .join('\n'),
    );
    expect(findings).toHaveLength(ATTACKS.length);
    const problems = findings.flatMap((finding) =>
      findProblems(finding, BOUNDS).map((problem) => `${finding.attack}: ${problem}`),
    );
    expect(problems).toEqual([]);
  },
  600_000,
);
