// Pothos plugin: the field options `cost`, `public` and `semanticNonNull`. A field without `public`
// is private: an answer that selects it is never cached or shared between callers.
import SchemaBuilder, {
  BasePlugin,
  type FieldNullability,
  type InputFieldMap,
  type InputShapeFromFields,
  type PothosOutputFieldConfig,
  type SchemaTypes,
  type TypeParam,
} from '@pothos/core';
import type { GraphQLField } from 'graphql';
import { COST, type CostRule } from './query-cost.ts';

/** Public values hold until the next release of the service, or for CACHE_RECORDS_SECONDS. */
type Lifetime = 'release' | 'record';

interface PublicField {
  readonly lifetime: Lifetime;
  /** Arguments that make the service start work when set: such an answer is private. */
  readonly privateWith: readonly string[];
}

declare global {
  export namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      fieldOptions: FieldOptionsPlugin<Types>;
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
      /** Upstream calls in the worst case; 0 when absent. */
      cost?: CostRule<InputShapeFromFields<Args>>;
      /** Every caller gets the same value, valid for this long. Private when absent. */
      public?: Lifetime;
      /** Null only with an error; the SDL says so by @semanticNonNull. */
      semanticNonNull?: boolean;
      /** Arguments of a public field that make the answer private when they are set. */
      privateWith?: readonly (keyof Args & string)[];
    }
  }
}

export const nonNull = (description: string) => ({ nullable: false, description }) as const;

export const publicNullable = (lifetime: Lifetime, description: string) =>
  ({ public: lifetime, description }) as const;

export const publicNonNull = (lifetime: Lifetime, description: string) =>
  ({ public: lifetime, nullable: false, description }) as const;

const PUBLIC = 'public';
const SEMANTIC_NON_NULL = 'semanticNonNull';

/** The declaration of a field; undefined for a private one. */
export const publicField = ({ extensions }: GraphQLField<unknown, unknown>) =>
  extensions[PUBLIC] as PublicField | undefined;

/** Whether a nullable field is null only with an error. */
export const isSemanticNonNull = ({ extensions }: GraphQLField<unknown, unknown>): boolean =>
  extensions[SEMANTIC_NON_NULL] === true;

class FieldOptionsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(config: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const { cost, public: lifetime, privateWith = [], semanticNonNull } = config.pothosOptions;
    const declared: PublicField | undefined = lifetime && { lifetime, privateWith };
    const options = { [COST]: cost, [PUBLIC]: declared, [SEMANTIC_NON_NULL]: semanticNonNull };
    return { ...config, extensions: { ...config.extensions, ...options } };
  }
}

export const fieldOptionsPlugin = 'fieldOptions';
SchemaBuilder.registerPlugin(fieldOptionsPlugin, FieldOptionsPlugin);
