// What changed between two versions of the schema, by its effect on clients. What was deprecated long enough may go: an element
// whose deprecation names a date that has passed counts as no longer promised.
import { MapperKind, mapSchema } from '@graphql-tools/utils';
import { buildSchema, findBreakingChanges, findDangerousChanges, type GraphQLSchema } from 'graphql';

/** The form of a deprecation reason: what to use instead, and from when on the element may be gone. */
export const DEPRECATION = /\bUse `[^`]+`.*Removed after (\d{4}-\d{2}-\d{2})\.$/;

/** What clients of a schema may still rely on at a date: everything but what was to be removed by then. */
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
  /** What makes operations fail that worked. */
  readonly breaking: readonly string[];
  /** What operations survive but clients may not have reckoned with, such as a new member of a union. */
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
