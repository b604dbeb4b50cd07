// The gateway's API keys, reloaded when their file changes and compared in constant time.
import { createHash, timingSafeEqual } from 'node:crypto';
import { type GatewayKey, readKeyFile } from '../../config/api-keys.ts';

export interface ApiKeys {
  /** Finds the given key. */
  find(given: string): GatewayKey | undefined;
  /** Reads the file again. When it is missing or invalid, the keys stay as they are. */
  reload(): void;
  close(): void;
}

export interface ApiKeysOptions {
  readonly keys: readonly GatewayKey[];
  readonly file: string | undefined;
  /** How often the file is read again. */
  readonly reloadMs?: number;
  /** Called with each new fault of the file. */
  readonly onError: (error: unknown) => void;
}

const RELOAD_MS = 2_000;
const digest = (key: string): Buffer => createHash('sha256').update(key).digest();

/**
 * Opens the keys.
 *
 * @throws Error when the file cannot be read at the start
 */
export function openApiKeys({ keys, file, reloadMs = RELOAD_MS, onError }: ApiKeysOptions): ApiKeys {
  const read = () =>
    (file === undefined ? keys : [...keys, ...readKeyFile(file, keys)]).map((key) => ({
      key,
      digest: digest(key.key),
    }));
  let current = read();
  let lastFault = '';

  function reload(): void {
    try {
      current = read();
      lastFault = '';
    } catch (error) {
      if (String(error) !== lastFault) onError(error);
      lastFault = String(error);
    }
  }

  // Read by its path, not followed by its inode: secrets that are mounted are replaced as a whole.
  const reloading = file === undefined ? undefined : setInterval(reload, reloadMs).unref();
  return {
    find(given) {
      const wanted = digest(given);
      // All keys are compared, so that the duration reveals nothing.
      return current.filter((known) => timingSafeEqual(known.digest, wanted)).at(0)?.key;
    },
    reload,
    close: () => clearInterval(reloading),
  };
}
