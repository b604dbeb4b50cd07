// The schema reference: every type, field, argument, value and directive on one page that works
// without scripts; a script adds the search.
import {
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
} from 'graphql';
import type { Example } from '../examples.ts';
import { type Html, html } from '../html.ts';
import { layout, type Site } from '../layout.ts';
import { directiveEntry, typeEntry } from './type-entry.ts';
import { usageOf } from './usage.ts';

interface Group {
  readonly title: string;
  readonly names: readonly string[];
}

/** Types in the order of a reader: where a query starts, what it answers, what it takes. */
function groupsOf(schema: GraphQLSchema): Group[] {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap(
    (type) => (type == null ? [] : [type]),
  );
  const rest = Object.values(schema.getTypeMap())
    .filter((type) => !type.name.startsWith('__') && !roots.some((root) => root === type))
    .sort((a, b) => a.name.localeCompare(b.name, 'en'));
  const those = (wanted: (type: GraphQLNamedType) => boolean): string[] =>
    rest.filter(wanted).map(({ name }) => name);
  const paging = (type: GraphQLNamedType): boolean =>
    isObjectType(type) && /(Connection|Edge|^PageInfo)$/.test(type.name);
  return [
    { title: 'Operations', names: roots.map(({ name }) => name) },
    { title: 'Objects', names: those((type) => isObjectType(type) && !paging(type)) },
    { title: 'Interfaces', names: those(isInterfaceType) },
    { title: 'Unions', names: those(isUnionType) },
    { title: 'Inputs', names: those(isInputObjectType) },
    { title: 'Enums', names: those(isEnumType) },
    { title: 'Paging', names: those(paging) },
    { title: 'Scalars', names: those((type) => 'parseLiteral' in type && !isEnumType(type)) },
  ].filter(({ names }) => names.length > 0);
}

export interface ReferenceOptions {
  readonly schema: GraphQLSchema;
  readonly examples: readonly Example[];
  readonly site: Site;
}

const SEARCH = html`<form class="search" role="search" hidden>
<label for="search">Search the schema</label>
<input id="search" type="search" role="combobox" autocomplete="off" spellcheck="false"
 placeholder="ipTM, submitFold, residues …"
 aria-expanded="false" aria-controls="found" aria-autocomplete="list" aria-keyshortcuts="/">
<kbd aria-hidden="true">/</kbd>
<ul id="found" role="listbox" aria-label="Found" hidden></ul>
<p id="count" class="hidden" role="status"></p>
</form>`;

const contents = (
  groups: readonly Group[],
): Html => html`<nav class="contents" aria-label="Types"><details open>
<summary>Types</summary>
${groups.map(
  ({ title, names }) =>
    html`<h2>${title}</h2><ul>${names.map((name) => html`<li><a href="#${name}">${name}</a></li>`)}</ul>`,
)}
</details></nav>`;

/** The page. */
export function referencePage({ schema, examples, site }: ReferenceOptions): Html {
  const shelf = { schema, usage: usageOf(schema, examples), graphiql: site.places.graphiql };
  const directives = schema.getDirectives();
  const groups = groupsOf(schema);
  const types = groups.flatMap(({ names }) => names.map((name) => schema.getType(name)));
  const withDirectives = [
    ...groups,
    { title: 'Directives', names: directives.map(({ name }) => `@${name}`) },
  ];
  return layout({
    title: 'Schema reference · FoldAtlas',
    here: 'reference',
    description: 'Every type, field, argument and value of the FoldAtlas schema.',
    site,
    styles: ['reference.css'],
    scripts: ['reference.js'],
    bar: SEARCH,
    main: html`<div class="columns">${contents(withDirectives)}
<div class="entries">
<h1>Schema reference</h1>
<p class="lead">Every type, field, argument and value, made from the schema that this gateway runs.
Absence is <code>null</code> or an empty list; failure is an error at its path; a refused mutation is a typed
result. pLDDT is 0 to 100, PAE is ångström, residues are counted from 0 with the end excluded.</p>
<p class="lead"><a href="schema.graphql">The same as SDL</a>, for code generators.</p>
${types.map((type) => type !== undefined && typeEntry(shelf, type))}
${directives.map(directiveEntry)}
</div></div>`,
  });
}
