// FoldEmbeddings: the shapes of the embeddings of a fold result, and their address.
import type { GatewayContext } from '../../../context.ts';
import { builder } from '../../../schema/builder.ts';
import { nonNull } from '../../../schema/field-options.ts';
import type { TaskShape } from '../../../schema/task.ts';
import type { Matrix } from '../../../structure/fold/matrix.ts';
import type { FoldingResult } from '../../../structure/fold/result.ts';
import { checkPart } from '../../../upstream/folds/fold-errors.ts';
import { fileUrl, loadFold, signFileUrl } from './load-fold.ts';

interface EmbeddingsShape {
  readonly task: TaskShape;
  readonly embeddings: NonNullable<FoldingResult['embeddings']>;
}

const FILE = 'embeddings.npz';

const toShape = (matrix: Matrix | null): number[] | null =>
  matrix === null ? null : [matrix.rowCount, matrix.columnCount];

export const FoldEmbeddings = builder.objectRef<EmbeddingsShape>('FoldEmbeddings').implement({
  description:
    'The embeddings of a fold: their shapes, and the address to download them. One row for each token; ' +
    'the gateway averages several rows of a token.',
  fields: (t) => ({
    sequenceShape: t.intList({
      nullable: { list: true, items: false },
      description: 'Tokens and channels, such as [142, 1536]; null when there is none.',
      resolve: ({ embeddings }) => toShape(embeddings.sequence),
    }),
    pairShape: t.intList({
      nullable: { list: true, items: false },
      description:
        'Tokens and channels of the pooled pair embedding, such as [142, 256]; null when there is none.',
      resolve: ({ embeddings }) => toShape(embeddings.pair),
    }),
    url: t.field({
      ...nonNull('Address of the NumPy archive (.npz) at the gateway. Needs your token.'),
      type: 'URL',
      resolve: ({ task }, _, ctx) => fileUrl(ctx, task, FILE),
    }),
    signedUrl: t.field({
      type: 'URL',
      description: 'The same for 15 minutes without a token, as `FoldResult.signedUrl`.',
      resolve: ({ task }, _, ctx) => signFileUrl(ctx, task, FILE),
    }),
  }),
});

/** Null without embeddings. @throws UpstreamError UPSTREAM_DRIFT when their rows fit no token */
export async function loadEmbeddings(ctx: GatewayContext, task: TaskShape): Promise<EmbeddingsShape | null> {
  const { embeddings, misfits } = await loadFold(ctx, task);
  const valid = checkPart(embeddings, misfits.embeddings);
  return valid && { task, embeddings: valid };
}
