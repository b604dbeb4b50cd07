// The same query in parts: some selections are deferred, some lists streamed; and the answer put
// together as clients do it.
import {
  type DirectiveNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  isCompositeType,
  isListType,
  Kind,
  type NamedTypeNode,
  parse,
  print,
  type SelectionNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { schema } from '../../src/resolvers/schema.ts';
import type { Answer } from './compare.ts';

const directive = (name: string, args = ''): DirectiveNode => {
  const [definition] = parse(`{ a @${name}${args} }`).definitions;
  const found =
    definition?.kind === Kind.OPERATION_DEFINITION && definition.selectionSet.selections[0]?.directives?.[0];
  if (!found) throw new Error(`no directive ${name}`);
  return found;
};
const DEFER = directive('defer');
const STREAMS = [directive('stream'), directive('stream', '(initialCount: 1)')];
const CONDITIONS = [directive('include', '(if: true)'), directive('skip', '(if: false)')];

/** Numbers below 1 that a seed determines. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Defers and streams some of a query, under conditions, in inline and named fragments. */
export function inParts(query: string, seed: number): string {
  const next = randomNumbers(seed);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(next() * all.length)] as T;
  const fragments: FragmentDefinitionNode[] = [];
  const types = new TypeInfo(schema);

  function fragment(
    type: NamedTypeNode,
    selections: readonly SelectionNode[],
    isDeferred: boolean,
  ): SelectionNode {
    const directives = [...(isDeferred ? [DEFER] : []), ...(next() < 0.3 ? [pick(CONDITIONS)] : [])];
    const selectionSet = { kind: Kind.SELECTION_SET, selections } as const;
    if (next() < 0.6) return { kind: Kind.INLINE_FRAGMENT, directives, selectionSet };
    const name = { kind: Kind.NAME, value: `F${fragments.length}` } as const;
    fragments.push({ kind: Kind.FRAGMENT_DEFINITION, name, typeCondition: type, selectionSet });
    return { kind: Kind.FRAGMENT_SPREAD, name, directives };
  }

  const document = visit(
    parse(query),
    visitWithTypeInfo(types, {
      Field(node) {
        const type = types.getType();
        const list = isListType(type) || String(type).startsWith('[');
        if (!list || !isCompositeType(getNamedType(type)) || next() < 0.75) return undefined;
        return { ...node, directives: [pick(STREAMS)] } satisfies FieldNode;
      },
      SelectionSet: {
        leave(node) {
          const type = types.getParentType();
          if (type === null || type === undefined || node.selections.some((one) => one.kind !== Kind.FIELD))
            return undefined;
          const { selections } = node;
          const named: NamedTypeNode = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: type.name } };
          const at = Math.floor(next() * selections.length);
          const [before, after] = [selections.slice(0, at), selections.slice(at)];
          // A field may stand in both parts, with a selection of its own in each.
          const [first] = after;
          const isSplit = first?.kind === Kind.FIELD && (first.selectionSet?.selections.length ?? 0) > 1;
          if (isSplit && next() < 0.5) {
            const [one, ...others] = first.selectionSet?.selections ?? [];
            const withSelections = (some: readonly (SelectionNode | undefined)[]): FieldNode => ({
              ...first,
              directives: [],
              selectionSet: { kind: Kind.SELECTION_SET, selections: some.flatMap((s) => s ?? []) },
            });
            const rest = [withSelections(others), ...after.slice(1)];
            return { ...node, selections: [...before, withSelections([one]), fragment(named, rest, true)] };
          }
          return next() < 0.5
            ? { ...node, selections: [...before, fragment(named, after, next() < 0.7)] }
            : undefined;
        },
      },
    }),
  );
  return [print(document), ...fragments.map((one) => print(one))].join('\n');
}

interface Part extends Answer {
  readonly incremental?: readonly (Answer & {
    readonly items?: readonly unknown[] | null;
    readonly path: readonly (string | number)[];
  })[];
}

const isObject = (value: unknown): value is Record<string | number, unknown> =>
  typeof value === 'object' && value !== null;

function merge(into: Record<string | number, unknown>, from: Record<string | number, unknown>): void {
  for (const [key, value] of Object.entries(from)) {
    const before = into[key];
    if (isObject(before) && isObject(value)) merge(before, value);
    // A field that failed in one part is unknown.
    else if (before !== null || !(key in into)) into[key] = value;
  }
}

/** Puts the parts of an answer (multipart, 2022-08-24) together. */
export function joinParts(text: string): Answer {
  const parts = text
    .split('\r\n---')
    .slice(1, -1)
    .map((part) => JSON.parse(part.split('\r\n\r\n')[1] ?? '') as Part);
  const [first, ...others] = parts;
  if (first === undefined) return JSON.parse(text) as Answer;
  const errors = [...(first.errors ?? [])];
  const whole = { data: first.data ?? null };
  for (const { data, items, path, errors: more = [] } of others.flatMap((part) => part.incremental ?? [])) {
    errors.push(...more);
    const keys: readonly (string | number)[] = ['data', ...path];
    const steps = items === undefined ? keys : keys.slice(0, -1);
    let here: unknown = whole;
    for (const key of steps) here = isObject(here) ? here[key] : undefined;
    if (Array.isArray(here) && items != null) here.push(...items);
    else if (isObject(here) && isObject(data)) merge(here, data);
  }
  return { ...whole, ...(errors.length === 0 ? {} : { errors }) };
}
