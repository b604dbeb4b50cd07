// The loaders of one request, over the caches of the process. Each is created when a field first
// asks for it: most requests use one or two.
import type { Upstream } from '../http/call.ts';
import { createProteinLoader, type ProteinLoader } from '../proteins/loader.ts';
import {
  createFeatureLoader,
  createUniprotLoader,
  type FeatureLoader,
  type UniprotLoader,
} from './cached-reads.ts';
import type { AtlasCaches } from './caches.ts';
import { type ClusterLoader, createClusterLoader } from './cluster-loader.ts';
import { createSimilarityLoader, type SimilarityLoader } from './similarity-loader.ts';

export interface Loaders {
  readonly proteins: ProteinLoader;
  readonly clusters: ClusterLoader;
  readonly searches: SimilarityLoader;
  readonly features: FeatureLoader;
  readonly uniprot: UniprotLoader;
}

/** A class, because an object literal with getters is ten times as slow to create. */
export class RequestLoaders implements Loaders {
  readonly #up: Upstream;
  readonly #caches: AtlasCaches;
  #proteins: ProteinLoader | undefined;
  #clusters: ClusterLoader | undefined;
  #searches: SimilarityLoader | undefined;
  #features: FeatureLoader | undefined;
  #uniprot: UniprotLoader | undefined;

  constructor(up: Upstream, caches: AtlasCaches) {
    this.#up = up;
    this.#caches = caches;
  }
  get proteins() {
    this.#proteins ??= createProteinLoader(this.#up, this.#caches.proteins, (hash) =>
      this.clusters.load(hash),
    );
    return this.#proteins;
  }
  get clusters() {
    this.#clusters ??= createClusterLoader(this.#up, this.#caches.clusters);
    return this.#clusters;
  }
  get searches() {
    this.#searches ??= createSimilarityLoader(this.#up, this.#caches.searches, this.proteins);
    return this.#searches;
  }
  get features() {
    this.#features ??= createFeatureLoader(this.#up, this.#caches.features);
    return this.#features;
  }
  get uniprot() {
    this.#uniprot ??= createUniprotLoader(this.#up, this.#caches.uniprot);
    return this.#uniprot;
  }
}
