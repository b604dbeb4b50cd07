// Thumbnails in GraphQL: the address is free, the rest loads the image.
import type { GatewayContext } from '../../context.ts';
import { Thumbnail, type ThumbnailRef } from '../../schema/thumbnail.ts';
import { THUMBNAIL_TYPES } from '../../upstream/reads/thumbnails.ts';

const imageOf = (ctx: GatewayContext, { hash, type }: ThumbnailRef) =>
  ctx.services.thumbnails.get(ctx.upstream, hash, THUMBNAIL_TYPES[type]);

Thumbnail.implement({
  description:
    'A picture of a structure. `url` costs nothing and is served by the gateway with immutable caching; the other fields load the image.',
  fields: (t) => ({
    url: t.field({
      public: 'record',
      type: 'URL',
      nullable: false,
      description:
        'Where the gateway serves it: a PNG that never changes. Answers 404 where there is no structure.',
      resolve: ({ hash, type }, _, ctx) => `${ctx.publicUrl}/thumbnails/${hash}/${THUMBNAIL_TYPES[type]}.png`,
    }),
    contentType: t.string({
      public: 'record',
      nullable: false,
      description: 'Always "image/png".',
      resolve: () => 'image/png',
    }),
    sizeBytes: t.int({
      public: 'record',
      cost: { shared: { image: 1 } },
      description: 'Size of the file; null where there is no structure.',
      resolve: async (thumbnail, _, ctx) => (await imageOf(ctx, thumbnail))?.png.byteLength,
    }),
    base64: t.string({
      public: 'record',
      cost: { shared: { image: 1 } },
      description: 'The file as base64, for `data:image/png;base64,` URLs; null where there is no structure.',
      resolve: async (thumbnail, _, ctx) => (await imageOf(ctx, thumbnail))?.png.toString('base64'),
    }),
  }),
});
