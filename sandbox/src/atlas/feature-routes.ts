// GET /features and GET /features/{feature_index} (spec: Atlas API).
import type { Hono } from 'hono';
import { catalogueJson, featureDetail } from './catalogue.ts';
import { checkInteger, type Problems } from './checks.ts';
import type { AtlasContext } from './context.ts';
import { FEATURE_COUNT } from './features.ts';
import { refusal, unprocessable } from './refusals.ts';
import { toStream } from './streaming.ts';

const SLICE_BYTES = 1 << 18;

/** The catalogue in slices, so that no answer holds a copy of it. */
async function* slices(text: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length; at += SLICE_BYTES) yield text.subarray(at, at + SLICE_BYTES);
}

/** The same for every universe. */
let catalogue: Promise<Buffer> | undefined;

export function addFeatureRoutes(app: Hono, { universe, wire }: AtlasContext): void {
  app.get(`${wire.atlasPrefix}/features`, async () => {
    catalogue ??= catalogueJson();
    const text = await catalogue;
    return new Response(toStream(slices(text)), {
      headers: { 'content-type': 'application/json', 'content-length': String(text.length) },
    });
  });

  app.get(`${wire.atlasPrefix}/features/:feature_index`, (c) => {
    const problems: Problems = [];
    const feature = checkInteger(problems, ['path', 'feature_index'], c.req.param('feature_index'), -1);
    if (problems.length > 0) return unprocessable(problems);
    if (feature < 0 || feature >= FEATURE_COUNT) return refusal(404, `Feature ${feature} not found`);
    return c.json(featureDetail(universe, feature));
  });
}
