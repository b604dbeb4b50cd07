// The gateway's User-Agent.
import { VERSION } from '../../version.ts';

/** Product and version. */
export const USER_AGENT = `FoldAtlas/${VERSION}`;
