// The server, as it is started: sets V8 up before anything else is loaded, and runs. Nothing but this file and what it runs acts when it is
// imported.
import { collectSeldom, keepYoungSmall } from './left-behind.ts';
import { closeGaps, makeAllYoung } from './process/young-objects.ts';

makeAllYoung();
keepYoungSmall();
const { run } = await import('./run.ts');
await run();
closeGaps();
collectSeldom();
