// Pothos plugin: the field options `cost` and `public`. It rejects operations whose cost or depth
// exceeds the limits before any field is resolved. A field without `public` is private: an answer
// that selects it is never cached or shared between callers.
import SchemaBuilder, {
  BasePlugin,
  type FieldNullability,
  type InputFieldMap,
  type InputShapeFromFields,
  type PothosOutputFieldConfig,
  type SchemaTypes,
  type TypeParam,
} from '@pothos/core';
import { GraphQLError, type GraphQLField, type GraphQLFieldResolver, type GraphQLResolveInfo } from 'graphql';
import { COST, type CostRule, type QueryCost, queryCost } from '../execution/query-cost.ts';
import { createPrivateField } from '../private-field.ts';

/** Public values hold until the next release of the service, or for CACHE_RECORDS_SECONDS. */
type Lifetime = 'release' | 'record';

interface PublicField {
  readonly lifetime: Lifetime;
  /** Arguments that make the service start work when set: such an answer is private. */
  readonly privateWith: readonly string[];
}

export interface CostLimits {
  readonly calls: number;
  readonly depth: number;
}

declare global {
  export namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      fieldOptions: FieldOptionsPlugin<Types>;
    }
    interface SchemaBuilderOptions<Types extends SchemaTypes> {
      costLimits: (context: Types['Context']) => CostLimits;
      onCost?: (context: Types['Context'], cost: QueryCost) => void;
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

const tooExpensive = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'QUERY_TOO_EXPENSIVE', retryable: false } });

/** Whether a nullable field is null only with an error. */
export const isSemanticNonNull = ({ extensions }: GraphQLField<unknown, unknown>): boolean =>
  extensions[SEMANTIC_NON_NULL] === true;

function check({ calls, depth }: QueryCost, limits: CostLimits): void {
  if (depth > limits.depth)
    throw tooExpensive(
      `The query is ${depth} levels deep; ${limits.depth} are allowed. ` +
        'Ask for the inner part in a query of its own.',
    );
  if (calls > limits.calls)
    throw tooExpensive(
      `The query could cost ${calls} upstream calls; ${limits.calls} are allowed. ` +
        'Ask for shorter lists or fewer links at once.',
    );
}

class FieldOptionsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  /** By variables object: each execution has its own. */
  readonly #costs = createPrivateField<object, QueryCost>();

  override onOutputFieldConfig(config: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const { cost, public: lifetime, privateWith = [], semanticNonNull } = config.pothosOptions;
    const declared: PublicField | undefined = lifetime && { lifetime, privateWith };
    const options = { [COST]: cost, [PUBLIC]: declared, [SEMANTIC_NON_NULL]: semanticNonNull };
    return { ...config, extensions: { ...config.extensions, ...options } };
  }

  override wrapResolve(
    resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
    { kind }: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if (kind !== 'Query' && kind !== 'Mutation' && kind !== 'Subscription') return resolver;
    return (parent, args, context, info) => {
      this.#checkOnce(context, info);
      return resolver(parent, args, context, info);
    };
  }

  override wrapSubscribe(
    subscribe: GraphQLFieldResolver<unknown, Types['Context'], object> | undefined,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> | undefined {
    if (subscribe === undefined) return undefined;
    return (parent, args, context, info) => {
      this.#checkOnce(context, info);
      return subscribe(parent, args, context, info);
    };
  }

  #checkOnce(context: Types['Context'], info: GraphQLResolveInfo): void {
    const { costLimits, onCost } = this.builder.options;
    const known = this.#costs.get(info.variableValues);
    const cost = known ?? queryCost(info);
    if (known === undefined) {
      this.#costs.set(info.variableValues, cost);
      onCost?.(context, cost);
    }
    check(cost, costLimits(context));
  }
}

export const fieldOptionsPlugin = 'fieldOptions';
SchemaBuilder.registerPlugin(fieldOptionsPlugin, FieldOptionsPlugin);
