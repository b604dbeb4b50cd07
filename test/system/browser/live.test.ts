// The example pages for live progress in a real browser, served by the gateway and from another
// origin: fetch with SSE, graphql-ws.
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../sandbox/src/clock.ts';
import { type Sandbox, startSandbox } from '../../../sandbox/src/sandbox.ts';
import type { Gateway } from '../../../src/gateway.ts';
import { type Served, serve, submit } from '../../subscriptions/streams.ts';
import { openGateway, run } from '../../subscriptions/support.ts';
import { launchBrowser, NO_BROWSER } from './chromium.ts';

const TOKEN = 'browser-test';
const clock = new ManualClock(Date.now());
let sandbox: Sandbox;
let gateway: Gateway;
let served: Served;
let pages: Server;
let origin: string;
let browser: Browser;
let running: { stop(): void } | undefined;

/** The example pages, and the client library beside them as websocket.html asks for it. */
function pageServer(): Server {
  return createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://pages').pathname;
    const [, library] = /^\/graphql-ws\/([\w.-]+\.js)$/.exec(path) ?? [];
    const [, page] = /^\/([\w-]+\.html)$/.exec(path) ?? [];
    if (library === undefined && page === undefined) return response.writeHead(404).end();
    const file =
      library === undefined
        ? `../../../examples/browser/${page}`
        : `../../../node_modules/graphql-ws/dist/${library}`;
    response.setHeader('content-type', library === undefined ? 'text/html' : 'text/javascript');
    return response.end(readFileSync(new URL(file, import.meta.url)));
  });
}

beforeAll(async () => {
  if (NO_BROWSER) return;
  pages = pageServer();
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  sandbox = await startSandbox({ size: 'small', clock });
  gateway = openGateway(sandbox.url, { CORS_ORIGINS: origin }, { first: 60, slowest: 200 });
  served = await serve(gateway, [origin]);
  browser = await launchBrowser();
});
afterEach(() => {
  running?.stop();
  running = undefined;
});
afterAll(async () => {
  if (NO_BROWSER) return;
  await browser.close();
  pages.closeAllConnections();
  pages.close();
  await served.close();
  await gateway.close();
  await sandbox.close();
});

interface From {
  /** Where the pages are, with a final slash. */
  pages(): string;
  /** Fills in the gateway's address, which a page that the gateway serves knows. */
  address(page: Page, scheme: 'http' | 'ws'): Promise<void>;
}

const THERE: From = {
  pages: () => `${origin}/`,
  address: (page, scheme) => page.fill('[name=url]', served.url.replace(/^http/, scheme)),
};
const HERE: From = {
  pages: () => served.url.replace(/graphql$/, 'examples/'),
  async address(page, scheme) {
    expect(await page.inputValue('[name=url]')).toBe(served.url.replace(/^http/, scheme));
  },
};

async function openPage(from: From, name: string): Promise<{ page: Page; wrong: string[] }> {
  const page = await browser.newPage();
  page.setDefaultTimeout(90_000);
  const wrong: string[] = [];
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') wrong.push(message.text());
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.hostname !== '127.0.0.1' && url.protocol !== 'data:') wrong.push(url.href);
    if (decodeURIComponent(url.href).includes(TOKEN)) wrong.push('a token in an address');
  });
  const response = await page.goto(`${from.pages()}${name}`);
  if (from === HERE) expect(response?.headers()['content-security-policy']).toContain("default-src 'none'");
  return { page, wrong };
}

describe.skipIf(NO_BROWSER).each([
  ['served by the gateway', HERE],
  ['from another origin', THERE],
])('in a browser, %s,', (_, from) => {
  it('fetch-sse.html watches a batch with the token in a header', async () => {
    const batchId = await submit(gateway, 4, { authorization: `Bearer ${TOKEN}` });
    const { page, wrong } = await openPage(from, 'fetch-sse.html');
    await from.address(page, 'http');
    await page.fill('[name=token]', TOKEN);
    await page.fill('[name=batchId]', batchId);
    await page.click('button');
    await page.getByText('0 of 4').waitFor();
    running = run(clock, 10);
    await page.getByText('4 of 4, finished').waitFor();
    expect(await page.locator('li').allInnerTexts()).toEqual([0, 1, 2, 3].map((i) => `peptide ${i}: DONE`));
    expect(wrong).toEqual([]);
    await page.fill('[name=token]', 'another');
    await page.click('button');
    await page.getByText('There is no batch').waitFor();
    await page.close();
  });

  it('websocket.html watches several batches over one socket, token in connectionParams', async () => {
    const ids = [
      await submit(gateway, 2, { authorization: `Bearer ${TOKEN}` }),
      await submit(gateway, 3, { authorization: `Bearer ${TOKEN}` }),
    ];
    const { page, wrong } = await openPage(from, 'websocket.html');
    const sockets: string[] = [];
    page.on('websocket', (socket) => sockets.push(socket.url()));
    await from.address(page, 'ws');
    await page.fill('[name=token]', TOKEN);
    await page.fill('[name=batchIds]', ids.join(' '));
    await page.click('button');
    await page.getByText('0 of 3 IN_PROGRESS').waitFor();
    running = run(clock, 10);
    await page.getByText('all finished').waitFor();
    expect((await page.locator('li').allInnerTexts()).sort()).toEqual(
      [`${ids[0]}: 2 of 2 DONE`, `${ids[1]}: 3 of 3 DONE`].sort(),
    );
    expect(sockets).toHaveLength(1);
    expect(decodeURIComponent(sockets[0] ?? '')).not.toContain(TOKEN);
    await page.reload();
    await from.address(page, 'ws');
    await page.fill('[name=batchIds]', 'none');
    await page.click('button');
    await page.getByText('There is no batch').waitFor();
    // Watching what is not there ends, too.
    await page.getByText('all finished').waitFor();
    expect(wrong).toEqual([]);
    await page.close();
  });
});
