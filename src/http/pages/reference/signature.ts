// Types and values as linked GraphQL text: `[Protein!]!`, arguments, default values, costs.
import {
  astFromValue,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLType,
  getNamedType,
  print,
} from 'graphql';
import { type Html, html, inline, type Part } from '../html.ts';

/** A type with its wrapping, its name as a link to its entry. */
export function typeLink(type: GraphQLType): Html {
  const { name } = getNamedType(type);
  const [before = '', after = ''] = String(type).split(name);
  return html`<span class="type">${before}<a href="#${name}">${name}</a>${after}</span>`;
}

const defaultOf = ({ defaultValue, type }: GraphQLArgument | GraphQLInputField): string | null => {
  const node = defaultValue === undefined ? null : astFromValue(defaultValue, type);
  return node == null ? null : print(node);
};

/** ` = 10`, where there is a default. */
export const defaultText = (input: GraphQLArgument | GraphQLInputField): Part => {
  const value = defaultOf(input);
  return value !== null && html`<span class="default"> = ${value}</span>`;
};

/** Why something should not be used any more. */
export const deprecation = (reason: string | null | undefined): Part =>
  reason != null && html`<p class="deprecated"><strong>Deprecated</strong> ${inline(reason)}</p>`;

/**
 * What a field adds to the cost of a query, which is counted in upstream calls.
 *
 * @param declared - as it stands at the field: a number, or a rule of its arguments
 */
export function costNote(declared: unknown): Part {
  if (declared === undefined || declared === 0) return null;
  const title = 'What it adds to the cost of a query, in upstream calls (MAX_QUERY_COST)';
  if (typeof declared !== 'number') return html`<span class="chip" title="${title}">cost by arguments</span>`;
  return html`<span class="chip" title="${title}">cost ${Number(declared.toFixed(3))}</span>`;
}
