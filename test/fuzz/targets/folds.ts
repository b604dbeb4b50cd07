// Any input of a fold: checkFold says what is wrong with it, and is never wrong itself.
import fc from 'fast-check';
import { ask } from '../../subscriptions/support.ts';
import { checkErrors, type Target, text } from '../target.ts';

/** The query of a dry run. */
export const CHECK =
  'query($input: SubmitFoldInput!) { checkFold(input: $input) { ok taskCount totalLength issues { path code message } warnings { code } items { length chainCount ligandCount chains { length } } } }';

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const whole = fc.oneof(fc.integer({ min: -3, max: 40 }), fc.integer());
const letters = fc.oneof(fc.stringMatching(/^[ACDEFGHIKLMNPQRSTVWYacgu \n>*-]{0,60}$/), text);
const names = fc.oneof(fc.constantFrom('A', 'B', 'AA', ''), text);
const ids = maybe(fc.array(names, { maxLength: 3 }));
const polymer = fc.record({
  sequence: letters,
  ids,
  modifications: maybe(fc.array(fc.record({ position: whole, ccd: names }), { maxLength: 3 })),
});
const ligand = fc.record({
  ids,
  smiles: maybe(fc.oneof(fc.stringMatching(/^[CNOcnos()=#1-3@[\]+-]{0,20}$/), text)),
  ccd: maybe(fc.array(names, { maxLength: 2 })),
});
const chain = fc.oneof(
  fc.record({ protein: polymer }),
  fc.record({ rna: polymer }),
  fc.record({ dna: polymer }),
  fc.record({ ligand }),
);
const item = fc.record({
  name: maybe(text),
  chains: fc.array(chain, { maxLength: 4 }),
  covalentBonds: maybe(
    fc.array(
      fc.record({
        chainId1: names,
        residueIndex1: whole,
        atomIndex1: whole,
        chainId2: names,
        residueIndex2: whole,
        atomIndex2: whole,
      }),
      { maxLength: 2 },
    ),
  ),
  pocket: maybe(
    fc.record({
      binderChainId: names,
      contacts: fc.array(fc.record({ chainId: names, residueIndex: whole }), { maxLength: 3 }),
    }),
  ),
  distogramConditioning: maybe(
    fc.array(
      fc.record({ chainId: names, distogram: fc.array(fc.array(whole, { maxLength: 3 }), { maxLength: 3 }) }),
      {
        maxLength: 2,
      },
    ),
  ),
  includePae: maybe(fc.boolean()),
});
export const folds: Target = ({ gateway }) =>
  fc.asyncProperty(
    fc.record({
      items: fc.array(item, { maxLength: 3 }),
      repeat: maybe(whole),
      model: maybe(text),
      label: maybe(text),
      idempotencyKey: maybe(text),
    }),
    async (input) => {
      checkErrors(await ask(gateway, CHECK, { input }));
    },
  );
