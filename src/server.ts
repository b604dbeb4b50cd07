// The server, as it is started. Nothing but this file and what it runs acts when it is imported.
import { run } from './process/run.ts';

await run();
