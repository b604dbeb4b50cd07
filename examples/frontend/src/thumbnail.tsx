// A picture of a protein, served by the gateway; an empty frame where the Atlas has no structure to
// draw.
import { useState } from 'react';

/** @param url - null where it is known that there is none */
export function Thumbnail({ url, size }: { url: string | null; size: number }) {
  const [absent, setAbsent] = useState(false);
  const frame = { width: size, height: size };
  if (absent || url === null) return <span className="thumbnail" style={frame} title="no structure" />;
  return (
    <img className="thumbnail" src={url} alt="" {...frame} loading="lazy" onError={() => setAbsent(true)} />
  );
}

/** A share from 0 to 1 as a bar; the number stands beside it for those who cannot see it. */
export const Bar = ({ share }: { share: number }) => (
  <span className="share" aria-hidden="true">
    <span style={{ width: `${share * 100}%` }} />
  </span>
);
