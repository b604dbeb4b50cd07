// The front-end example, built and served by Vite's own preview with its proxy to a gateway.
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { endWithFile } from '../../child-processes.ts';
import { NO_BROWSER } from './chromium.ts';

export const EXAMPLE = fileURLToPath(new URL('../../../examples/frontend', import.meta.url));
/** Its packages are its own: `npm ci` there, as CI does, or there is nothing to build. */
export const NO_FRONTEND =
  NO_BROWSER || (process.env.CI === undefined && !existsSync(join(EXAMPLE, 'node_modules')));

/** Runs a command of its packages in its folder. */
export const runInExample = (path: string, args: readonly string[] = []) =>
  promisify(execFile)(process.execPath, [join(EXAMPLE, 'node_modules', path), ...args], { cwd: EXAMPLE });

export interface Preview {
  /** With a final slash. */
  readonly url: string;
  close(): Promise<void>;
}

/** Builds and serves it. @param gateway - origin of the gateway that it asks */
export async function openPreview(gateway: string): Promise<Preview> {
  const built = await mkdtemp(join(tmpdir(), 'frontend-'));
  await runInExample('vite/bin/vite.js', [
    'build',
    '--outDir',
    built,
    '--emptyOutDir',
    '--logLevel',
    'error',
  ]);
  const child = endWithFile(
    spawn(
      process.execPath,
      ['node_modules/vite/bin/vite.js', 'preview', '--host', '127.0.0.1', '--port', '0', '--outDir', built],
      { cwd: EXAMPLE, env: { ...process.env, GATEWAY: gateway, NO_COLOR: '1' } },
    ),
  );
  const url = await new Promise<string>((resolve, reject) => {
    let said = '';
    const listen = (chunk: Buffer) => {
      said += chunk.toString();
      const [address] = /http:\/\/127\.0\.0\.1:\d+\//.exec(said) ?? [];
      if (address !== undefined) resolve(address);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.once('exit', () => reject(new Error(`vite preview ended: ${said}`)));
  });
  return {
    url,
    async close() {
      child.removeAllListeners('exit');
      child.kill();
      await rm(built, { recursive: true });
    },
  };
}

/** A part of the page as a person would see it. */
export interface Seen {
  /** How many different colours. */
  readonly colours: number;
  /** The part of width and height that is not background, from 0 to 1, such as [0.1, 0.9]. */
  readonly across: readonly [number, number];
  readonly down: readonly [number, number];
}

export async function look(page: Page, part: Locator): Promise<Seen> {
  const png = (await part.screenshot()).toString('base64');
  return page.evaluate(async (base64) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob());
    const { width, height } = image;
    const context = new OffscreenCanvas(width, height).getContext('2d');
    context?.drawImage(image, 0, 0);
    const pixels = new Uint32Array(context?.getImageData(0, 0, width, height).data.buffer ?? []);
    let [left, right, top, bottom] = [width, 0, height, 0];
    pixels.forEach((pixel, i) => {
      if (pixel === pixels[0]) return;
      const [x, y] = [i % width, Math.floor(i / width)];
      [left, right] = [Math.min(left, x), Math.max(right, x + 1)];
      [top, bottom] = [Math.min(top, y), Math.max(bottom, y + 1)];
    });
    return {
      colours: new Set(pixels).size,
      across: [left / width, right / width] as const,
      down: [top / height, bottom / height] as const,
    };
  }, png);
}
