// A client without any gateway: asks the service itself and reads the answers by hand, with Node's
// own inflate. It listens nowhere; the bench tells it over its channel what to do and how many at a
// time.
import { listHashes } from '../world/facts.ts';
import { openService, readArchive, type Wanted } from './sources.ts';

/** The fields that the bench asks for. */
export interface Work {
  /** The number of the first protein, and how many are in a list. */
  readonly from: number;
  readonly size: number;
  readonly wanted: Wanted;
  /** Calls at the same time. */
  readonly connections: number;
  readonly seconds: number;
  /** Lists at most. */
  readonly requests: number;
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

/** Hashes made before the work, so that making them is not measured. */
let made: { readonly from: number; readonly hashes: readonly string[] } = { from: 0, hashes: [] };

function listFrom(from: number, size: number): readonly string[] {
  const list = made.hashes.slice(from - made.from, from - made.from + size);
  return list.length === size ? list : listHashes(from, size);
}

/** @returns how long each list took, milliseconds */
async function run({ from, size, wanted, connections, seconds, requests }: Work): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + seconds * 1000;
  let begun = 0;
  const goOn = async (): Promise<void> => {
    while (begun < requests && performance.now() < end) {
      const list = listFrom(from + begun * size, size);
      begun += 1;
      const since = performance.now();
      if ((await lookUp(list, wanted)) !== list.length) throw new Error('a protein is missing');
      times.push(performance.now() - since);
    }
  };
  await Promise.all(Array.from({ length: connections }, goOn));
  return times;
}

process.on('message', (message: unknown) => {
  if (typeof message !== 'object' || message === null) return;
  if ('hashesFrom' in message && 'count' in message) {
    const from = Number(message.hashesFrom);
    made = { from, hashes: listHashes(from, Number(message.count)) };
    process.send?.(null);
  }
  if ('wanted' in message) run(message as Work).then((times) => process.send?.(times));
});
process.stdout.write('listening nowhere\n');
setInterval(() => undefined, 60_000);
