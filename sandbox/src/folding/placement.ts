/**
 * Brings chains together as rigid bodies: each comes in from several sides until it touches what is
 * there, without overlap. Knows atoms and chains, no scores.
 */
import { spatialGrid } from '../structure/spatial-grid.ts';
import { add, dot, scale, sub, unit, type Vec } from '../structure/vector.ts';
import { type ChainModel, computeCentre, listAtoms, moved, movedChain, randomRotation } from './model.ts';

/** No two atoms of different chains come nearer than this, in ångström (covalent bonds aside). */
const CLEARANCE = 3.2;
const SIDES = 8;

export interface Scene {
  chains: ChainModel[];
  touches(p: Vec): boolean;
  put(chain: ChainModel): void;
}

export function emptyScene(): Scene {
  const grid = spatialGrid(CLEARANCE);
  const chains: ChainModel[] = [];
  return {
    chains,
    touches(p) {
      return grid.near(p[0], p[1], p[2]) > 0;
    },
    put(chain) {
      chains.push(chain);
      for (const atom of listAtoms(chain)) grid.add(...atom.at, chains.length);
    },
  };
}

/** A direction, uniformly random. */
function randomDirection(random: () => number): Vec {
  const z = 2 * random() - 1;
  const angle = 2 * Math.PI * random();
  const r = Math.sqrt(1 - z * z);
  return [r * Math.cos(angle), r * Math.sin(angle), z];
}

/** How far the atoms reach along a direction. */
const reach = (points: readonly Vec[], direction: Vec): number =>
  points.reduce((far, p) => Math.max(far, dot(p, direction)), Number.NEGATIVE_INFINITY);

/**
 * Puts a chain into the scene: turned at random, brought in along a line towards `target` until the
 * next step would touch, from several sides; the side on which it ends nearest to the target is
 * taken.
 */
export function dock(scene: Scene, chain: ChainModel, random: () => number, target?: Vec): ChainModel {
  const own = listAtoms(chain);
  const pivot = computeCentre(own);
  const there = scene.chains.flatMap(listAtoms);
  if (there.length === 0) {
    scene.put(chain);
    return chain;
  }
  const goal = target ?? computeCentre(there);
  const fixed = there.map((atom) => atom.at);
  let best: ChainModel | undefined;
  let nearest = Number.POSITIVE_INFINITY;
  for (let side = 0; side < SIDES; side++) {
    const rows = randomRotation(random);
    const outward = target
      ? unit(add(unit(sub(target, computeCentre(there))), scale(randomDirection(random), 0.5)))
      : randomDirection(random);
    const turned = own.map((atom) => moved({ rows, pivot, to: [0, 0, 0] }, atom.at));
    const far = reach(fixed, outward) - dot(goal, outward) + reach(turned, scale(outward, -1)) + CLEARANCE;
    const free = (d: number): boolean => {
      const to = add(goal, scale(outward, d));
      return turned.every((p) => !scene.touches(add(p, to)));
    };
    let d = far;
    while (d > 0 && free(d - 2)) d -= 2;
    for (let step = 1; step > 0.1; step /= 2) if (free(d - step)) d -= step;
    if (d < nearest)
      [nearest, best] = [d, movedChain(chain, { rows, pivot, to: add(goal, scale(outward, d)) })];
  }
  const placed = best ?? chain;
  scene.put(placed);
  return placed;
}
