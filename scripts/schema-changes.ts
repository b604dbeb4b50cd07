// Lists the changes between two versions of the schema by their effect on clients. An element
// whose deprecation names a date that has passed may be removed.
import { MapperKind, mapSchema } from '@graphql-tools/utils';
import { buildSchema, findBreakingChanges, findDangerousChanges, type GraphQLSchema } from 'graphql';

/**
 * The form of a deprecation reason: what to use instead, and from when on the element may be gone.
 */
export const DEPRECATION = /\bUse `[^`]+`.*Removed after (\d{4}-\d{2}-\d{2})\.$/;

/** The schema that clients may still rely on at a date: without the elements removed by then. */
function promised(schema: GraphQLSchema, today: string): GraphQLSchema {
  const unlessExpired = <Config extends { deprecationReason?: string | null | undefined }>(
    config: Config,
  ) => {
    const until = DEPRECATION.exec(config.deprecationReason ?? '')?.[1];
    return until !== undefined && until < today ? null : config;
  };
  return mapSchema(schema, {
    [MapperKind.OBJECT_FIELD]: unlessExpired,
    [MapperKind.INTERFACE_FIELD]: unlessExpired,
    [MapperKind.INPUT_OBJECT_FIELD]: unlessExpired,
    [MapperKind.ARGUMENT]: unlessExpired,
    [MapperKind.ENUM_VALUE]: unlessExpired,
  });
}

export interface SchemaChanges {
  /** Changes that make working operations fail. */
  readonly breaking: readonly string[];
  /** Changes that clients may not expect, such as a new member of a union. */
  readonly dangerous: readonly string[];
}

/**
 * Compares two schemas in SDL.
 *
 * @param today - ISO date by which deprecated elements may be gone
 */
export function schemaChanges(released: string, current: string, today: string): SchemaChanges {
  const before = promised(buildSchema(released), today);
  const after = buildSchema(current);
  return {
    breaking: findBreakingChanges(before, after).map(({ description }) => description),
    dangerous: findDangerousChanges(before, after).map(({ description }) => description),
  };
}
