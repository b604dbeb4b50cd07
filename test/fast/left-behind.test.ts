// What has died young is given back at once when it is asked for.
import { getHeapSpaceStatistics } from 'node:v8';
import { expect, test } from 'vitest';
import { collectYoung } from '../../src/left-behind.ts';

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_used_size ??
  Number.NaN;

test('the young generation is collected, now and again', () => {
  for (let round = 0; round < 3; round++) {
    let made = 0;
    for (let i = 0; i < 20_000; i++) made += Object.keys({ [`name ${i}`]: i }).length;
    expect(made).toBe(20_000);
    const before = youngBytes();
    collectYoung();
    expect(youngBytes()).toBeLessThan(before);
  }
});
