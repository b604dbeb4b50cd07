// The printed schema and the example operations keep the conventions of GraphQL: graphql-js checks
// what is valid, the rules below check names, connections, reachability, depth and the keys that a
// cache needs.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  type DocumentNode,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedDirective,
  isUnionType,
  Kind,
  NoDeprecatedCustomRule,
  parse,
  type SelectionSetNode,
  specifiedRules,
  TypeInfo,
  validate,
  validateSchema,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../root.ts';
import { listElements } from './elements.ts';

const sdl = readFileSync(join(ROOT, 'schema.graphql'), 'utf8');
const schema = buildSchema(sdl);
const types = Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type));

const PASCAL = /^[A-Z][A-Za-z0-9]*$/;
const CAMEL = /^_?[a-z][A-Za-z0-9]*$/;
const UPPER = /^[A-Z][A-Z0-9_]*$/;

describe('schema.graphql', () => {
  it('is valid', () => {
    expect(validateSchema(schema)).toEqual([]);
  });

  it('names types, fields, arguments, directives and values in their usual forms', () => {
    const wrong: string[] = types.filter(({ name }) => !PASCAL.test(name)).map(({ name }) => name);
    const check = (path: string, name: string, form: RegExp): void => {
      if (!form.test(name)) wrong.push(`${path}.${name}`);
    };
    for (const type of types) {
      if (isEnumType(type)) for (const { name } of type.getValues()) check(type.name, name, UPPER);
      if (isObjectType(type) || isInterfaceType(type) || isInputObjectType(type))
        for (const field of Object.values(type.getFields())) {
          check(type.name, field.name, CAMEL);
          if ('args' in field)
            for (const { name } of field.args) check(`${type.name}.${field.name}`, name, CAMEL);
        }
    }
    for (const directive of schema.getDirectives().filter((one) => !isSpecifiedDirective(one))) {
      check('@', directive.name, CAMEL);
      for (const { name } of directive.args) check(directive.name, name, CAMEL);
    }
    expect(wrong).toEqual([]);
  });

  it('repeats no kind in a name: no getX, no EnumX, no XType', () => {
    const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
    const fields = roots.flatMap((type) => Object.keys(type?.getFields() ?? {}));
    expect(
      fields.filter((name) => /^(get|query|mutation)[A-Z]|(Query|Mutation|Subscription)$/.test(name)),
    ).toEqual([]);
    const prefixed = types.filter(
      (type) =>
        (isEnumType(type) && /^Enum|Enum$/.test(type.name)) ||
        (isInterfaceType(type) && /^Interface|Interface$/.test(type.name)) ||
        (isUnionType(type) && /^Union|Union$/.test(type.name)) ||
        (isObjectType(type) && /^Type|Type$/.test(type.name)),
    );
    expect(prefixed.map(({ name }) => name)).toEqual([]);
  });

  it('describes in strings, not in comments, and gives a reason for each deprecation', () => {
    const blocks = sdl.replaceAll(/"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"/g, '');
    expect(blocks).not.toContain('#');
    expect(listElements(schema).filter(({ deprecationReason }) => deprecationReason === '')).toEqual([]);
    expect(sdl).not.toMatch(/@deprecated(?!\()/);
  });

  it('has no type that no root field leads to', () => {
    const reached = new Set<string>();
    const walk = (name: string | undefined): void => {
      if (name === undefined || reached.has(name)) return;
      reached.add(name);
      const type = schema.getType(name);
      if (isObjectType(type) || isInterfaceType(type)) {
        for (const one of type.getInterfaces()) walk(one.name);
        for (const field of Object.values(type.getFields())) {
          walk(getNamedType(field.type).name);
          for (const arg of field.args) walk(getNamedType(arg.type).name);
        }
      }
      if (isInterfaceType(type) || isUnionType(type))
        for (const one of schema.getPossibleTypes(type)) walk(one.name);
      if (isInputObjectType(type))
        for (const field of Object.values(type.getFields())) walk(getNamedType(field.type).name);
    };
    for (const type of [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()])
      walk(type?.name);
    for (const directive of schema.getDirectives())
      for (const arg of directive.args) walk(getNamedType(arg.type).name);
    expect(types.map(({ name }) => name).filter((name) => !reached.has(name) && name !== 'Boolean')).toEqual(
      [],
    );
  });

  it('has connections as Relay asks: edges, a page, a cursor, forward arguments', () => {
    const connections = types.filter(isObjectType).filter(({ name }) => name.endsWith('Connection'));
    expect(connections.length).toBeGreaterThan(2);
    for (const type of connections) {
      const { edges, pageInfo } = type.getFields();
      expect(String(pageInfo?.type), type.name).toBe('PageInfo!');
      const edge = edges && getNamedType(edges.type);
      if (!isObjectType(edge)) throw new Error(`${type.name} has no edges`);
      expect(edge.name).toMatch(/Edge$/);
      expect(String(edges?.type).startsWith('['), type.name).toBe(true);
      expect(String(edge.getFields().cursor?.type), edge.name).toBe('String!');
      expect(Object.keys(edge.getFields()), edge.name).toContain('node');
    }
    const pageInfo = schema.getType('PageInfo');
    const fields = isObjectType(pageInfo) ? pageInfo.getFields() : {};
    expect(
      Object.fromEntries(Object.values(fields).map(({ name, type }) => [name, String(type)])),
    ).toMatchObject({
      hasNextPage: 'Boolean!',
      hasPreviousPage: 'Boolean!',
      startCursor: 'String',
      endCursor: 'String',
    });
    for (const type of types)
      if (isObjectType(type) || isInterfaceType(type))
        for (const { name, type: result, args } of Object.values(type.getFields()))
          if (/Connection!?$/.test(String(result))) {
            const given = Object.fromEntries(args.map((arg) => [arg.name, String(arg.type)]));
            expect([given.first, given.after], `${type.name}.${name}`).toEqual([
              expect.stringMatching(/^Int!?$/),
              'String',
            ]);
          }
  });
});

const FOLDER = join(ROOT, 'examples');
const documents = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.graphql'))
  .map((file): [string, DocumentNode] => [file, parse(readFileSync(join(FOLDER, file), 'utf8'))]);

/** By any of these a cache knows an object. */
const KEYS = ['id', 'hash', 'representativeHash', 'index', 'batchId', 'taskId', 'lookupId', 'accession'];
const MAX_DEPTH = 7;

const measureDepth = (
  set: SelectionSetNode | undefined,
  fragments: ReadonlyMap<string, SelectionSetNode>,
): number =>
  set === undefined
    ? 0
    : Math.max(
        ...set.selections.map((one) =>
          one.kind === Kind.FIELD
            ? 1 + measureDepth(one.selectionSet, fragments)
            : measureDepth(
                one.kind === Kind.FRAGMENT_SPREAD ? fragments.get(one.name.value) : one.selectionSet,
                fragments,
              ),
        ),
      );

/** The fields of a selection, those of its fragments too. */
const namesIn = (set: SelectionSetNode, fragments: ReadonlyMap<string, SelectionSetNode>): string[] =>
  set.selections.flatMap((one) => {
    if (one.kind === Kind.FIELD) return one.name.value;
    const inner = one.kind === Kind.FRAGMENT_SPREAD ? fragments.get(one.name.value) : one.selectionSet;
    return inner === undefined ? [] : namesIn(inner, fragments);
  });

describe.each(documents)('examples/%s', (_, document) => {
  const fragments = new Map(
    document.definitions.flatMap((one) =>
      one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one.selectionSet] as const] : [],
    ),
  );

  it('is valid against the schema and uses nothing deprecated', () => {
    expect(validate(schema, document, [...specifiedRules, NoDeprecatedCustomRule])).toEqual([]);
  });

  it('has names in the usual forms', () => {
    for (const one of document.definitions) {
      if (one.kind === Kind.OPERATION_DEFINITION) {
        expect(one.name?.value).toMatch(PASCAL);
        expect(one.name?.value).not.toMatch(
          /^(Query|Mutation|Subscription|Get)|(Query|Mutation|Subscription)$/,
        );
        for (const { variable } of one.variableDefinitions ?? []) expect(variable.name.value).toMatch(CAMEL);
      }
      // Relay names a fragment after its operation and its part.
      if (one.kind === Kind.FRAGMENT_DEFINITION)
        expect(one.name.value).toMatch(/^[A-Z][A-Za-z]*_[a-z][A-Za-z]*$/);
    }
  });

  it('selects no field twice, a key of each object that has an id, and at most seven levels', () => {
    const info = new TypeInfo(schema);
    const wrong: string[] = [];
    visit(
      document,
      visitWithTypeInfo(info, {
        SelectionSet(set, _key, parent) {
          const names = set.selections.flatMap((one) =>
            one.kind === Kind.FIELD ? (one.alias ?? one.name).value : [],
          );
          if (new Set(names).size < names.length) wrong.push(`repeated: ${names.join(' ')}`);
          const type = info.getParentType();
          const isOfField = parent !== undefined && 'kind' in parent && parent.kind === Kind.FIELD;
          if (
            !isOfField ||
            type === undefined ||
            type === null ||
            isUnionType(type) ||
            !('id' in type.getFields())
          )
            return;
          if (!namesIn(set, fragments).some((name) => KEYS.includes(name)))
            wrong.push(`no key of ${type.name}`);
        },
      }),
    );
    expect(wrong).toEqual([]);
    for (const one of document.definitions)
      if (one.kind === Kind.OPERATION_DEFINITION)
        expect(measureDepth(one.selectionSet, fragments) - 1).toBeLessThanOrEqual(MAX_DEPTH);
  });
});
