// Records a paid batch in the ledger, and tries again for two minutes where the store fails.
import type { Clock } from '../../../async/clock.ts';
import type { GatewayContext } from '../../../context.ts';
import type { LedgerChain } from '../../../store/ledger/ledger.ts';
import type { DeclaredAtom, DeclaredBond } from '../../../structure/fold/declared-bonds.ts';
import type { BondAtom } from '../../../submission/bonds.ts';
import type { Chain } from '../../../submission/chain.ts';
import type { ItemCheck } from '../../../submission/check.ts';
import { readFixedResidues } from '../../../submission/fixed-residues.ts';
import type { Issue } from '../../../submission/issues.ts';
import type { Submitted } from '../../../upstream/wire.ts';
import type { CheckedInput } from './check-input.ts';

/** The longest pause between attempts to record a batch: all take two minutes. */
const MAX_RECORD_PAUSE_MS = 64_000;

/** Tries again to record a paid batch until it succeeds or two minutes have passed. */
async function recordLater({ sleep }: Clock, record: () => Promise<void>): Promise<void> {
  for (let pause = 500; pause <= MAX_RECORD_PAUSE_MS; pause *= 2) {
    await sleep(pause, { ref: false });
    try {
      return await record();
    } catch {
      // Again after the next pause.
    }
  }
}

/** The batch is queued: a store that fails must not hide it. */
const NOT_REMEMBERED: Issue = {
  path: '',
  code: 'NOT_REMEMBERED',
  message: 'The batch is queued, but the gateway could not write it down safely: keep its batchId.',
  hint:
    'The gateway tries again for two minutes. If myBatches does not list the batch then, its names and ' +
    "its idempotency key are lost. Tell the operator: the gateway's store fails.",
};

const toDeclaredAtom = ({ chainId, residueIndex, atomIndex, residue }: BondAtom): DeclaredAtom | null =>
  atomIndex === null
    ? null
    : { chainId, residueIndex, atomIndex, atomName: residue?.names?.[atomIndex] ?? null };

/** The chains of an item with their fixed residues and the bonds that begin in each. */
function toLedgerChains(
  { chains, covalentBonds }: ItemCheck,
  submitted: readonly Chain[] | undefined,
): LedgerChain[] {
  const declared = covalentBonds.flatMap(({ ends: [one, two] }): DeclaredBond[] => {
    const [from, to] = [toDeclaredAtom(one), toDeclaredAtom(two)];
    return from === null || to === null ? [] : [{ from, to }];
  });
  return chains.map((chain, c) => {
    const bonds = declared.filter(({ from }) => chain.ids.includes(from.chainId));
    const own = submitted?.[c];
    const residues = own && readFixedResidues(own);
    return { ...chain, ...(residues && { residues }), ...(bonds.length > 0 && { bonds }) };
  });
}

/** Records a batch, in the background if it fails. @returns a warning while it is not recorded */
export async function recordBatch(
  ctx: GatewayContext,
  { submission, check, hash }: CheckedInput,
  { batch_id, task_id }: Submitted,
  submittedAt: number,
): Promise<readonly Issue[]> {
  const { ledger, principal } = ctx.submissions;
  const { label, model, items, repeat, idempotencyKey } = submission;
  const batch = {
    batchId: batch_id,
    label,
    model,
    submittedAt,
    itemCount: items.length,
    repeat,
    inputHash: hash,
    onlyTaskId: task_id ?? null,
  };
  const ledgerItems = check.items.map((item, i) => ({
    name: item.name,
    chains: toLedgerChains(item, items[i]?.chains),
  }));
  const record = () => ledger.record(principal, idempotencyKey, batch, ledgerItems);
  try {
    await record();
    return [];
  } catch {
    void recordLater(ctx.services.clock, record);
    return [NOT_REMEMBERED];
  }
}
