// Worker thread that parses large JSON, which would block the event loop.
import { parseLenient } from './lenient-json.ts';
import { handleWorkerMessages } from './worker-thread.ts';

handleWorkerMessages((bytes) =>
  parseLenient(new TextDecoder().decode(bytes instanceof Uint8Array ? bytes : undefined)),
);
