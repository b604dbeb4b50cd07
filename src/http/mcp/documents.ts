// The GraphQL documents behind the tools. `npm run operations` lists them, so that the tools also
// work where a gateway runs listed operations only.
import { columnsNamed, lookupQuery } from '../../lookups/protein-columns.ts';

/** The columns of the table of `lookup_proteins`. */
export const LOOKUP_COLUMNS = columnsNamed([
  ...['requested', 'status', 'hash', 'accession', 'name', 'organism', 'length', 'ptm', 'mean_plddt'],
  ...['cluster_representative', 'cluster_percent_characterized', 'problem'],
]);

const CLUSTER = 'representativeHash name size percentCharacterized';

export const DOCUMENTS = {
  lookup: lookupQuery(LOOKUP_COLUMNS),
  protein: `query McpProtein($ids: [String!]!, $sequence: Boolean!) {
  lookup(ids: $ids) {
    requested
    status
    problem { message hint }
    protein {
      hash accession source name organism gene length ptm foldedOnDemand isClusterRepresentative
      sequence @include(if: $sequence)
      plddt { mean bands { band percent } }
      cluster { ${CLUSTER} }
      features(first: 10) { value feature { index label } }
      structure { url }
      thumbnail { url }
      uniprotEntry { accession entryName function }
    }
  }
}`,
  cluster: `query McpCluster($hash: ProteinHash!, $first: Int!, $after: String) {
  cluster(hash: $hash) {
    ${CLUSTER} percentDomainCoverage
    taxonomy { name rank }
    phyla(first: 5) { name count }
    pfamDomains(first: 10) { id name count }
    members(first: $first, after: $after) {
      totalCount
      nodes { hash accession name organism length ptm }
      pageInfo { hasNextPage endCursor }
    }
  }
}`,
  features: `query McpFeatures($search: String, $indices: [Int!], $first: Int!, $after: String) {
  features(search: $search, indices: $indices, first: $first, after: $after) {
    totalCount
    nodes { index label description }
    pageInfo { hasNextPage endCursor }
  }
}`,
  sequence: `query McpSequenceById($ids: [String!]!) {
  lookup(ids: $ids) { status problem { message hint } protein { sequence } }
}`,
  similar: `query McpSimilar($sequence: AminoAcidSequence!, $first: Int!, $minSimilarity: Float, $maxPercentCharacterized: Int) {
  similarProteins(
    sequence: $sequence, first: $first, minSimilarity: $minSimilarity
    maxPercentCharacterized: $maxPercentCharacterized
  ) {
    queryHash restrictedCount warnings
    hits {
      score
      protein { hash accession length ptm }
      cluster { ${CLUSTER} }
    }
    sharedFeatures(first: 5) { occurrences meanActivation feature { index label } }
  }
}`,
  check: `query McpCheck($input: SubmitFoldInput!) {
  checkFold(input: $input) {
    ok taskCount totalLength
    issues { path code message hint }
    warnings { path code message hint }
  }
}`,
  submit: `mutation McpSubmit($input: SubmitFoldInput!) {
  submitFold(input: $input) {
    ... on FoldSubmitted {
      message replayed
      batch { batchId queueDeadline resultsExpireAt }
      warnings { path code message hint }
    }
    ... on Problem { message hint }
    ... on InvalidInput { issues { path code message hint } }
    ... on Refused { retryAfterSeconds }
    ... on IdempotencyConflict { existingBatch { batchId } }
  }
}`,
  batch: `query McpBatch(
  $batchId: ID!, $orderBy: TaskOrder!, $statuses: [TaskStatus!], $first: Int!, $after: String, $scores: Boolean!
) {
  batch(batchId: $batchId) {
    batchId label status submittedAt queueDeadline resultsExpireAt warnings scoresUrl resultsUrl
    counts { total queued inProgress done failed cancelled percentSettled }
    tasks(orderBy: $orderBy, statuses: $statuses, first: $first, after: $after) {
      totalCount
      unscoredCount @include(if: $scores)
      nodes {
        taskId name index status
        error { message }
        scores @include(if: $scores) { ipsae iptm ptm meanPlddt }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
}`,
  result: `query McpResult($taskId: ID!, $signed: Boolean!) {
  task(taskId: $taskId) {
    taskId name status resultsExpireAt
    error { message }
    batch { batchId }
    result {
      model iptm ptm warnings
      plddt { mean bands { band percent } }
      chains { id kind meanPlddt proteinHash }
      chainPairs { a b ipsae ipsaeMax pDockQ pDockQ2 lis iptm meanPae minPae }
      resultUrl
      signedUrl @include(if: $signed)
      structure { url signedUrl @include(if: $signed) }
    }
  }
}`,
} as const;
