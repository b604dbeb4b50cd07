// The cluster that a protein belongs to: how large, of which organisms, with which domains, and who
// else is in it.
import { type FragmentOf, graphql, readFragment } from './graphql.ts';
import { Bar, Thumbnail } from './thumbnail.tsx';

export const ClusterFields = graphql(`
  fragment ClusterFields on Cluster {
    size
    name
    percentCharacterized
    taxonomy { name rank }
    phyla(first: 4) { name count }
    pfamDomains(first: 4) { id name count }
    members(first: 12) { nodes { hash accession organism thumbnail { url } } }
  }
`);

export function ClusterCard({ cluster }: { cluster: FragmentOf<typeof ClusterFields> }) {
  const { size, percentCharacterized, taxonomy, phyla, pfamDomains, members } = readFragment(
    ClusterFields,
    cluster,
  );
  const most = Math.max(...(phyla ?? []).map(({ count }) => count));
  return (
    <section className="card" aria-labelledby="cluster">
      <h2 id="cluster">Cluster of {size ?? 'unknown size'}</h2>
      <p>
        {taxonomy?.name && `Common ancestor: ${taxonomy.name}${taxonomy.rank ? ` (${taxonomy.rank})` : ''}. `}
        {percentCharacterized === 0
          ? 'A dark cluster: no member has a characterised domain.'
          : percentCharacterized !== null &&
            `${Math.round(percentCharacterized)} % of the members have a characterised domain.`}
      </p>
      <ul className="bars" aria-label="Phyla of the members">
        {phyla?.map(({ name, count }) => (
          <li key={name}>
            <span>{name}</span>
            <Bar share={count / most} /> {count}
          </li>
        ))}
      </ul>
      {pfamDomains != null && pfamDomains.length > 0 && (
        <ul className="chips" aria-label="Pfam domains of the members">
          {pfamDomains.map(({ id, name, count }) => (
            <li key={id} title={`${count} members`}>
              {id} {name}
            </li>
          ))}
        </ul>
      )}
      <ul className="faces" aria-label="Members">
        {members?.nodes.map(({ hash, accession, organism, thumbnail }) => (
          <li key={hash}>
            <a href={`#/protein/${hash}`}>
              <Thumbnail url={thumbnail.url} size={64} />
              {accession ?? hash.slice(0, 8)}
              <small>{organism}</small>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
