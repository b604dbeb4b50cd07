// Which addresses a signed URL may lead to, range by range of IANA's registries.
import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../src/upstream/http/public-address.ts';

describe('addresses of special purpose', () => {
  it.each([
    ['IPv4', '0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 169.254.169.254'],
    [
      'IPv4',
      '172.16.0.1 172.31.255.255 192.0.0.9 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.1.1',
    ],
    [
      'IPv4',
      '192.175.48.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.7 224.0.0.1 240.0.0.1 255.255.255.255',
    ],
    ['IPv6', ':: ::1 ::2 100::1 100:0:0:1::1 2001::1 2001:2::1 2001:10::1 2001:20::1 2001:1ff:ffff::1'],
    ['IPv6', '2001:db8::1 2002:808:808::1 2620:4f:8000::1 3fff::1 3fff:fff::1 5f00::1 4000::1 8000::1'],
    ['IPv6', 'fc00::1 fd12:3456::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1 64:ff9b:1::808:808'],
    [
      'IPv4 inside IPv6',
      '::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:0:1 ::ffff:169.254.169.254 0:0:0:0:0:ffff:a00:1',
    ],
    [
      'IPv4 inside IPv6',
      '::10.0.0.1 ::8.8.8.8 64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b::1 ::ffff:0:8.8.8.8',
    ],
    ['no address', 'example.org 127.1 1.2.3 [::1] 2606:4700::1111/64'],
  ])('are not contacted: %s %s', (_, addresses) => {
    for (const address of addresses.split(' '))
      expect([address, isPublicAddress(address)]).toEqual([address, false]);
  });

  it('are not all there are: public ones are contacted', () => {
    for (const address of [
      '8.8.8.8',
      '1.1.1.1',
      '172.32.0.1',
      '100.128.0.1',
      '192.0.1.1',
      '223.255.255.255',
      '2606:4700:4700::1111',
      '2a00:1450:4001:82b::200e',
      '2001:4860:4860::8888',
      '::ffff:8.8.8.8',
      '64:ff9b::8.8.8.8',
    ])
      expect([address, isPublicAddress(address)]).toEqual([address, true]);
  });
});
