// Checks that bytes are a whole PNG image: signature, size, end.
import type { Drift } from '../compare.ts';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const WIDTH_AT = 16;
const HEIGHT_AT = 20;

/** Differences from a whole PNG image. */
export function pngDrifts(bytes: Uint8Array): Drift[] {
  const image = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isPng = image.length > HEIGHT_AT + 4 && image.subarray(0, SIGNATURE.length).equals(SIGNATURE);
  const isWhole = isPng && image.subarray(-12).includes('IEND');
  const hasSize = isPng && image.readUInt32BE(WIDTH_AT) > 0 && image.readUInt32BE(HEIGHT_AT) > 0;
  if (isWhole && hasSize) return [];
  const seen =
    image.length === 0 ? 'nothing' : isPng ? 'a part of one, or one without size' : 'something else';
  return [{ kind: 'content', path: 'body', expected: 'a PNG image', seen }];
}
