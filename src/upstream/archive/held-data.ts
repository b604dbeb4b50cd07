// Data that were unpacked to be checked and will most likely be wanted again in a moment: held, so that they need not be unpacked twice, as
// far as all that is held in this process stays small, and for a second at most. It knows nothing of what they are.

/** Bytes that are held at most, of all archives together: who does not fit in is unpacked again, some 50 µs for a structure. */
const MOST_BYTES = 16 * 1024 ** 2;
const HELD_MS = 1000;

export interface Held {
  /** The data, unless they are held no more. */
  peek(): Uint8Array | undefined;
  /** The same, and lets them go. */
  take(): Uint8Array | undefined;
}

interface Place {
  data: Uint8Array | undefined;
}

const places = new Set<Place>();
let bytes = 0;

let forgetting: ReturnType<typeof setTimeout> | undefined;

function letGo(place: Place): void {
  if (!places.delete(place)) return;
  bytes -= place.data?.length ?? 0;
  place.data = undefined;
}

/** Holds data for whoever asks first. */
export function hold(data: Uint8Array): Held {
  const place: Place = { data };
  if (bytes + data.length > MOST_BYTES) place.data = undefined;
  else {
    places.add(place);
    bytes += data.length;
    forgetting ??= setTimeout(() => {
      forgetting = undefined;
      places.forEach(letGo);
    }, HELD_MS).unref();
  }
  return {
    peek: () => place.data,
    take() {
      const { data: found } = place;
      letGo(place);
      return found;
    },
  };
}
