// GraphiQL in a real browser: loads from the gateway alone, opens the examples as tabs, and the first one answers.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readExamples } from '../../src/examples.ts';
import { openWorld, type World } from '../support.ts';
import { launchBrowser, NO_BROWSER } from './chromium.ts';

let world: World;
let server: Server;
let browser: Browser;
let url: string;
beforeAll(async () => {
  if (NO_BROWSER) return;
  world = await openWorld();
  server = createServer(world.gateway.listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
  browser = await launchBrowser();
});
afterAll(async () => {
  if (NO_BROWSER) return;
  await browser.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await world.close();
});

describe.skipIf(NO_BROWSER)('GraphiQL', () => {
  it('works offline with the examples as tabs', async () => {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      if (!/^(data:|blob:|http:\/\/127\.0\.0\.1:)/.test(request.url())) elsewhere.push(request.url());
    });
    await page.goto(url, { waitUntil: 'load' });
    await page.getByRole('button', { name: /execute/i }).waitFor();
    const names = readExamples().map(
      ({ query }) => /^(?:query|mutation|subscription) (\w+)/m.exec(query)?.[1] ?? 'unnamed',
    );
    expect(names.length).toBeGreaterThan(4);
    const tabs = await page.locator('.graphiql-tab').allInnerTexts();
    expect(tabs.map((tab) => tab.trim())).toEqual(names);
    await page.getByRole('button', { name: /execute/i }).click();
    await page
      .locator('.result-window')
      .getByText('INS_HUMAN')
      .or(page.locator('.result-window').getByText('"Insulin"'))
      .first()
      .waitFor();
    expect(elsewhere).toEqual([]);
    const shot = process.env.GRAPHIQL_SCREENSHOT;
    if (shot !== undefined) await page.screenshot({ path: shot });
    await page.close();
  });
});
