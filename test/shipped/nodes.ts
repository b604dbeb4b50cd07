// Versions of Node by npm's packages of it, whose binary needs no install script. Installed once
// into node_modules/.cache.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../root.ts';

const run = promisify(execFile);

/** The environment of a program: without the settings that npm hands to its scripts. */
export const PLAIN_ENV = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' };

/**
 * Settings of npm for a folder without an .npmrc: no scripts, and what `npm ci` has fetched is
 * fetched no more.
 */
export const NPM_ENV = {
  ...PLAIN_ENV,
  npm_config_ignore_scripts: 'true',
  npm_config_prefer_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
};

/** The folder with the `node` of a major version, for PATH. */
export async function installNode(major: number): Promise<string> {
  if (process.versions.node.startsWith(`${major}.`)) return dirname(process.execPath);
  const name = `node-${process.platform}-${process.arch}`;
  const cache = join(ROOT, 'node_modules/.cache/nodes');
  const place = join(cache, String(major));
  const folder = join(place, 'node_modules', name, 'bin');
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  // Another test file may install the same one: the first that is whole stays.
  const fresh = mkdtempSync(`${place}-`);
  await run('npm', ['install', '--prefix', fresh, `${name}@${major}`], { env: NPM_ENV });
  try {
    renameSync(fresh, place);
  } catch (error) {
    rmSync(fresh, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

/** An environment in which `node`, and `npx` with it, are of a folder. */
export const withNode = (folder: string, env: Readonly<Record<string, string>> = {}) => ({
  ...NPM_ENV,
  ...env,
  PATH: `${folder}:${NPM_ENV.PATH}`,
});
