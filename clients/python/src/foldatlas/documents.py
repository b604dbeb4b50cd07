"""The GraphQL documents that the client sends."""

LOOKUP = """query Lookup($ids: [String!]!) { lookup(ids: $ids) { requested status problem { message } protein {
  hash accession source name organism gene length ptm plddt { mean }
  cluster { representativeHash name size percentCharacterized } } } }"""

PROTEINS = """query Proteins($hashes: [ProteinHash!]!) { proteins(hashes: $hashes) {
  hash accession source name organism gene length sequence ptm plddt { mean }
  cluster { representativeHash name size percentCharacterized } features { value feature { index label } } } }"""

SIMILAR = """query Similar($sequence: AminoAcidSequence!, $first: Int!, $minSimilarity: Float, $maxPercentCharacterized: Int) {
  similarProteins(sequence: $sequence, first: $first, minSimilarity: $minSimilarity,
    maxPercentCharacterized: $maxPercentCharacterized) {
    restrictedCount warnings hits { score
      protein { hash accession length ptm plddt { mean } }
      cluster { representativeHash name size percentCharacterized } } } }"""

FEATURES = """query Features($search: String, $indices: [Int!], $first: Int!, $after: String) {
  features(search: $search, indices: $indices, first: $first, after: $after) {
    nodes { index label description } pageInfo { hasNextPage endCursor } } }"""

CHECK = """query Check($input: SubmitFoldInput!) { checkFold(input: $input) { ok taskCount totalLength
  issues { path code message hint } warnings { path code message hint } } }"""

SUBMIT = """mutation Submit($input: SubmitFoldInput!) { submitFold(input: $input) { __typename
  ... on FoldSubmitted { replayed warnings { path code message hint } batch { batchId } }
  ... on Problem { message hint }
  ... on InvalidInput { issues { path code message hint } }
  ... on Refused { reason retryable retryAfterSeconds }
  ... on IdempotencyConflict { existingBatch { batchId } } } }"""

WATCH = """subscription Watch($batchId: ID!) { batchProgress(batchId: $batchId) { final estimatedSecondsLeft
  batch { counts { total queued inProgress done failed cancelled } }
  changedTasks { taskId name status error { message } } } }"""

COUNTS = """query Counts($batchId: ID!) { batch(batchId: $batchId) {
  counts { total queued inProgress done failed cancelled } } }"""

BATCHES = """query Batches($first: Int!, $after: String) { myBatches(first: $first, after: $after) {
  pageInfo { hasNextPage endCursor }
  nodes { batchId label submittedAt status counts { total queued inProgress done failed cancelled } } } }"""

TASKS = """query Tasks($batchId: ID!, $after: String) { batch(batchId: $batchId) { tasks(first: 1000, after: $after) {
  pageInfo { hasNextPage endCursor }
  nodes { taskId name inputIndex repeatIndex status error { message } } } } }"""

RANK = """query Rank($batchId: ID!, $orderBy: TaskOrder!, $minIptm: Float, $minIpsae: Float, $after: String) {
  batch(batchId: $batchId) { tasks(orderBy: $orderBy, minIptm: $minIptm, minIpsae: $minIpsae, first: 500, after: $after) {
    pageInfo { hasNextPage endCursor }
    nodes { taskId name repeatIndex status error { message } scores { iptm ptm meanPlddt
      chainPairs { a b ipsae ipsaeMax pDockQ pDockQ2 lis meanPae minPae } } } } } }"""

PLDDT = """query Plddt($taskId: ID!) { task(taskId: $taskId) { result { plddt { values } } } }"""

PAE = """query Pae($taskId: ID!, $rowStart: Int!, $rowEnd: Int, $maxPoints: Int!) { task(taskId: $taskId) { result { pae {
  size block(rowStart: $rowStart, rowEnd: $rowEnd, maxPoints: $maxPoints) { step values } } } } }"""
