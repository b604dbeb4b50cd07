// Where a signed URL may lead: the upstream's own host, the public internet, the hosts that are
// configured, nowhere else.
import { afterAll, describe, expect, it } from 'vitest';
import type { Upstream } from '../../src/upstream/http/call.ts';
import { openServiceConnections } from '../../src/upstream/http/connections.ts';
import { download } from '../../src/upstream/http/download.ts';
import { readFileAddress } from '../../src/upstream/http/file-address.ts';
import { isPublicAddress } from '../../src/upstream/http/public-address.ts';

const connections = openServiceConnections();
const upstream: Upstream = {
  settings: {
    base: new URL('http://127.0.0.1:9'),
    batchPrefix: '/b',
    atlasPrefix: '/a',
    listLimitField: 'limit',
    listCursorField: 'cursor',
    downloadHosts: [],
  },
  connections,
  token: 'secret',
  requestId: 'r',
  signal: undefined,
};
afterAll(() => connections.close());

describe('downloads', () => {
  it.each([
    '10.1.2.3',
    '127.0.0.1',
    '169.254.169.254',
    '192.168.0.1',
    '::1',
    '::ffff:10.0.0.1',
    'fd00::1',
    'fe80::1',
    '0.0.0.0',
    '100.64.0.1',
    '::',
  ])('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false));
  it.each(['8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8'])('%s is public', (address) =>
    expect(isPublicAddress(address)).toBe(true));

  it.each([
    'http://127.0.0.1:10/x',
    'https://127.0.0.1/x',
    'https://[::1]/x',
    'https://169.254.169.254/latest/meta-data',
    'http://example.org/x',
    'https://localhost/x',
    'https://0x7f.1/x',
  ])('refuses %s before anything is sent, without repeating it', async (url) => {
    const error: Error = await download(upstream, url).then(
      () => new Error('not refused'),
      (reason: Error) => reason,
    );
    expect(error.message).toMatch(/does not follow|could not be reached/);
    expect(error.message).not.toContain(url);
  });

  it("reads an address without a scheme as https and a bare path as the upstream's own", () => {
    expect(readFileAddress(upstream.settings, 'files.example.org/a?sig=1').href).toBe(
      'https://files.example.org/a?sig=1',
    );
    expect(readFileAddress(upstream.settings, '//files.example.org/a').href).toBe(
      'https://files.example.org/a',
    );
    expect(readFileAddress(upstream.settings, '/a?sig=1').href).toBe('http://127.0.0.1:9/a?sig=1');
    const minio = { ...upstream.settings, downloadHosts: ['minio'] };
    expect(readFileAddress(minio, 'minio/a').href).toBe('https://minio/a');
    expect(readFileAddress(upstream.settings, 'files:9000/a').href).toBe('https://files:9000/a');
  });

  it.each([
    ['file:///etc/passwd', 'file:'],
    ['ftp://files.example.org/a', 'ftp:'],
    ['data:application/json,{}', 'data:'],
    ['s3://bucket/a', 's3:'],
    ['results/a.json', 'a relative path'],
    ['./a.json', 'a relative path'],
    ['a.json?sig=1'.replace('.', ''), 'a relative path'],
    ['https://', 'no address'],
    ['', 'no address'],
  ])('refuses %s, which is no address, before anything is sent: %s', async (url, seen) => {
    await expect(download(upstream, url)).rejects.toMatchObject({
      message: expect.stringContaining(`expected https, seen ${seen}. Report it to the service`),
      failure: { code: 'UPSTREAM_DRIFT', retryable: false },
    });
  });
});
