// Pothos plugin: the option `public` of fields. A field without it is private: no answer that selects it is stored or
// shared between callers.
import SchemaBuilder, {
  BasePlugin,
  type FieldNullability,
  type InputFieldMap,
  type PothosOutputFieldConfig,
  type SchemaTypes,
  type TypeParam,
} from '@pothos/core';
import type { GraphQLField } from 'graphql';

/** How long a public value stays true: until the next release of the service, or as long as the gateway caches its records. */
type Lifetime = 'release' | 'record';

/** What a field declares about the answers that it is part of. */
interface PublicField {
  readonly lifetime: Lifetime;
  /** Arguments that, when set, make the service do something: such an answer is the caller's own. */
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
      /** Declares that every caller is given the same value, and for how long. Private when absent. */
      public?: Lifetime;
      /** Arguments of a public field that make the answer private when they are set. */
      privateWith?: readonly (keyof Args & string)[];
    }
  }
}

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

/** What a field of the schema declares; undefined for a private one. */
export function publicField({ extensions }: GraphQLField<unknown, unknown>): PublicField | undefined {
  const declared: unknown = extensions[PUBLIC];
  return isPublicField(declared) ? declared : undefined;
}

/** The name to give the builder. */
export const publicFieldsPlugin = 'publicFields';
SchemaBuilder.registerPlugin(publicFieldsPlugin, PublicFieldsPlugin);
