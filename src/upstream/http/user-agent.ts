// How the gateway names itself to the service.
import { VERSION } from '../../version.ts';

/** Product and version. */
export const USER_AGENT = `FoldAtlas/${VERSION}`;
