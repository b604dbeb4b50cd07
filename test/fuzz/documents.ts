// Documents that the schema allows, made of a list of numbers: each number is one choice. It must
// not know what answers them.
import {
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';

const DEEPEST = 5;
const HASHES = [
  '12e9c9e4e2835c302e8ba615115edda3',
  'efebacde779fb9ede77f2039ec6cfe09',
  '00000000000000000000000000000000',
  'not a hash',
];
const PLAUSIBLE: Readonly<Record<string, readonly string[]>> = {
  hash: HASHES,
  hashes: HASHES,
  id: ['P01308', 'INS_HUMAN', 'UHJvdGVpbjp4', 'ENSP00000250971'],
  ids: ['P01308', 'P69905', '12e9c9e4e2835c302e8ba615115edda3', 'nobody'],
  sequence: ['GIVEQCCTSICSLYQLENYCN', '>x\nGIVEQ', 'B0B', ''],
  search: ['helix', 'zinc finger', '"', ''],
  smiles: ['CCO', 'c1ccccc1', '(((('],
  ccd: ['ATP', 'HEM', '?'],
};
const TEXTS = ['', ' ', 'a', '\u0000', 'ß\u{1f600}', '../../etc/passwd', 'x'.repeat(3000)];
const NUMBERS = [0, 1, 2, 10, 100, -1, 101, 2_147_483_647, -2_147_483_648];
const FLOATS = [0, 0.5, 1, -1, 99.9, 1e308];

/** @param choices - used in turn, then from the start */
export function writeDocument(schema: GraphQLSchema, choices: readonly number[]): string {
  let used = 0;
  let aliases = 0;
  const fragments: string[] = [];
  const pick = (count: number): number => {
    const choice = choices[used % choices.length] ?? 0;
    used += 1;
    // Later rounds through the same list choose otherwise.
    return (choice + Math.floor(used / Math.max(1, choices.length))) % count;
  };
  const pickOne = <T>(list: readonly T[], otherwise: T): T => list[pick(list.length)] ?? otherwise;
  const chance = (of: number): boolean => pick(of) === 0;

  function scalar(type: GraphQLNamedType, name: string): string {
    if (type.name === 'Int') return String(pickOne(chance(3) ? NUMBERS : [1, 2, 3, 10], 1));
    if (type.name === 'Float') return String(pickOne(FLOATS, 0));
    if (type.name === 'Boolean') return String(chance(2));
    return JSON.stringify(pickOne(chance(4) ? TEXTS : (PLAUSIBLE[name] ?? TEXTS), ''));
  }
  function value(type: GraphQLInputType, name: string, depth: number): string {
    if (isNonNullType(type)) return value(type.ofType, name, depth);
    if (isListType(type)) {
      const item = type.ofType;
      return `[${Array.from({ length: pick(4) }, () => value(item, name, depth)).join(', ')}]`;
    }
    if (isEnumType(type)) return pickOne(type.getValues(), undefined)?.name ?? 'null';
    if (!isInputObjectType(type)) return scalar(type, name);
    const fields = Object.values(type.getFields());
    const given = type.isOneOf
      ? [pickOne(fields, undefined)]
      : fields.filter((field) => isNonNullType(field.type) || (depth > 0 && chance(3)));
    const texts = given.flatMap((field) =>
      field === undefined ? [] : [`${field.name}: ${value(field.type, field.name, depth - 1)}`],
    );
    return `{ ${texts.join(', ')} }`;
  }
  function args(list: readonly GraphQLArgument[]): string {
    const given = list.filter((arg) => isNonNullType(arg.type) || chance(3));
    if (given.length === 0) return '';
    return `(${given.map((arg) => `${arg.name}: ${value(arg.type, arg.name, 2)}`).join(', ')})`;
  }
  const directive = (): string => (chance(6) ? ` @${chance(2) ? 'include' : 'skip'}(if: ${chance(2)})` : '');

  function writeFields(type: GraphQLObjectType, depth: number): string[] {
    const all = Object.values(type.getFields()).filter(
      (field) =>
        depth > 1 || !(isObjectType(getNamedType(field.type)) || isAbstractType(getNamedType(field.type))),
    );
    if (all.length === 0) return ['__typename'];
    return Array.from({ length: 1 + pick(4) }, () => {
      const field = pickOne(all, all[0]);
      if (field === undefined) return '__typename';
      const named = getNamedType(field.type);
      aliases += 1;
      const inner = isObjectType(named) || isAbstractType(named) ? ` ${selection(named, depth - 1)}` : '';
      return `a${aliases}: ${field.name}${args(field.args)}${directive()}${inner}`;
    });
  }
  function selection(type: GraphQLNamedType, depth: number): string {
    if (isAbstractType(type)) {
      const parts = schema
        .getPossibleTypes(type)
        .filter(() => !chance(3))
        .map((each) => `... on ${each.name}${directive()} { ${writeFields(each, depth).join(' ')} }`);
      return `{ __typename ${parts.join(' ')} }`;
    }
    if (!isObjectType(type)) return '';
    const fields = writeFields(type, depth);
    if (!chance(5)) return `{ ${fields.join(' ')} }`;
    const name = `F${fragments.length}`;
    fragments.push(`fragment ${name} on ${type.name} { ${fields.join(' ')} }`);
    return `{ ...${name}${directive()} __typename }`;
  }

  const mutation = schema.getMutationType();
  const isMutation = mutation != null && chance(8);
  const root = isMutation ? mutation : schema.getQueryType();
  if (root == null) throw new Error('a schema without queries');
  const body = writeFields(root, DEEPEST).join(' ');
  return [`${isMutation ? 'mutation' : 'query'} { ${body} }`, ...fragments].join('\n');
}
