// Chains of a remembered item as stores keep them; another shape is a fault and thrown. It knows no store.
import { z } from 'zod';

export const chainSummaries = z.array(
  z.object({
    ids: z.array(z.string()),
    kind: z.enum(['PROTEIN', 'RNA', 'DNA', 'LIGAND']),
    length: z.number(),
    proteinHash: z.string().nullable(),
  }),
);
