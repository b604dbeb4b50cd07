// Signed addresses in a browser, from a page of another site.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { INSULIN_A, openBench, protein } from '../../folding/bench.ts';
import { serve } from '../../subscriptions/streams.ts';
import { at } from '../../support.ts';
import { launchBrowser, NO_BROWSER } from './chromium.ts';

describe.skipIf(NO_BROWSER)('a page of another site', () => {
  it('reads a link, and not the address that needs a token', async () => {
    const bench = await openBench({ CORS_ORIGINS: 'https://app.example' });
    const batchId = await bench.submit({ items: [protein(INSULIN_A, 'Insulin A')] });
    await bench.pass(60_000);
    const { data, errors } = await bench.ask(
      'query($id: ID!) { batch(batchId: $id) { tasks { nodes { result { structure { url signedUrl } } } } } }',
      { id: batchId },
    );
    expect(errors ?? []).toEqual([]);
    const structure = 'batch.tasks.nodes.0.result.structure';
    const served = await serve(bench.gateway);
    const here = (url: unknown) => String(url).replace('http://gateway.test', new URL(served.url).origin);
    const browser = await launchBrowser();
    const page = await browser.newPage();
    page.setDefaultTimeout(90_000);
    const site = createServer((_, response) => response.end('<title>Another site</title>'));
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    const read = (url: string) =>
      page.evaluate(
        (address) =>
          fetch(address).then(
            (response) => response.text(),
            () => 'refused',
          ),
        url,
      );
    expect(await read(here(at(data, `${structure}.signedUrl`)))).toMatch(/^data_/);
    expect(await read(here(at(data, `${structure}.url`)))).toBe('refused');
    await browser.close();
    site.close();
    await served.close();
    await bench.close();
  });
});
