// Documents that the schema allows, most of them: every error has a code, and none is ours.
import fc from 'fast-check';
import { schema } from '../../../src/resolvers/schema.ts';
import { ask } from '../../subscriptions/support.ts';
import { writeDocument } from '../documents.ts';
import { AUTH, checkErrors, type Target } from '../target.ts';

const choices = fc.array(fc.nat(997), { minLength: 8, maxLength: 160 });

export const documents: Target = ({ gateway }) =>
  fc.asyncProperty(choices, async (made) => {
    const query = writeDocument(schema, made);
    const answer = await ask(gateway, query, {}, AUTH);
    try {
      checkErrors(answer);
    } catch (error) {
      throw new Error(`${query}\n${error instanceof Error ? error.message : String(error)}`);
    }
  });
