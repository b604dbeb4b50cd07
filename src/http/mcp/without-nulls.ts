// Language models write null for what they leave out. This step reads messages of agents before
// anything else does, so that no tool needs a rule of its own.
import { isFields } from '../../upstream/json/is-fields.ts';

/**
 * A copy without the members that are null, however deep. Nulls in lists stay: they have a place.
 */
function dropNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropNulls);
  if (!isFields(value)) return value;
  const kept: [string, unknown][] = [];
  for (const name of Object.keys(value)) {
    const { [name]: member } = value;
    if (member !== null) kept.push([name, dropNulls(member)]);
  }
  return Object.fromEntries(kept);
}

/**
 * A JSON-RPC message in which null is the same as left out, in `params` and all that it holds. The
 * variables of the tool `graphql` stay: in GraphQL null stands against a default.
 */
export function withoutNulls(message: unknown): unknown {
  if (!isFields(message)) return message;
  const { params, ...rest } = message;
  if (params == null) return rest;
  const read = dropNulls(params);
  if (isFields(params) && params.name === 'graphql' && isFields(params.arguments)) {
    const { variables, ...own } = params.arguments;
    const given = variables === null ? {} : { variables };
    return { ...rest, params: { ...Object(read), arguments: { ...Object(dropNulls(own)), ...given } } };
  }
  return { ...rest, params: read };
}
