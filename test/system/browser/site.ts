// Shared by the tests of the pages: a gateway over HTTP, a browser, and pages that record what
// must not happen on them.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { openWorld, type World } from '../../support.ts';
import { launchBrowser } from './chromium.ts';

export interface OpenPage extends Page {
  /**
   * Console errors, page errors, failed requests and requests to anywhere but the gateway, so far.
   */
  readonly troubles: string[];
}

export interface Site {
  readonly world: World;
  /** With a final slash. */
  readonly url: string;
  /** The addresses that pages may ask: the gateway's, and others that a test adds. */
  readonly allowed: string[];
  /** A page in a new window of its own. */
  open(options?: BrowserContextOptions): Promise<OpenPage>;
  close(): Promise<void>;
}

/** Starts a gateway, listens, starts the browser. */
export async function openSite(
  env: Record<string, string> = {},
  browserArgs: readonly string[] = [],
): Promise<Site> {
  const world = await openWorld(env, { speed: 20 });
  const server = createServer(world.gateway.listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const allowed = [url];
  const browser = await launchBrowser(browserArgs);
  return {
    world,
    url,
    allowed,
    async open(options = {}) {
      const context = await browser.newContext(options);
      // Machines that test are busy, and the first page waits for everything that is made only
      // once.
      context.setDefaultTimeout(90_000);
      const page = await context.newPage();
      const troubles: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') troubles.push(message.text());
      });
      page.on('pageerror', (error) => troubles.push(error.message));
      page.on('request', (request) => {
        if (![...allowed, 'data:', 'blob:'].some((start) => request.url().startsWith(start)))
          troubles.push(`asked ${request.url()}`);
      });
      page.on('response', (response) => {
        if (response.status() >= 400) troubles.push(`${response.status()} ${response.url()}`);
      });
      return Object.assign(page, { troubles });
    },
    async close() {
      await browser.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await world.close();
    },
  };
}

/** Takes a picture to look at, where PAGE_SHOTS names a folder. */
export async function shoot(page: Page, name: string, fullPage = false): Promise<void> {
  const folder = process.env.PAGE_SHOTS;
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage });
}

const require = createRequire(import.meta.url);
const AXE = require.resolve('axe-core/axe.min.js');

/** The faults that axe-core finds serious or critical, with the places: `color-contrast: .note`. */
export async function seriousIssues(page: Page): Promise<string[]> {
  await page.evaluate(readFileSync(AXE, 'utf8'));
  return page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id, nodes }) =>
      id + ': ' + nodes.slice(0, 5).map(({ target }) => target.join(' ')).join(', ')))`);
}

/**
 * Where axe-core finds parts outside landmarks, no level-one heading, or empty headers of tables.
 */
export async function misplacedParts(page: Page): Promise<string[]> {
  await page.evaluate(readFileSync(AXE, 'utf8'));
  return page.evaluate(`axe.run(document, { runOnly: ['region', 'landmark-one-main', 'page-has-heading-one',
    'empty-table-header', 'landmark-unique'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ': ' + target.join(' '))))`);
}

const IMAGES = new URL('../../../docs/images/', import.meta.url);

/**
 * Writes a picture of the window to docs/images, where DOCS_IMAGES=1 asks for it: `front-dark` in
 * the dark, `front-phone` at 390 px.
 */
export async function picture(page: Page, name: string): Promise<void> {
  if (process.env.DOCS_IMAGES !== '1') return;
  const size = page.viewportSize();
  await page.emulateMedia({ colorScheme: name.endsWith('-dark') ? 'dark' : 'light' });
  if (name.endsWith('-phone')) await page.setViewportSize({ width: 390, height: 780 });
  // Pictures load and the drawing of a structure follows the size of its frame.
  await page.waitForTimeout(1500);
  const png = (await page.screenshot()).toString('base64');
  await page.emulateMedia({ colorScheme: null });
  if (size !== null) await page.setViewportSize(size);
  const blank = await page.context().newPage();
  const webp = await blank.evaluate(async (base64) => {
    const bytes = await (await fetch(`data:image/png;base64,${base64}`)).blob();
    const image = await createImageBitmap(bytes);
    const canvas = new OffscreenCanvas(image.width, image.height);
    canvas.getContext('2d')?.drawImage(image, 0, 0);
    const blob = await canvas.convertToBlob({ type: 'image/webp', quality: 0.7 });
    return [...new Uint8Array(await blob.arrayBuffer())];
  }, png);
  await blank.close();
  writeFileSync(new URL(`${name}.webp`, IMAGES), Uint8Array.from(webp));
}

/**
 * Texts whose contrast with what is behind them is below that of WCAG AA: 4.5, or 3 for large ones.
 * Runs in the page, and looks at every element that holds text itself.
 */
export const faintTexts = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const known = new Map();
    const rgba = (text) => {
      if (!known.has(text)) {
        context.clearRect(0, 0, 1, 1);
        context.fillStyle = text;
        context.fillRect(0, 0, 1, 1);
        known.set(text, [...context.getImageData(0, 0, 1, 1).data]);
      }
      return known.get(text);
    };
    const light = ([r, g, b]) => {
      const [x, y, z] = [r, g, b].map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const behind = (element) => {
      for (let here = element; here !== null; here = here.parentElement) {
        const colour = rgba(getComputedStyle(here).backgroundColor);
        if (colour[3] === 255) return colour;
      }
      return [255, 255, 255, 255];
    };
    const faint = new Set();
    let seen = 0;
    for (const element of document.querySelectorAll('body *')) {
      const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
      const style = getComputedStyle(element);
      if (!own || !element.checkVisibility({ opacityProperty: true }) || style.clipPath !== 'none') continue;
      seen += 1;
      const [a, b] = [light(rgba(style.color)), light(behind(element))].sort((x, y) => y - x);
      const size = parseFloat(style.fontSize);
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      const ratio = (a + 0.05) / (b + 0.05);
      if (ratio < (large ? 3 : 4.5)) faint.add(ratio.toFixed(2) + ' ' + element.tagName + '.' + element.className + ' ' + element.textContent.trim().slice(0, 40));
    }
    return seen < 10 ? ['only ' + seen + ' texts'] : [...faint];
  })()`);

/** Levels of the headings in the order of the page, such as [1, 2, 3]. */
export const headingLevels = async (page: Page): Promise<number[]> =>
  page.locator('h1, h2, h3, h4').evaluateAll((all) => all.map((heading) => Number(heading.tagName.slice(1))));
