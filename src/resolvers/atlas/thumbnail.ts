// The thumbnail of a protein. Its address is free; the other fields load the image.

import type { GatewayContext } from '../../context.ts';
import { builder } from '../../schema/builder.ts';
import { Protein } from '../../schema/protein.ts';
import { publicNonNull } from '../../schema/public-fields-plugin.ts';
import { THUMBNAIL_TYPES } from '../../upstream/reads/cached-reads.ts';

const ThumbnailType = builder.enumType('ThumbnailType', {
  description: 'The colours of a thumbnail.',
  values: {
    PLDDT: { value: 'PLDDT', description: 'By confidence of the prediction, in the usual four colours.' },
    PCT_CHARACTERIZED: {
      value: 'PCT_CHARACTERIZED',
      description: 'By the share of the cluster that has characterised domains.',
    },
  } as const,
});

interface ThumbnailRef {
  readonly hash: string;
  readonly type: typeof ThumbnailType.$inferType;
}

const imageOf = (ctx: GatewayContext, { hash, type }: ThumbnailRef) =>
  ctx.services.thumbnails.get(ctx.upstream, hash, THUMBNAIL_TYPES[type]);

const Thumbnail = builder.objectRef<ThumbnailRef>('Thumbnail').implement({
  description:
    'A picture of a structure. `url` costs nothing, and responses can be cached for ever; the other ' +
    'fields load the image.',
  fields: (t) => ({
    url: t.field({
      public: 'record',
      type: 'URL',
      nullable: false,
      description: 'Address of the PNG at the gateway. It never changes; 404 where there is no structure.',
      resolve: ({ hash, type }, _, ctx) => `${ctx.publicUrl}/thumbnails/${hash}/${THUMBNAIL_TYPES[type]}.png`,
    }),
    contentType: t.string({ ...publicNonNull('record', 'Always "image/png".'), resolve: () => 'image/png' }),
    sizeBytes: t.int({
      public: 'record',
      cost: { shared: { image: 1 } },
      description: 'Size of the file in bytes, such as 48213; null where there is no structure.',
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

builder.objectField(Protein, 'thumbnail', (t) =>
  t.field({
    ...publicNonNull('record', 'A 512 x 512 picture of the structure.'),
    type: Thumbnail,
    args: {
      type: t.arg({ type: ThumbnailType, defaultValue: 'PLDDT', description: 'Colours of the picture.' }),
    },
    resolve: ({ hash }, { type }) => ({ hash, type: type ?? 'PLDDT' }),
  }),
);
