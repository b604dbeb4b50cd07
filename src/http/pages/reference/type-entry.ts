// One type or directive of the reference: description, fields with arguments, values, usages.
import {
  astFromValue,
  type GraphQLArgument,
  type GraphQLDirective,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  print,
} from 'graphql';
import type { Example } from '../examples.ts';
import { type Html, html, inline, type Part, prose } from '../html.ts';
import type { Usage } from './usage.ts';

/** What an entry is rendered with. */
export interface Section {
  readonly schema: GraphQLSchema;
  readonly usage: Usage;
  /** Whether examples can be opened in GraphiQL. */
  readonly graphiql: boolean;
}

/** A type with its wrapping, its name as a link to its entry. */
function typeLink(type: GraphQLType): Html {
  const { name } = getNamedType(type);
  const [before = '', after = ''] = String(type).split(name);
  return html`<span class="type">${before}<a href="#${name}">${name}</a>${after}</span>`;
}

const defaultOf = ({ defaultValue, type }: GraphQLArgument | GraphQLInputField): string | null => {
  const node = defaultValue === undefined ? null : astFromValue(defaultValue, type);
  return node == null ? null : print(node);
};

/** ` = 10`, where there is a default. */
const defaultText = (input: GraphQLArgument | GraphQLInputField): Part => {
  const value = defaultOf(input);
  return value !== null && html`<span class="default"> = ${value}</span>`;
};

/** Why something should not be used any more. */
const deprecation = (reason: string | null | undefined): Part =>
  reason != null && html`<p class="deprecated"><strong>Deprecated</strong> ${inline(reason)}</p>`;

/**
 * What a field adds to the cost of a query, which is counted in upstream calls.
 *
 * @param declared - as it stands at the field: a number, or a rule of its arguments
 */
function costNote(declared: unknown): Part {
  if (declared === undefined || declared === 0) return null;
  const title = 'What it adds to the cost of a query, in upstream calls (MAX_QUERY_COST)';
  if (typeof declared !== 'number') return html`<span class="chip" title="${title}">cost by arguments</span>`;
  return html`<span class="chip" title="${title}">cost ${Number(declared.toFixed(3))}</span>`;
}

const anchor = (id: string): Html => html`<a class="anchor" href="#${id}" aria-label="Link to ${id}">#</a>`;

const about = (description: string | null | undefined): Part =>
  description && html`<div class="about">${prose(description)}</div>`;

const inputRow = (owner: string, input: GraphQLArgument | GraphQLInputField, label: string): Html => html`
<li id="${owner}.${input.name}" data-entry="${label}">
<code class="name">${input.name}</code><code>: ${typeLink(input.type)}${defaultText(input)}</code>
${about(input.description)}${deprecation(input.deprecationReason)}
</li>`;

const exampleLinks = (examples: readonly Example[], graphiql: boolean): Part =>
  examples.length > 0 &&
  html`<p class="used">In examples: ${examples.map(({ name, title }, i) => [
    i > 0 && ', ',
    graphiql ? html`<a href="graphql?example=${name}">${title}</a>` : title,
  ])}</p>`;

function fieldRow(shelf: Section, owner: string, field: GraphQLField<unknown, unknown>): Html {
  const id = `${owner}.${field.name}`;
  return html`
<li id="${id}" data-entry="${id}"${field.deprecationReason != null && html` class="old"`}>
<h3><code><span class="name">${field.name}</span>${
    field.args.length > 0 && html`<span class="dim">(…)</span>`
  }: ${typeLink(field.type)}</code>${costNote(field.extensions.cost)}${anchor(id)}</h3>
${about(field.description)}${deprecation(field.deprecationReason)}
${
  field.args.length > 0 &&
  html`<ul class="args" aria-label="Arguments of ${field.name}">${field.args.map((arg) =>
    inputRow(id, arg, `${id}(${arg.name}:)`),
  )}</ul>`
}
${exampleLinks(shelf.usage.examples.get(id) ?? [], shelf.graphiql)}
</li>`;
}

const names = (label: string, list: readonly string[]): Part =>
  list.length > 0 &&
  html`<p class="used">${label} ${list.map((name, i) => [
    i > 0 && ', ',
    html`<a href="#${name}"><code>${name}</code></a>`,
  ])}</p>`;

/** Fields, values or members, by the kind of type. */
function body(shelf: Section, type: GraphQLNamedType): Part {
  if (isObjectType(type) || isInterfaceType(type)) {
    return html`<ul class="fields">${Object.values(type.getFields()).map((field) =>
      fieldRow(shelf, type.name, field),
    )}</ul>`;
  }
  if (isInputObjectType(type)) {
    return html`<ul class="fields">${Object.values(type.getFields()).map((field) =>
      inputRow(type.name, field, `${type.name}.${field.name}`),
    )}</ul>`;
  }
  if (!isEnumType(type)) return null;
  return html`<ul class="fields">${type.getValues().map(
    (value) => html`
<li id="${type.name}.${value.name}" data-entry="${type.name}.${value.name}">
<h3><code class="name">${value.name}</code></h3>
${about(value.description)}${deprecation(value.deprecationReason)}</li>`,
  )}</ul>`;
}

/** The kind of a type in plain words. */
function kindOf(type: GraphQLNamedType): string {
  if (isObjectType(type)) return 'object';
  if (isInterfaceType(type)) return 'interface';
  if (isEnumType(type)) return 'enum';
  if (isScalarType(type)) return 'scalar';
  if (isInputObjectType(type)) return type.isOneOf ? 'input, exactly one field' : 'input';
  return 'union';
}

/** One type. */
export const typeEntry = (shelf: Section, type: GraphQLNamedType): Html => html`
<section class="entry" id="${type.name}" aria-labelledby="${type.name}-name" data-entry="${type.name}">
<h2 id="${type.name}-name">${type.name} <span class="kind">${kindOf(type)}</span>${anchor(type.name)}</h2>
${about(type.description)}
${
  isScalarType(type) &&
  type.specifiedByURL &&
  html`<p class="used">Specified by
<a href="${type.specifiedByURL}" rel="noreferrer">${type.specifiedByURL}</a></p>`
}
${
  (isObjectType(type) || isInterfaceType(type)) &&
  names(
    'Implements',
    type.getInterfaces().map(({ name }) => name),
  )
}
${
  isAbstractType(type) &&
  names(
    'Is one of',
    shelf.schema.getPossibleTypes(type).map(({ name }) => name),
  )
}
${body(shelf, type)}
${names('Answered by', shelf.usage.answeredBy.get(type.name) ?? [])}
${names('Taken by', shelf.usage.takenBy.get(type.name) ?? [])}
</section>`;

/** One directive. */
export const directiveEntry = (directive: GraphQLDirective): Html => html`
<section class="entry" id="@${directive.name}" aria-labelledby="@${directive.name}-name"
 data-entry="@${directive.name}">
<h2 id="@${directive.name}-name">@${directive.name}
<span class="kind">directive${directive.isRepeatable && ', repeatable'}</span>${anchor(
  `@${directive.name}`,
)}</h2>
${about(directive.description)}
${
  directive.args.length > 0 &&
  html`<ul class="fields">${directive.args.map((arg) =>
    inputRow(`@${directive.name}`, arg, `@${directive.name}(${arg.name}:)`),
  )}</ul>`
}
<p class="used">On
${directive.locations.map((place) => place.toLowerCase().replaceAll('_', ' ')).join(', ')}</p>
</section>`;
