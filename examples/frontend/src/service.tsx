// The service behind the gateway as the page knows it: whether it is a sandbox, and which models
// fold.
import { useQuery } from 'urql';
import { graphql } from './graphql.ts';

const ServiceFacts = graphql(`
  query Service {
    service { isSandbox }
    models { name default }
  }
`);

/** Asked once for all pages; undefined until the answer has come. */
export const useService = () => useQuery({ query: ServiceFacts })[0].data;

/**
 * Stands on every page: what a sandbox shows must not be taken for a prediction, nor for all there
 * is.
 */
export function SandboxBanner() {
  if (useService()?.service?.isSandbox !== true) return null;
  return (
    <p className="sandbox" role="note">
      <strong>Sandbox.</strong> Structures and scores are geometry, not predictions. It knows few proteins of
      UniProt and invents the others.
    </p>
  );
}
