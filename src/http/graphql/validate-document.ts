// Validates documents (Validation of the GraphQL specification) with the rules of the plugins,
// each document once. graphql-js prepares every rule for each of forty kinds of nodes anew, which
// takes most of the time of a small document: here all rules are one rule, which prepares those
// that look at a node of the document.
import { memoize2 } from '@graphql-tools/utils';
import {
  type ASTNode,
  type ASTVisitFn,
  type ASTVisitor,
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  getEnterLeaveForKind,
  Kind,
  OverlappingFieldsCanBeMergedRule,
  type SelectionSetNode,
  type ValidationRule,
  validate,
} from 'graphql';
import type { DocumentFacts } from './document-facts.ts';

/** What a rule does when a kind of nodes begins and ends. */
interface Handler {
  readonly rule: number;
  readonly visitor: ASTVisitor;
  readonly enter: ASTVisitFn<ASTNode> | undefined;
  readonly leave: ASTVisitFn<ASTNode> | undefined;
}

function handlerOf(visitor: ASTVisitor, rule: number, kind: Kind): Handler | undefined {
  const { enter, leave } = getEnterLeaveForKind(visitor, kind);
  return enter === undefined && leave === undefined ? undefined : { rule, visitor, enter, leave };
}

/** Joins rules, which change nothing and end no visit, to one that reports the same in the same order. */
export function joinRules(rules: readonly ValidationRule[]): ValidationRule {
  /** The rules that look at a kind of nodes: the same in every document. */
  let rulesOf: ReadonlyMap<string, readonly number[]> | undefined;
  return (context) => {
    const visitors: ASTVisitor[] = rulesOf === undefined ? rules.map((rule) => rule(context)) : [];
    rulesOf ??= new Map(
      Object.values(Kind).map((kind) => [
        kind,
        visitors.flatMap((visitor, i) => (handlerOf(visitor, i, kind) === undefined ? [] : i)),
      ]),
    );
    const looking = rulesOf;
    const handlers = new Map<string, readonly Handler[]>();
    /** By rule: the node below which it looks at nothing. */
    const skipped: (ASTNode | undefined)[] = [];
    const prepare = (kind: Kind): readonly Handler[] => {
      const made = (looking.get(kind) ?? []).flatMap((i) => {
        visitors[i] ??= rules[i]?.(context) ?? {};
        return handlerOf(visitors[i], i, kind) ?? [];
      });
      handlers.set(kind, made);
      return made;
    };
    return {
      enter(node, key, parent, path, ancestors) {
        for (const { rule, visitor, enter } of handlers.get(node.kind) ?? prepare(node.kind)) {
          if (skipped[rule] !== undefined) continue;
          if (enter?.call(visitor, node, key, parent, path, ancestors) === false) skipped[rule] = node;
        }
      },
      leave(node, key, parent, path, ancestors) {
        for (const { rule, visitor, leave } of handlers.get(node.kind) ?? []) {
          if (skipped[rule] === node) skipped[rule] = undefined;
          else if (skipped[rule] === undefined) leave?.call(visitor, node, key, parent, path, ancestors);
        }
      },
    };
  };
}

/** Deeper selections are refused for their depth, or for a fragment within itself. */
const MAX_DEPTH = 100;

/**
 * Counts pairs of fields of one name in one place, fragments spread: the rule that they can be merged
 * compares each.
 *
 * @param sets - selections of one object
 * @param left - how many fields are looked at
 */
export function countPairs(
  sets: readonly SelectionSetNode[],
  fragments: DocumentFacts['fragments'],
  left: { fields: number },
  depth = 0,
): number {
  const below = new Map<string, (SelectionSetNode | undefined)[]>();
  const spread = new Set<string>();
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet);
      else if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const { value } = selection.name;
        const fragment = spread.has(value) ? undefined : fragments[value];
        spread.add(value);
        if (fragment !== undefined) collect(fragment.selectionSet);
      } else if (left.fields > 0) {
        left.fields -= 1;
        const { value } = selection.alias ?? selection.name;
        const same = below.get(value) ?? [];
        below.set(value, same);
        same.push(selection.selectionSet);
      }
    }
  };
  for (const set of sets) collect(set);
  let pairs = 0;
  for (const same of below.values()) {
    pairs += (same.length * (same.length - 1)) / 2;
    const inner = same.filter((set) => set !== undefined);
    if (inner.length > 0 && depth < MAX_DEPTH) pairs += countPairs(inner, fragments, left, depth + 1);
  }
  return pairs;
}

/** Errors reported per document; more are of no use, and each costs time. */
const MAX_ERRORS = 20;

/** @param hideSuggestions - errors that suggest names would reveal the schema piece by piece */
export function createValidator(hideSuggestions: boolean) {
  let all: ValidationRule[] | undefined;
  const options = { maxErrors: MAX_ERRORS, hideSuggestions };
  const once = memoize2((schema: GraphQLSchema, document: DocumentNode) =>
    validate(schema, document, all, options),
  );
  /** @param rules - the same for every document */
  return (
    schema: GraphQLSchema,
    document: DocumentNode,
    rules: readonly ValidationRule[],
  ): readonly GraphQLError[] => {
    // The plugin for @defer and @stream adds its own of this name and cannot take this one out: a
    // conflict would be reported twice.
    all ??= [joinRules(rules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule))];
    return once(schema, document);
  };
}
