// The thread that parses large JSON, so that the main loop does not stand still meanwhile. It keeps nothing.
import { parseLenient } from './lenient-json.ts';
import { handleWorkerMessages } from './worker-thread.ts';

handleWorkerMessages((bytes) =>
  parseLenient(new TextDecoder().decode(bytes instanceof Uint8Array ? bytes : undefined)),
);
