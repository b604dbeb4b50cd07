// The embeddings of a fold: their shapes, and where the archive of their values is.
import { builder } from '../../schema/builder.ts';

interface EmbeddingsShape {
  readonly sequenceShape: readonly number[] | null;
  readonly pairShape: readonly number[] | null;
  readonly url: string;
  signedUrl(): Promise<string | null>;
}

export const FoldEmbeddings = builder.objectRef<EmbeddingsShape>('FoldEmbeddings').implement({
  description:
    'The embeddings of a fold: their shapes, and the address to download them. One row for each token; ' +
    'the gateway averages several rows of a token.',
  fields: (t) => ({
    sequenceShape: t.intList({
      nullable: { list: true, items: false },
      description: 'Tokens and channels, such as [142, 1536]; null when there is none.',
      resolve: ({ sequenceShape }) => sequenceShape,
    }),
    pairShape: t.intList({
      nullable: { list: true, items: false },
      description:
        'Tokens and channels of the pooled pair embedding, such as [142, 256]; null when there is none.',
      resolve: ({ pairShape }) => pairShape,
    }),
    url: t.expose('url', {
      type: 'URL',
      nullable: false,
      description: 'Address of the NumPy archive (.npz) at the gateway. Needs your token.',
    }),
    signedUrl: t.field({
      type: 'URL',
      description: 'The same for 15 minutes without a token, as `FoldResult.signedUrl`.',
      resolve: (embeddings) => embeddings.signedUrl(),
    }),
  }),
});
