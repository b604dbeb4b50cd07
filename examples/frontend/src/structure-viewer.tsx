// A structure in three dimensions, coloured by the confidence in its B-factor column (pLDDT, 0 to 100). 3Dmol.js is loaded with the
// first structure that is shown, so pages without one never pay for it.
import type { GLViewer } from '3dmol';
import { useEffect, useRef, useState } from 'react';
import { plddtColour } from './plddt.tsx';

const byConfidence = (atom: { b?: number | undefined }) => plddtColour(atom.b ?? 0);

export interface StructureViewerProps {
  /** An mmCIF file. */
  text: string;
  /** What it shows, for those who cannot see it. */
  label: string;
  /** A residue to point out, counted from 0. */
  residue?: number | undefined;
}

export function StructureViewer({ text, label, residue }: StructureViewerProps) {
  const place = useRef<HTMLDivElement>(null);
  const [viewer, setViewer] = useState<GLViewer>();
  const [failed, setFailed] = useState(false);

  useEffect(() => {
    let gone = false;
    let made: GLViewer | undefined;
    import('3dmol')
      .then(({ createViewer }) => {
        if (gone || place.current === null) return;
        made = createViewer(place.current, { backgroundAlpha: 0, antialias: true });
        setViewer(made);
      })
      .catch(() => setFailed(true));
    return () => {
      gone = true;
      setViewer(undefined);
      // Browsers keep few WebGL contexts alive: give this one back.
      made?.getCanvas().getContext('webgl2')?.getExtension('WEBGL_lose_context')?.loseContext();
      place.current?.replaceChildren();
    };
  }, []);

  useEffect(() => {
    if (viewer === undefined) return;
    viewer.removeAllModels();
    viewer.addModel(text, 'cif');
    viewer.setStyle({}, { cartoon: { colorfunc: byConfidence, arrows: true, thickness: 0.5 } });
    viewer.setStyle({ hetflag: true }, { stick: { radius: 0.2 }, sphere: { scale: 0.4 } });
    viewer.zoomTo();
    viewer.zoom(1.3);
    viewer.render();
  }, [viewer, text]);

  useEffect(() => {
    if (viewer === undefined) return;
    viewer.removeAllShapes();
    const [atom] = residue === undefined ? [] : viewer.selectedAtoms({ resi: residue + 1, atom: 'CA' });
    if (atom !== undefined)
      viewer.addSphere({
        center: { x: atom.x ?? 0, y: atom.y ?? 0, z: atom.z ?? 0 },
        radius: 1.8,
        color: '#e0218a',
        alpha: 0.85,
      });
    viewer.render();
  }, [viewer, residue]);

  return (
    <div className="viewer">
      <div ref={place} role="img" aria-label={label} data-ready={viewer !== undefined} />
      {failed && <p>This browser cannot draw the structure (no WebGL).</p>}
    </div>
  );
}
