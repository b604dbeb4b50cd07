// The gateway's API keys at run time: compared in constant time, reloaded when their file changes.
import { timingSafeEqual } from 'node:crypto';
import { type GatewayKey, readKeyFile } from './api-key-file.ts';
import { sha256 } from './timing-safe.ts';

export interface ApiKeys {
  /**
   * Finds the given key. Compares all keys, each in constant time, so that the duration reveals
   * nothing.
   */
  find(given: string): GatewayKey | undefined;
  /**
   * Reloads the file. When it is missing or invalid, the keys stay as they are and an error is
   * logged.
   */
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
