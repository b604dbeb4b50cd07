// Shared by the tests of folding through GraphQL: a sandbox whose clock is held, a gateway over it,
// and short words for submitting and for letting time pass.
import { ManualClock } from '../../sandbox/src/clock.ts';
import type { SandboxOptions } from '../../sandbox/src/sandbox.ts';
import { type Answer, at, openWorld, type World } from '../support.ts';

export const INSULIN_A = 'GIVEQCCTSICSLYQLENYCN';
export const INSULIN_B = 'FVNQHLCGSHLVEALYLVCGERGFFYTPKT';

export interface Bench extends World {
  /** Asks with a key of the service; another one when told. */
  ask(query: string, variables?: Record<string, unknown>, key?: string): Promise<Answer>;
  /** Fetches a file of the gateway with a key of the service. @param path - or its URL */
  download(path: string): Promise<Response>;
  /** Submits and gives the batch id. @throws when it was not submitted */
  submit(input: Record<string, unknown>, key?: string): Promise<string>;
  /** Lets time pass upstream, in milliseconds. */
  pass(ms: number): Promise<void>;
  /** Asks the sandbox's control routes. */
  control(path: string, body: unknown): Promise<void>;
  /** Makes the next requests of an operation go wrong. */
  fault(rule: Record<string, unknown>): Promise<void>;
}

const KEY = 'key-of-a-test';
const SUBMIT = `mutation($input: SubmitFoldInput!) { submitFold(input: $input) { __typename ... on FoldSubmitted { batch { batchId } } ... on Problem { message } } }`;

/** Opens a bench. Task durations are the sandbox's; the clock stands still until `pass`. */
export async function openBench(
  env: Record<string, string> = {},
  options: SandboxOptions = {},
  onLog?: (line: string) => void,
): Promise<Bench> {
  const clock = new ManualClock(Date.now());
  const world = await openWorld(env, { clock, control: true, ...options }, onLog);
  const ask: Bench['ask'] = (query, variables = {}, key = KEY) =>
    world.query(query, variables, { authorization: `Bearer ${key}` });
  const control: Bench['control'] = async (path, body) => {
    const answer = await fetch(`${world.sandboxUrl}/control/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`control ${path}: ${await answer.text()}`);
  };
  return {
    ...world,
    // The control routes are the tests' own and no part of what the gateway costs.
    counts: () => {
      const { control: _, ...counts } = world.counts();
      return counts;
    },
    ask,
    control,
    download: (path) =>
      world.gateway.fetch(
        new Request(new URL(path, 'http://gateway.test'), { headers: { authorization: `Bearer ${KEY}` } }),
      ),
    async submit(input, key) {
      const { data, errors } = await ask(SUBMIT, { input }, key);
      const batchId = at(data, 'submitFold.batch.batchId');
      if (typeof batchId !== 'string') throw new Error(`not submitted: ${JSON.stringify({ data, errors })}`);
      return batchId;
    },
    pass: (ms) => control('clock', { advance_ms: ms }),
    fault: (rule) => control('faults', rule),
  };
}

/** A named item of one chain. */
export const protein = (sequence: string, name?: string): Record<string, unknown> => ({
  ...(name === undefined ? {} : { name }),
  chains: [{ protein: { sequence } }],
});

/** Tiny proteins, each different. */
export const tiny = (count: number): Record<string, unknown>[] =>
  Array.from({ length: count }, (_, i) => {
    const letter = (n: number) => 'ACDEFGHIKLMNPQRSTVWY'.charAt(n % 20);
    return protein(letter(i) + letter(Math.floor(i / 20)) + letter(Math.floor(i / 400)), `tiny-${i}`);
  });
