// Worker thread that reads large folding results.
import { handleWorkerMessages } from '../json/worker-thread.ts';
import { readFoldSync } from './read-fold.ts';

handleWorkerMessages((bytes) => readFoldSync(bytes as Uint8Array));
