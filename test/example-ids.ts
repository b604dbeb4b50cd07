// The ids that examples ask for: the ones before them have answered these.
import { Kind, parse } from 'graphql';

export interface ExampleIds {
  /** Keeps every id of a batch, a task or a look-up in an answer; the latest of a name wins. */
  remember(answer: unknown): void;
  /**
   * The variables without which a document does not run. @throws when an id has not been answered
   */
  variablesFor(query: string): Record<string, string>;
}

export function createExampleIds(): ExampleIds {
  const ids: Record<string, string> = {};
  function remember(answer: unknown): void {
    if (typeof answer !== 'object' || answer === null) return;
    for (const [key, child] of Object.entries(answer)) {
      if (/^(batchId|taskId|lookupId)$/.test(key) && typeof child === 'string') ids[key] = child;
      else remember(child);
    }
  }
  return {
    remember,
    variablesFor(query) {
      const required = parse(query)
        .definitions.flatMap((definition) =>
          definition.kind === Kind.OPERATION_DEFINITION ? (definition.variableDefinitions ?? []) : [],
        )
        .filter(({ type, defaultValue }) => type.kind === Kind.NON_NULL_TYPE && defaultValue === undefined)
        .map(({ variable }) => variable.name.value);
      return Object.fromEntries(
        required.map((name) => {
          const id = ids[name];
          if (id === undefined) throw new Error(`No example before this one has answered $${name}.`);
          return [name, id];
        }),
      );
    },
  };
}
