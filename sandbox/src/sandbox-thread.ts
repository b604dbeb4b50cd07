// The thread that a sandbox runs in when it is embedded: starts it with the options it was given,
// reports its URL, ends when told.
import { parentPort, workerData } from 'node:worker_threads';
import { startSandbox, type ThreadMessage, type ThreadOptions } from './sandbox.ts';

const options: ThreadOptions = workerData;
const tell = (message: ThreadMessage): void => parentPort?.postMessage(message);

try {
  const sandbox = await startSandbox({ ...options, onProgress: (line) => tell({ progress: line }) });
  parentPort?.once('message', () => {
    void sandbox.close().finally(() => process.exit(0));
  });
  tell({ url: sandbox.url });
} catch (error) {
  const { message, name } = error instanceof Error ? error : new Error(String(error));
  tell({ failure: message, name });
  process.exit(1);
}
