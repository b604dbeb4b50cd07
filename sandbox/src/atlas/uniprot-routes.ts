// GET /uniprot/{uniprot_id} (spec: Atlas API).
import type { Hono } from 'hono';
import type { AtlasContext } from './context.ts';
import { refusal } from './refusals.ts';

const ACCESSION = /^([OPQ][0-9][A-Z0-9]{3}[0-9]|[A-NR-Z][0-9]([A-Z][A-Z0-9]{2}[0-9]){1,2})(-[0-9]+)?$/;
const ENTRY_NAME = /^[A-Z0-9]{1,10}_[A-Z0-9]{1,5}$/;
/** RefSeq accessions are the only other namespace that can look like an entry name. */
const REFSEQ = /^[ANXWY][CGMPRTW]_[0-9]+$/;

export function addUniprotRoutes(app: Hono, { universe, wire }: AtlasContext): void {
  app.get(`${wire.atlasPrefix}/uniprot/:uniprot_id`, (c) => {
    const given = c.req.param('uniprot_id');
    const id = given.toUpperCase();
    if (REFSEQ.test(id) || !(ACCESSION.test(id) || ENTRY_NAME.test(id)))
      return refusal(
        400,
        `${given.slice(0, 80)} is no UniProtKB accession or entry name; other namespaces are not resolved`,
      );
    const entry = universe.uniprot(id);
    if (entry === undefined) return refusal(404, `UniProt entry ${given} not found`);
    return c.json({
      accession: entry.accession,
      entry_name: entry.entryName,
      protein_name: entry.name,
      gene: entry.gene,
      organism: entry.organism,
      function: entry.function,
      sequence: entry.sequence,
      sequence_length: entry.sequence.length,
      protein_hash: entry.hash,
    });
  });
}
