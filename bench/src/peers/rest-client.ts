// A client without any gateway: asks the service itself and reads the answers by hand, with Node's own inflate. It listens nowhere;
// the bench tells it over its channel what to do and how many at a time.
import { openService, readArchive, type Wanted } from './sources.ts';

interface Work {
  /** The lists to look up, each in one call, or in one call for each 500. */
  readonly lists: readonly (readonly string[])[];
  readonly wanted: Wanted;
  /** At the same time. */
  readonly connections: number;
}

const BULK = 500;
const service = openService(process.env.UPSTREAM_URL ?? '');

async function lookUp(hashes: readonly string[], wanted: Wanted): Promise<number> {
  const parts = Array.from({ length: Math.ceil(hashes.length / BULK) }, (_, n) =>
    hashes.slice(n * BULK, (n + 1) * BULK),
  );
  const found = await Promise.all(
    parts.map(async (part) => readArchive(await service.bulk(part, wanted), part).size),
  );
  return found.reduce((sum, size) => sum + size, 0);
}

/** @returns how long each list took, milliseconds */
async function run({ lists, wanted, connections }: Work): Promise<number[]> {
  const times: number[] = [];
  const left = [...lists];
  const goOn = async (): Promise<void> => {
    for (let list = left.shift(); list !== undefined; list = left.shift()) {
      const since = performance.now();
      if ((await lookUp(list, wanted)) !== list.length) throw new Error('a protein is missing');
      times.push(performance.now() - since);
    }
  };
  await Promise.all(Array.from({ length: connections }, goOn));
  return times;
}

process.on('message', (message: unknown) => {
  if (typeof message !== 'object' || message === null || !('lists' in message)) return;
  run(message as Work).then((times) => process.send?.(times));
});
process.stdout.write('listening nowhere\n');
setInterval(() => undefined, 60_000);
