// A structure in three dimensions, coloured by the confidence in its B-factor column (pLDDT, 0 to
// 100) or by chain. 3Dmol.js is loaded with the first structure that is shown, so pages without one
// never pay for it.
import type { AtomSpec, GLViewer } from '3dmol';
import { useEffect, useRef, useState } from 'react';
import type { FragmentOf } from './graphql.ts';
import { type BandsFields, PlddtLegend, plddtColour } from './plddt.tsx';

/**
 * Distinct also for eyes that confuse red and green (Okabe and Ito), dark enough and light enough
 * for either background.
 */
const CHAIN_COLOURS = [
  '#0072b2',
  '#e69f00',
  '#009e73',
  '#cc79a7',
  '#56b4e9',
  '#d55e00',
  '#8a8a00',
  '#7f7f7f',
];

export interface StructureViewerProps {
  /** An mmCIF file. */
  text: string;
  /** The text alternative of the picture. */
  label: string;
  /** Its confidence, for the legend. */
  plddt: FragmentOf<typeof BandsFields> | null;
  /** Its chains, where it can be coloured by them. */
  chains?: readonly { id: string }[];
  /** A residue to point out, counted from 0. */
  residue?: number | undefined;
}

/**
 * Share of the picture that the structure may take, so that ribbons around the outermost atoms fit,
 * too.
 */
const FILLED = 0.88;

/** Moves the whole structure into the middle and as near as it fits. */
function fit(viewer: GLViewer, place: HTMLElement): void {
  viewer.zoomTo();
  viewer.render();
  const points: { x: number; y: number }[] = viewer.modelToScreen(viewer.selectedAtoms({}));
  const [minX, maxX, minY, maxY] = points.reduce(
    ([left, right, top, bottom], { x, y }) => [
      Math.min(left, x),
      Math.max(right, x),
      Math.min(top, y),
      Math.max(bottom, y),
    ],
    [Number.POSITIVE_INFINITY, 0, Number.POSITIVE_INFINITY, 0],
  );
  const { left, top, width, height } = place.getBoundingClientRect();
  const share = Math.max((maxX - minX) / width, (maxY - minY) / height);
  if (!(share > 0)) return;
  const middle = { x: left + scrollX + width / 2, y: top + scrollY + height / 2 };
  viewer.translateScene(middle.x - (minX + maxX) / 2, middle.y - (minY + maxY) / 2);
  viewer.zoom(FILLED / share);
}

export function StructureViewer({ text, label, plddt, chains = [], residue }: StructureViewerProps) {
  const place = useRef<HTMLDivElement>(null);
  const [viewer, setViewer] = useState<GLViewer>();
  const [failed, setFailed] = useState(false);
  const [byChain, setByChain] = useState(false);

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
    if (viewer === undefined || place.current === null) return;
    viewer.removeAllModels();
    viewer.addModel(text, 'cif');
    fit(viewer, place.current);
  }, [viewer, text]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new structure needs its colours, too
  useEffect(() => {
    if (viewer === undefined) return;
    const ids = chains.map(({ id }) => id);
    const colorfunc = ({ b, chain }: AtomSpec) =>
      byChain ? CHAIN_COLOURS[ids.indexOf(chain ?? '') % CHAIN_COLOURS.length] : plddtColour(b ?? 0);
    viewer.setStyle({}, { cartoon: { colorfunc, arrows: true, thickness: 0.5 } });
    const ligand = byChain ? { colorfunc } : {};
    viewer.setStyle(
      { hetflag: true },
      { stick: { radius: 0.2, ...ligand }, sphere: { scale: 0.4, ...ligand } },
    );
    viewer.render();
  }, [viewer, text, byChain, chains]);

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
      <div
        ref={place}
        role="img"
        aria-label={`${label}, coloured by ${byChain ? 'chain' : 'confidence'}`}
        data-ready={viewer !== undefined}
      />
      {failed && <p>This browser cannot draw the structure (no WebGL).</p>}
      {chains.length > 1 && (
        <label className="choice">
          Colour by{' '}
          <select value={byChain ? 'chain' : 'confidence'} onChange={() => setByChain(!byChain)}>
            <option value="confidence">confidence (pLDDT)</option>
            <option value="chain">chain</option>
          </select>
        </label>
      )}
      {byChain ? (
        <ul className="legend" aria-label="Chains">
          {chains.map(({ id }, i) => (
            <li key={id}>
              <span className="swatch" style={{ background: CHAIN_COLOURS[i % CHAIN_COLOURS.length] }} />
              chain {id}
            </li>
          ))}
        </ul>
      ) : (
        plddt && <PlddtLegend plddt={plddt} />
      )}
    </div>
  );
}
