// The gateway's own keys while it runs: compared in constant time, read again when their file changes. It must not know what a
// key opens.
import { timingSafeEqual } from 'node:crypto';
import { type GatewayKey, readKeyFile } from './api-key-file.ts';
import { sha256 } from './timing-safe.ts';

export interface ApiKeys {
  /** The key that was given, if it is one of them. Every key is compared, each in constant time, so that the delay tells nothing. */
  find(given: string): GatewayKey | undefined;
  /** Reads the file again. One that is missing or wrong leaves the keys as they are and is told. */
  reload(): void;
  close(): void;
}

export interface ApiKeysOptions {
  readonly keys: readonly GatewayKey[];
  readonly file: string | undefined;
  /** How often the file is looked at. */
  readonly everyMs?: number;
  readonly onError: (error: unknown) => void;
}

interface Held {
  readonly key: GatewayKey;
  readonly digest: Buffer;
}

const hold = (keys: readonly GatewayKey[]): Held[] => keys.map((key) => ({ key, digest: sha256(key.key) }));

/**
 * Opens the keys.
 *
 * @throws Error when the file cannot be read at the start
 */
export function openApiKeys(options: ApiKeysOptions): ApiKeys {
  const { keys, file, everyMs = 2_000, onError } = options;
  let held = hold(file === undefined ? keys : [...keys, ...readKeyFile(file)]);
  let trouble = '';

  function reload(): void {
    if (file === undefined) return;
    try {
      held = hold([...keys, ...readKeyFile(file)]);
      trouble = '';
    } catch (error) {
      // Told once, however often it is looked at.
      if (String(error) !== trouble) onError(error);
      trouble = String(error);
    }
  }

  // Read by its path, not followed by its inode: secrets that are mounted are replaced as a whole.
  const looking = file === undefined ? undefined : setInterval(reload, everyMs).unref();
  return {
    find(given) {
      const digest = sha256(given);
      return held.filter((one) => timingSafeEqual(one.digest, digest)).at(0)?.key;
    },
    reload,
    close: () => clearInterval(looking),
  };
}
