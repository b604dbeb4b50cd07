// The browser of the tests: Debian's chromium without its window, with every connection of its own
// turned off. The whole chromium serves where only that is installed; it draws its own window too,
// which costs more than the pages do.
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const HEADLESS = '/usr/bin/chromium-headless-shell';
const EXECUTABLE = process.env.CHROMIUM ?? (existsSync(HEADLESS) ? HEADLESS : '/usr/bin/chromium');

/** Without a browser these tests are skipped, never on CI. */
export const NO_BROWSER = process.env.CI === undefined && !existsSync(EXECUTABLE);

/** Draws WebGL without a graphics card. */
export const SOFTWARE_WEBGL = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader'];

/** Starts the browser; the caller closes it. */
export const launchBrowser = (more: readonly string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: EXECUTABLE,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...more,
    ],
  });
