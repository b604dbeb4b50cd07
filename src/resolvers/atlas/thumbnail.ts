// The thumbnail of a structure. Its address needs no upstream call.
import type { GatewayContext } from '../../context.ts';
import { builder, enumValues } from '../../schema/builder.ts';
import { publicNonNull } from '../../schema/field-options.ts';
import { Protein } from '../../schema/protein.ts';
import { LARGE_VALUE } from '../../schema/query-cost.ts';
import { THUMBNAIL_TYPES } from '../../upstream/reads/thumbnails.ts';

const ThumbnailType = builder.enumType('ThumbnailType', {
  description: 'The colours of a thumbnail.',
  values: enumValues({
    PLDDT: 'By confidence of the prediction, in the usual four colours.',
    PCT_CHARACTERIZED: 'By the share of the cluster that has characterised domains.',
  }),
});

interface ThumbnailRef {
  readonly hash: string;
  readonly type: typeof ThumbnailType.$inferType;
}

const loadImage = (ctx: GatewayContext, { hash, type }: ThumbnailRef) =>
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
      resolve: async (thumbnail, _, ctx) => (await loadImage(ctx, thumbnail))?.png.byteLength,
    }),
    base64: t.string({
      public: 'record',
      cost: { shared: { image: 1 }, ...LARGE_VALUE },
      description: 'The file as base64, for `data:image/png;base64,` URLs; null where there is no structure.',
      resolve: async (thumbnail, _, ctx) => (await loadImage(ctx, thumbnail))?.png.toString('base64'),
    }),
  }),
});

builder.objectField(Protein, 'thumbnail', (t) =>
  t.field({
    ...publicNonNull('record', 'A picture of the structure.'),
    type: Thumbnail,
    args: {
      type: t.arg({ type: ThumbnailType, defaultValue: 'PLDDT', description: 'Colours of the picture.' }),
    },
    resolve: ({ hash }, { type }) => ({ hash, type: type ?? 'PLDDT' }),
  }),
);
