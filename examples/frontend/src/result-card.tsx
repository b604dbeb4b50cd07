// One finished fold: structure, scores, errors between its parts, and what the Atlas knows of its
// chains.
import { useQuery } from 'urql';
import { Download } from './files.tsx';
import { graphql } from './graphql.ts';
import { PaeFields, PaePlot } from './pae-plot.tsx';
import { BandsFields } from './plddt.tsx';
import { Failures, Loading } from './problems.tsx';
import { StructureViewer } from './structure-viewer.tsx';

const FoldResult = graphql(
  `
    query FoldResult($taskId: ID!) {
      task(taskId: $taskId) {
        name
        status
        result {
          model
          ptm
          iptm
          plddt { mean ...BandsFields }
          structure(format: MMCIF) { text url atomCount }
          resultUrl
          chains { id kind meanPlddt protein { hash name } }
          chainPairs { a b iptm ipsae meanPae }
          warnings
          ...PaeFields
        }
      }
    }
  `,
  [BandsFields, PaeFields],
);

const KIND_NAMES = { PROTEIN: 'protein', RNA: 'RNA', DNA: 'DNA', LIGAND: 'ligand' };

export function ResultCard({ taskId }: { taskId: string }) {
  const [{ data, error, fetching }] = useQuery({ query: FoldResult, variables: { taskId } });
  if (fetching) return <Loading what="Reading the result" />;
  const result = data?.task?.result;
  return (
    <>
      <Failures error={error} />
      {!result && data && (
        <p className="note">
          There is no result to show: {data.task?.status.toLowerCase() ?? 'no such task'}.
        </p>
      )}
      {result && (
        <div className="columns">
          <section className="card" aria-labelledby="structure">
            <h2 id="structure">Structure</h2>
            {result.structure && (
              <StructureViewer
                text={result.structure.text}
                plddt={result.plddt}
                label="The folded structure"
                chains={result.chains}
              />
            )}
            <p className="files">
              {result.structure && (
                <Download url={result.structure.url} name={`${taskId}.cif`} what="Structure, mmCIF" />
              )}
              <Download url={result.resultUrl} name={`${taskId}.json`} what="Everything, JSON" />
            </p>
            {result.warnings.map((warning) => (
              <p key={warning} className="note">
                {warning}
              </p>
            ))}
            {result.model && <p className="note">Folded by {result.model}.</p>}
          </section>
          <section className="card" aria-labelledby="scores">
            <h2 id="scores">Scores</h2>
            <dl className="tiles">
              <div>
                <dt>ipTM</dt>
                <dd>{result.iptm?.toFixed(2) ?? '–'}</dd>
              </div>
              <div>
                <dt>pTM</dt>
                <dd>{result.ptm?.toFixed(2) ?? '–'}</dd>
              </div>
              <div>
                <dt>mean pLDDT</dt>
                <dd>{result.plddt?.mean?.toFixed(1) ?? '–'}</dd>
              </div>
            </dl>
            <PaePlot result={result} />
            <h3>Chains and pairs of them</h3>
            <ul className="chips">
              {result.chains.map(({ id, kind, meanPlddt, protein }) => (
                <li key={id}>
                  <b>{id}</b> {KIND_NAMES[kind]}, pLDDT {meanPlddt?.toFixed(0) ?? '–'}{' '}
                  {protein && <a href={`#/protein/${protein.hash}`}>{protein.name ?? 'in the Atlas'}</a>}
                </li>
              ))}
              {result.chainPairs
                .filter(({ a, b }) => a !== b)
                .map(({ a, b, iptm, ipsae, meanPae }) => (
                  <li key={`${a}-${b}`}>
                    {a}→{b} ipTM {iptm?.toFixed(2) ?? '–'}
                    {ipsae !== null && `, ipSAE ${ipsae.toFixed(2)}`}
                    {meanPae !== null && `, ${meanPae.toFixed(1)} Å`}
                  </li>
                ))}
            </ul>
          </section>
        </div>
      )}
    </>
  );
}
