// The packages that an installation of the gateway brings, by package-lock.json: neither those of
// development nor the optional sandbox.
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../../root.ts';

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const { packages }: { readonly packages: Readonly<Record<string, Manifest>> } = JSON.parse(
  readFileSync(`${ROOT}package-lock.json`, 'utf8'),
);

function neededPackages(path: string): string[] {
  const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = packages[path] ?? {};
  const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional);
  return [...Object.keys(dependencies), ...peers];
}

function installedPackages(): string[] {
  const found = new Set(neededPackages(''));
  // A set goes on to what is added to it meanwhile.
  for (const name of found) for (const needed of neededPackages(`node_modules/${name}`)) found.add(needed);
  return [...found];
}

/** Their names, such as `@redis/client`. */
export const INSTALLED_PACKAGES: readonly string[] = installedPackages();

/** Puts them into a folder, as `npm install foldatlas` does. */
export function linkInstalledPackages(folder: string): void {
  for (const name of INSTALLED_PACKAGES) {
    const target = join(folder, name);
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), target);
  }
}
