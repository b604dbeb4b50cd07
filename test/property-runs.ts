// How many random cases a property is tried with: few in each run of the suite, more by TEST_RUNS.

/**
 * @param few - cases in a usual run; `TEST_RUNS=20 npx vitest run ...` tries twenty times as many
 */
export const runs = (few: number): number => Math.ceil(few * Number(process.env.TEST_RUNS ?? 1));
