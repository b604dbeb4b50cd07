// The setting with which every peer is started, and how it says where it listens.
import { openService, openSources, readCatalogue, type Sources, type Way } from './sources.ts';

/** The service, and a function that makes the sources of a request. */
export async function openSetting(): Promise<{ sources: () => Sources }> {
  const service = openService(process.env.UPSTREAM_URL ?? '');
  const catalogue = await readCatalogue(service);
  const way: Way = process.env.WAY === 'bulk' ? 'bulk' : 'records';
  return { sources: () => openSources(service, catalogue, way) };
}

export const tell = (port: number): void => void process.stdout.write(`listening http://127.0.0.1:${port}\n`);
