// Thumbnails and provenance of a protein. resolvers/atlas/thumbnail.ts loads the image.

import type { Source } from '../upstream/proteins/protein-data.ts';
import { builder } from './builder.ts';
import { publicNonNull, publicNullable } from './public-fields-plugin.ts';

export const ThumbnailType = builder.enumType('ThumbnailType', {
  description: 'The colours of a thumbnail.',
  values: {
    PLDDT: { value: 'PLDDT', description: 'By confidence of the prediction, in the usual four colours.' },
    PCT_CHARACTERIZED: {
      value: 'PCT_CHARACTERIZED',
      description: 'By the share of the cluster that has characterised domains.',
    },
  } as const,
});

export interface ThumbnailRef {
  readonly hash: string;
  readonly type: 'PLDDT' | 'PCT_CHARACTERIZED';
}

export const Thumbnail = builder.objectRef<ThumbnailRef>('Thumbnail');

export const Provenance = builder.objectRef<Source>('Provenance').implement({
  description: 'Where the data of this object came from.',
  fields: (t) => ({
    source: t.string({
      public: 'record',
      nullable: false,
      description: 'The upstream operation that answered last, such as "atlas:bulk" or "atlas:protein".',
      resolve: ({ operation }) => `atlas:${operation}`,
    }),
    retrievedAt: t.expose('retrievedAt', {
      ...publicNonNull('record', 'When it answered.'),
      type: 'DateTime',
    }),
    fromCache: t.exposeBoolean('fromCache', {
      nullable: false,
      description: 'Whether the gateway had it in its cache before this request.',
    }),
    upstreamRequestId: t.exposeString(
      'requestId',
      publicNullable(
        'record',
        "The upstream's id of the call, to quote when you report a problem; null where it gave none.",
      ),
    ),
  }),
});
