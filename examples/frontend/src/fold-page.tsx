// Submitting a fold. While the user types, the gateway says everything that is wrong, each mistake
// at its field; nothing is sent to the folding service, and nothing spent, before the button is
// pressed.
import { type ReactNode, useEffect, useId, useState } from 'react';
import { useMutation, useQuery } from 'urql';
import {
  type ChainDraft,
  emptyFold,
  type FoldDraft,
  type FoldInput,
  foldInput,
  KINDS,
  type Kind,
  keepInput,
} from './fold-input.ts';
import { graphql, type ResultOf } from './graphql.ts';
import { Failures, Problem } from './problems.tsx';
import { useService } from './service.tsx';
import { TokenField } from './token-field.tsx';

export const CheckFold = graphql(`
  query CheckFold($input: SubmitFoldInput!) {
    checkFold(input: $input) {
      ok
      taskCount
      totalLength
      issues { path message hint }
      warnings { path message hint }
    }
  }
`);

// Every ending of a submission is a member of the result: none of them is an exception to catch.
const SubmitFold = graphql(`
  mutation SubmitFold($input: SubmitFoldInput!) {
    submitFold(input: $input) {
      __typename
      ... on FoldSubmitted { batch { batchId } }
      ... on Problem { message hint }
      ... on InvalidInput { issues { path message hint } }
      ... on IdempotencyConflict { existingBatch { batchId } }
    }
  }
`);

type Issue = NonNullable<ResultOf<typeof CheckFold>['checkFold']>['issues'][number] & { harmless?: boolean };

const FLAGS = {
  includePae: 'Predicted aligned error, which ipSAE needs',
  includePairChainsIptm: 'ipTM of each pair of chains',
  includeEmbeddings: 'Embeddings',
} as const;

/** Waits until the user stops typing. */
function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

interface FieldProps {
  label: string;
  /** The kinds of chains that can be typed. */
  hint?: string;
  issues: Issue[];
  children: ReactNode;
}

/** A labelled part of the form with what is wrong with it. */
function Field({ label, hint, issues, children }: FieldProps) {
  const id = useId();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset around each field would be read aloud as a group of groups
    <div
      className="field"
      role="group"
      aria-describedby={id}
      data-invalid={issues.some(({ harmless }) => !harmless)}
    >
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the control is the child */}
      <label>
        <span>{label}</span>
        {children}
      </label>
      <div id={id} aria-live="polite">
        {hint !== undefined && <p className="note">{hint}</p>}
        {issues.map(({ path, message, hint, harmless }) => (
          <p key={path + message} className={harmless ? 'warning' : 'issue'}>
            {message} {hint}
          </p>
        ))}
      </div>
    </div>
  );
}

export function FoldPage({ sequence }: { sequence: string }) {
  const [draft, setDraft] = useState<FoldDraft>(() => emptyFold(sequence));
  // One key for this form: however often the button is pressed and whatever the network loses, it
  // is paid for once.
  const [idempotencyKey, setKey] = useState(() => crypto.randomUUID());
  const [{ data, error }] = useQuery({
    query: CheckFold,
    variables: { input: foldInput(useSettled(draft, 250)) },
    pause: draft.chains.every(({ text }) => text === ''),
  });
  const [submitted, submit] = useMutation(SubmitFold);
  const result = submitted.data?.submitFold;

  const check = data?.checkFold;
  const refused = result?.__typename === 'InvalidInput' ? result.issues : [];
  const warnings = (check?.warnings ?? []).map((warning) => ({ ...warning, harmless: true }));
  const designs = foldInput(draft).items;
  const issues: Issue[] = [...(check?.issues ?? []), ...refused, ...warnings].map((issue) => {
    const design = designs.length > 1 && designs[Number(/^items\.(\d+)/.exec(issue.path)?.[1])]?.name;
    return design ? { ...issue, message: `${design}: ${issue.message}` } : issue;
  });
  const at = (path: string) =>
    issues.filter((issue) => `${issue.path.replace(/^items\.\d+/, 'items')}.`.startsWith(`${path}.`));
  const fields = [
    'label',
    'model',
    'repeat',
    'items.name',
    ...draft.chains.map((_, i) => `items.chains.${i}`),
  ];
  const shown = new Set(fields.flatMap(at));
  const elsewhere = issues.filter((issue) => !shown.has(issue));

  const set = (change: Partial<FoldDraft>) => setDraft({ ...draft, ...change });
  const setChain = (key: number, change: Partial<ChainDraft>) =>
    set({ chains: draft.chains.map((chain) => (chain.key === key ? { ...chain, ...change } : chain)) });
  const addChain = () => {
    const key = Math.max(-1, ...draft.chains.map((chain) => chain.key)) + 1;
    set({ chains: [...draft.chains, { key, kind: 'protein', text: '', copies: 1 }] });
  };
  const send = () => {
    const input: FoldInput = { ...foldInput(draft), idempotencyKey };
    void submit({ input }).then(({ data: sent }) => {
      if (sent?.submitFold?.__typename !== 'FoldSubmitted') return;
      const { batchId } = sent.submitFold.batch;
      keepInput(batchId, input);
      location.hash = `#/batch/${batchId}`;
    });
  };

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <h1>Fold a complex</h1>
      <Failures error={error} />
      <fieldset className="card">
        <legend>Chains</legend>
        {draft.chains.map(({ key, kind, text, copies }, i) => (
          <div className="chain" key={key}>
            <Field label="Kind" issues={[]}>
              <select value={kind} onChange={(event) => setChain(key, { kind: event.target.value as Kind })}>
                {Object.entries(KINDS).map(([value, { name }]) => (
                  <option key={value} value={value}>
                    {name}
                  </option>
                ))}
              </select>
            </Field>
            <Field label={KINDS[kind].text} hint={KINDS[kind].hint} issues={at(`items.chains.${i}`)}>
              <textarea
                rows={kind === 'ccd' || kind === 'smiles' ? 1 : 3}
                value={text}
                spellCheck={false}
                aria-invalid={at(`items.chains.${i}`).some(({ harmless }) => !harmless)}
                onChange={(event) => setChain(key, { text: event.target.value })}
              />
            </Field>
            <Field label="Copies" issues={[]}>
              <input
                type="number"
                min={1}
                max={20}
                value={copies}
                onChange={(event) =>
                  setChain(key, { copies: Math.min(20, Math.max(1, event.target.valueAsNumber || 1)) })
                }
              />
            </Field>
            {draft.chains.length > 1 && (
              <button
                type="button"
                aria-label={`Remove chain ${i + 1}`}
                onClick={() => set({ chains: draft.chains.filter((chain) => chain.key !== key) })}
              >
                ×
              </button>
            )}
          </div>
        ))}
        <button type="button" onClick={addChain}>
          + Add a chain
        </button>
      </fieldset>
      <fieldset className="card row">
        <legend>Options</legend>
        <Field label="Your name for it" issues={[...at('label'), ...at('items.name')]}>
          <input value={draft.label} onChange={(event) => set({ label: event.target.value })} />
        </Field>
        <Field label="Model" issues={at('model')}>
          <select value={draft.model} onChange={(event) => set({ model: event.target.value })}>
            <option value="">default</option>
            {useService()?.models.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </Field>
        <Field label="How many times" issues={at('repeat')}>
          <input
            type="number"
            min={1}
            value={draft.repeat}
            onChange={(event) => set({ repeat: event.target.valueAsNumber || 0 })}
          />
        </Field>
        <div className="flags">
          {(Object.keys(FLAGS) as (keyof typeof FLAGS)[]).map((flag) => (
            <label key={flag}>
              <input
                type="checkbox"
                checked={draft[flag]}
                onChange={(event) => set({ [flag]: event.target.checked })}
              />
              {FLAGS[flag]}
            </label>
          ))}
        </div>
      </fieldset>
      <div className="card">
        <TokenField />
      </div>
      {elsewhere.map(({ path, message, hint }) => (
        <Problem key={path + message} message={`${path}: ${message}`} hint={hint} />
      ))}
      <Failures error={submitted.error} />
      {result && 'message' in result && <Problem message={result.message} hint={result.hint} />}
      {result?.__typename === 'IdempotencyConflict' && (
        <p>
          {result.existingBatch && <a href={`#/batch/${result.existingBatch.batchId}`}>See what it became</a>}{' '}
          <button type="button" onClick={() => setKey(crypto.randomUUID())}>
            This is a new fold
          </button>
        </p>
      )}
      <p className="send">
        <button type="submit" className="primary" disabled={!check?.ok || submitted.fetching}>
          Submit
        </button>
        {check && (
          <span role="status">
            {check.ok
              ? `${check.taskCount} ${check.taskCount === 1 ? 'task' : 'tasks'}, ${check.totalLength} residues and nucleotides in all. The service tells no price; it charges by such counts.`
              : `${check.issues.length} to put right; nothing has been sent`}
          </span>
        )}
      </p>
    </form>
  );
}
