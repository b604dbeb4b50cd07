// A pasted sequence: the protein of that very sequence where the Atlas holds it, and what resembles
// it in any case.
import { useQuery } from 'urql';
import { graphql } from './graphql.ts';
import { Failures, Loading } from './problems.tsx';
import { SimilarCard, SimilarFields } from './similar-card.tsx';

const BySequence = graphql(
  `
    query BySequence($sequence: AminoAcidSequence!) {
      proteinBySequence(sequence: $sequence) { hash name }
      similarProteins(sequence: $sequence, first: 12) { warnings ...SimilarFields }
    }
  `,
  [SimilarFields],
);

export function SequencePage({ sequence }: { sequence: string }) {
  const [{ data, error, fetching }] = useQuery({ query: BySequence, variables: { sequence } });
  return (
    <>
      <h1>A sequence of {sequence.length} residues</h1>
      <p className="sequence">{sequence}</p>
      {fetching && <Loading what="Searching the Atlas" />}
      <Failures error={error} />
      <p>
        {data?.proteinBySequence && (
          <>
            The Atlas holds it:{' '}
            <a href={`#/protein/${data.proteinBySequence.hash}`}>
              {data.proteinBySequence.name ?? 'open it'}
            </a>
            .{' '}
          </>
        )}
        {data?.proteinBySequence === null && 'The Atlas does not hold it. '}
        <a href={`#/fold/${sequence}`}>Fold it</a>
      </p>
      {data?.similarProteins?.warnings.map((warning) => (
        <p key={warning} className="note">
          {warning}
        </p>
      ))}
      {data && (
        <section className="card" aria-labelledby="similar">
          <h2 id="similar">Similar proteins</h2>
          {data.similarProteins && <SimilarCard search={data.similarProteins} />}
        </section>
      )}
    </>
  );
}
