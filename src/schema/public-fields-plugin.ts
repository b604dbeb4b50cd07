// Pothos plugin: the field option `public`. A field without it is private: an answer that selects
// it is never cached or shared between callers.
import SchemaBuilder, {
  BasePlugin,
  type FieldNullability,
  type InputFieldMap,
  type PothosOutputFieldConfig,
  type SchemaTypes,
  type TypeParam,
} from '@pothos/core';
import type { GraphQLField } from 'graphql';

/**
 * How long a public value is valid: until the next release of the service, or
 * CACHE_RECORDS_SECONDS.
 */
type Lifetime = 'release' | 'record';

interface PublicField {
  readonly lifetime: Lifetime;
  /** Arguments that make the service start work when set: such an answer is private. */
  readonly privateWith: readonly string[];
}

declare global {
  export namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      publicFields: PublicFieldsPlugin<Types>;
    }
    interface FieldOptions<
      Types extends SchemaTypes = SchemaTypes,
      ParentShape = unknown,
      Type extends TypeParam<Types> = TypeParam<Types>,
      Nullable extends FieldNullability<Type> = FieldNullability<Type>,
      Args extends InputFieldMap = InputFieldMap,
      ResolveShape = unknown,
      ResolveReturnShape = unknown,
    > {
      /** Every caller gets the same value, valid for this long. Private when absent. */
      public?: Lifetime;
      /** Arguments of a public field that make the answer private when they are set. */
      privateWith?: readonly (keyof Args & string)[];
    }
  }
}

/** Options of a public field that may be null. */
export const publicNullable = (lifetime: Lifetime, description: string) =>
  ({ public: lifetime, description }) as const;

/** Options of a public field that is never null. */
export const publicNonNull = (lifetime: Lifetime, description: string) =>
  ({ public: lifetime, nullable: false, description }) as const;

const PUBLIC = 'public';

class PublicFieldsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(config: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const { public: lifetime, privateWith = [] } = config.pothosOptions;
    if (lifetime === undefined) return config;
    const declared: PublicField = { lifetime, privateWith };
    return { ...config, extensions: { ...config.extensions, [PUBLIC]: declared } };
  }
}

const isPublicField = (declared: unknown): declared is PublicField =>
  typeof declared === 'object' && declared !== null && 'lifetime' in declared;

/** The declaration of a field; undefined for a private one. */
export function publicField({ extensions }: GraphQLField<unknown, unknown>): PublicField | undefined {
  const declared: unknown = extensions[PUBLIC];
  return isPublicField(declared) ? declared : undefined;
}

/** The plugin's name in the builder's options. */
export const publicFieldsPlugin = 'publicFields';
SchemaBuilder.registerPlugin(publicFieldsPlugin, PublicFieldsPlugin);
