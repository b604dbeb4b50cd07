// The frame around every page, and which page the address asks for. What is searched stands behind
// the #, which no browser sends.
import { type FormEvent, useEffect, useSyncExternalStore } from 'react';
import { BatchPage } from './batch-page.tsx';
import { BatchesPage } from './batches-page.tsx';
import { FeaturesPage } from './features-page.tsx';
import { FoldPage } from './fold-page.tsx';
import { HomePage } from './home-page.tsx';
import { LookupPage } from './lookup-page.tsx';
import { ProteinPage } from './protein-page.tsx';
import { findPlace } from './search.ts';
import { SequencePage } from './sequence-page.tsx';
import { SandboxBanner } from './service.tsx';

const onHashChange = (changed: () => void) => {
  addEventListener('hashchange', changed);
  return () => removeEventListener('hashchange', changed);
};

/** A part of the address as text; unchanged where a `%` in it encodes nothing. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function Page({ place, argument }: { place: string | undefined; argument: string }) {
  if (place === 'protein') return <ProteinPage key={argument} id={argument} />;
  if (place === 'sequence') return <SequencePage key={argument} sequence={argument} />;
  if (place === 'features') return <FeaturesPage key={argument} words={argument} />;
  if (place === 'fold') return <FoldPage key={argument} sequence={argument} />;
  if (place === 'table') return <LookupPage key={argument} list={argument} />;
  if (place === 'batches') return <BatchesPage />;
  if (place === 'batch') return <BatchPage key={argument} batchId={argument} />;
  return <HomePage />;
}

const LINKS = { table: 'Table', fold: 'Fold', batches: 'My batches' };
const TITLES = { ...LINKS, batch: 'A batch of folds' };

/** Pages whose argument is something to search for. */
const SEARCHES = ['protein', 'sequence', 'features'];

function search(event: FormEvent<HTMLFormElement>) {
  event.preventDefault();
  const text = new FormData(event.currentTarget).get('search');
  if (typeof text === 'string' && text.trim() !== '') location.hash = findPlace(text);
}

export function App() {
  const hash = useSyncExternalStore(onHashChange, () => location.hash);
  const [, place, argument = ''] = hash.split('/').map(decoded);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page starts at its top
  useEffect(() => {
    scrollTo(0, 0);
    document.title = `${(SEARCHES.includes(place ?? '') && argument.slice(0, 40)) || Object.entries(TITLES).find(([to]) => to === place)?.[1] || 'Start'} – Protein browser`;
  }, [hash]);
  return (
    <>
      <SandboxBanner />
      <header className="bar">
        <a className="brand" href="#/">
          Protein browser
        </a>
        <search>
          <form onSubmit={search}>
            {/* Not an input: a pasted FASTA must keep its lines. */}
            <textarea
              name="search"
              key={hash}
              rows={1}
              aria-label="Accessions, entry names, hashes, a sequence, or words about a feature"
              placeholder="P01308, INS_HUMAN, a hash, a sequence, or words such as helix"
              defaultValue={SEARCHES.includes(place ?? '') ? argument : ''}
              spellCheck={false}
              onKeyDown={(event) => {
                if (event.key !== 'Enter') return;
                event.preventDefault();
                event.currentTarget.form?.requestSubmit();
              }}
            />
            <button type="submit">Search</button>
          </form>
        </search>
        <nav>
          {Object.entries(LINKS).map(([to, name]) => (
            <a key={to} href={`#/${to}`} aria-current={place === to ? 'page' : undefined}>
              {name}
            </a>
          ))}
        </nav>
      </header>
      <main>
        <Page place={place} argument={argument} />
      </main>
    </>
  );
}
