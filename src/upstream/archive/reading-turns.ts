// Who reads a large archive. Several at once would all be held in memory until the last of them has been read, and none would be answered
// any sooner: reading is this process' own work. It knows nothing of archives.

/** Milliseconds that the next bytes may be on their way, or these be dealt with, before another goes on. */
const PATIENCE = 15;

const waiting: { readonly reader: symbol; go(): void }[] = [];
let reading: symbol | undefined;

function pass(reader: symbol): void {
  if (reading !== reader) return;
  const next = waiting.shift();
  reading = next?.reader;
  next?.go();
}

/** Gives bytes on while it is this reader's turn, which is so until they end or are long in coming. */
export async function* inTurn(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = Symbol();
  const wait = () => setTimeout(() => pass(reader), PATIENCE);
  let late = wait();
  try {
    for await (const bytes of source) {
      clearTimeout(late);
      reading ??= reader;
      if (reading !== reader) await new Promise<void>((go) => waiting.push({ reader, go }));
      late = wait();
      yield bytes;
    }
  } finally {
    clearTimeout(late);
    pass(reader);
  }
}
