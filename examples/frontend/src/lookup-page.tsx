// A list of identifiers as a table: one row for each, in the same order, and where there is no
// protein the reason in its place.
import { type FormEvent, useEffect, useState } from 'react';
import { type CombinedError, useClient } from 'urql';
import { SaveTable } from './files.tsx';
import { graphql, type ResultOf } from './graphql.ts';
import { Failures, Loading, withoutPlace } from './problems.tsx';
import { identifiersIn } from './search.ts';

const LookUp = graphql(`
  query LookUp($ids: [String!]!) {
    lookup(ids: $ids) {
      requested
      status
      problem { __typename message hint }
      protein {
        hash
        accession
        source
        name
        organism
        gene
        length
        ptm
        plddt { mean }
        cluster { representativeHash name size percentCharacterized }
      }
    }
  }
`);

type Row = NonNullable<ResultOf<typeof LookUp>['lookup']>[number];

const COLUMNS: readonly (readonly [name: string, of: (row: Row) => string | number | null | undefined])[] = [
  ['requested', ({ requested }) => requested],
  ['status', ({ status }) => status],
  ['hash', ({ protein }) => protein?.hash],
  ['accession', ({ protein }) => protein?.accession],
  ['source', ({ protein }) => protein?.source],
  ['name', ({ protein }) => protein?.name],
  ['organism', ({ protein }) => protein?.organism],
  ['gene', ({ protein }) => protein?.gene],
  ['length', ({ protein }) => protein?.length],
  ['ptm', ({ protein }) => protein?.ptm],
  ['mean_plddt', ({ protein }) => protein?.plddt?.mean],
  ['cluster_representative', ({ protein }) => protein?.cluster?.representativeHash],
  ['cluster_name', ({ protein }) => protein?.cluster?.name],
  ['cluster_size', ({ protein }) => protein?.cluster?.size],
  ['cluster_percent_characterized', ({ protein }) => protein?.cluster?.percentCharacterized],
  ['problem', ({ problem }) => problem?.message],
];

function Found({ rows }: { rows: readonly Row[] }) {
  const found = rows.filter(({ protein }) => protein !== null).length;
  return (
    <section className="card" aria-labelledby="found">
      <h2 id="found">
        {found} of {rows.length} found
      </h2>
      <p className="files">
        <SaveTable name="proteins.tsv" columns={COLUMNS} rows={rows} />
      </p>
      <div className="scroll">
        <table>
          <thead>
            <tr>
              <th>Identifier</th>
              <th>Protein</th>
              <th>Organism</th>
              <th>Gene</th>
              <th>Residues</th>
              <th>pLDDT</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the same identifier may stand in the list twice
              <tr key={i}>
                <th scope="row">{row.requested}</th>
                {row.protein === null ? (
                  <td colSpan={5} className="gap">
                    {withoutPlace(row.problem?.message ?? 'The service did not answer for it.')}{' '}
                    {row.problem?.hint}
                  </td>
                ) : (
                  <>
                    <td>
                      <a href={`#/protein/${row.protein.hash}`}>
                        {row.protein.name ?? row.protein.accession ?? row.protein.hash}
                      </a>
                    </td>
                    <td>{row.protein.organism ?? '–'}</td>
                    <td>{row.protein.gene ?? '–'}</td>
                    <td>{row.protein.length}</td>
                    <td>{row.protein.plddt?.mean?.toFixed(1) ?? '–'}</td>
                  </>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/**
 * Identifiers of one query: thousands of accessions, a call each, take longer than one request may.
 */
const AT_ONCE = 200;

interface Progress {
  readonly rows: readonly Row[];
  readonly failures: readonly CombinedError[];
  /** Identifiers that are not looked up yet. */
  readonly left: number;
}
const NOTHING: Progress = { rows: [], failures: [], left: 0 };

/** Looks a list up part by part. A part that is refused as a whole ends it. */
function useRows(list: string): Progress {
  const client = useClient();
  const [progress, setProgress] = useState(NOTHING);
  useEffect(() => {
    let isLeft = false;
    const lookUp = async () => {
      const ids = identifiersIn(list);
      let now: Progress = { ...NOTHING, left: ids.length };
      setProgress(now);
      while (now.left > 0) {
        const part = ids.slice(now.rows.length, now.rows.length + AT_ONCE);
        const { data, error } = await client.query(LookUp, { ids: part });
        if (isLeft) return;
        now = {
          rows: [...now.rows, ...(data?.lookup ?? [])],
          failures: error === undefined ? now.failures : [...now.failures, error],
          left: data == null ? 0 : now.left - part.length,
        };
        setProgress(now);
      }
    };
    void lookUp();
    return () => {
      isLeft = true;
    };
  }, [client, list]);
  return progress;
}

export function LookupPage({ list }: { list: string }) {
  const { rows, failures, left } = useRows(list);
  const look = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = new FormData(event.currentTarget).get('list');
    if (typeof text === 'string') location.hash = `#/table/${encodeURIComponent(text)}`;
  };
  return (
    <>
      <h1>Look up a list</h1>
      <form className="card" onSubmit={look}>
        <label className="field">
          <span>Accessions, entry names, protein hashes and addresses of UniProt, mixed, one a line</span>
          <textarea name="list" rows={6} defaultValue={list} spellCheck={false} />
        </label>
        <p className="send">
          <button type="submit" className="primary">
            Look up
          </button>
        </p>
      </form>
      {left > 0 && <Loading what={`Looking up ${left} identifiers`} />}
      {failures.map((error, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: failures are only added, and may be the same
        <Failures key={i} error={error} />
      ))}
      {rows.length > 0 && <Found rows={rows} />}
    </>
  );
}
